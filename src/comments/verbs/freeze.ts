import { newFreeze, readNewFreeze } from '../../api/v1/freeze-schemas.ts';
import { validate } from '../../api/validate.ts';
import { lookAhead } from '../../explanations/look-ahead.ts';
import { createFreeze, planFreeze } from '../../freezes/create-freeze.ts';
import type { Freeze } from '../../freezes/freeze.ts';
import { fullName } from '../../installations/find-repository.ts';
import { freezePath } from '../../page-paths.ts';
import { describeInstant } from '../../time/local-time.ts';
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
  const planned = planFreeze(deps, repository, readNewFreeze(validate(newFreeze, body, 'body')));
  const { unenforced, warnings: seen } = await lookAhead(deps, repository, planned.freeze);
  const warnings = [...planned.warnings, ...seen];
  const text = told(order, planned.freeze, warnings);
  const keep: Parameters<typeof createFreeze>[5] = (tx) => order.keep(tx, text);
  await createFreeze(deps, actorOf(order), repository, planned.freeze, { unenforced, warnings }, keep);
  return text;
};

function told({ deps, repository }: Order, made: Freeze, warnings: string[]): string {
  const page = deps.config.publicUrl + freezePath(repository, made.id);
  const until = describeInstant(made.endsAt!, made.timezone);
  return [
    // Whether GitHub then refuses to merge them, the warnings say.
    `**Frozen until ${until}.** The check ${asCode(deps.config.statusContext)} fails on pull requests of ${asCode(fullName(repository))} until then, unless they are exempt.`,
    `To end it earlier, write ${asCode('/holdfast unfreeze <reason>')}, or open [the freeze](${page}).`,
    ...warnings.map((warning) => `- ${sentence(warning)}`),
  ].join('\n\n');
}
