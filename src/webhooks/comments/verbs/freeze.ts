import { newFreeze, readNewFreeze } from '../../../api/v1/freeze-schemas.ts';
import { validate } from '../../../api/read-request.ts';
import { createFreeze, type SavedFreeze } from '../../../freezes/create-freeze.ts';
import { fullName } from '../../../installations/find-repository.ts';
import { freezePath } from '../../../installations/page-paths.ts';
import { describeInstant } from '../../../time/local-time.ts';
import { asCode, sentence } from '../answer-text.ts';
import { readFreezeWords } from '../freeze-words.ts';
import { actorOf, assertAdmin, type CarryOut, type Order } from '../order.ts';
import { zoneOfRepository } from '../zone-of-repository.ts';

/** Freezes the whole repository from now on. */
export const freeze: CarryOut = async (order) => {
  assertAdmin(order);
  const { deps, repository, words } = order;
  const zone = await zoneOfRepository(deps.db, repository.id);
  const { end, reason, ...read } = readFreezeWords(words, { now: deps.clock.now(), zone });
  const body = { reason, start: null, end: end.local, timezone: read.zone };
  const input = readNewFreeze(validate(newFreeze, body, 'body'));
  const saved = await createFreeze(deps, actorOf(order), repository, input, (tx, saving) =>
    order.keep(tx, told(order, saving)),
  );
  return told(order, saved);
};

function told({ deps, repository }: Order, { freeze: made, warnings }: SavedFreeze): string {
  const page = deps.config.publicUrl + freezePath(repository, made.id);
  const until = describeInstant(made.endsAt!, made.timezone);
  return [
    // Whether GitHub then refuses to merge them, the warnings say.
    `**Frozen until ${until}.** The check ${asCode(deps.config.statusContext)} fails on pull requests of ${asCode(fullName(repository))} until then, unless they are exempt.`,
    `To end it earlier, write ${asCode('/holdfast unfreeze <reason>')}, or open [the freeze](${page}).`,
    ...warnings.map((warning) => `- ${sentence(warning)}`),
  ].join('\n\n');
}
