import { validate } from '../../../api/read-request.ts';
import { givenReason } from '../../../api/v1/exemption-schemas.ts';
import { newFreeze, readNewFreeze } from '../../../api/v1/freeze-schemas.ts';
import type { Tx } from '../../../database/database.ts';
import { isConflict } from '../../../errors.ts';
import { createFreeze } from '../../../freezes/save-freeze.ts';
import type { SavedFreeze } from '../../../freezes/check-freeze.ts';
import { whatIsBlocked } from '../../../events/describe-fields.ts';
import { asPublic, holdsMerges } from '../../../freezes/freeze.ts';
import { knownAccount } from '../../../installations/find-account.ts';
import { fullName, assertWritable } from '../../../installations/find-repository.ts';
import { freezePath, ownerFormPath } from '../../../installations/page-paths.ts';
import { endOngoing, type Ongoing, ongoingIn } from '../../../plans/ongoing.ts';
import { actorName } from '../../../events/actor.ts';
import { describeInstant } from '../../../time/local-time.ts';
import { saveEnded, readTaken } from '../answer-store.ts';
import { asCode } from '../../../github/markdown.ts';
import { alsoBlocked, sentence } from '../answer-text.ts';
import { readFreezeWords } from '../freeze-words.ts';
import { assertRole, type RunCommand, type Order, zoneOfRepository } from '../order.ts';

/** Freezes the whole repository from now on. */
export const freeze: RunCommand = async (order) => {
  await assertRole(order, 'freezer');
  const { deps, repository, words } = order;
  const zone = await zoneOfRepository(deps.db, repository.id);
  const { end, reason, holding, ...read } = readFreezeWords(words, { now: deps.clock.now(), zone });
  const body = { reason, start: null, end: end.local, timezone: read.zone, ...holding };
  const input = readNewFreeze(validate(newFreeze, body, 'body'));
  await createFreeze(deps, order.actor, repository, input, (tx, saved) =>
    order.saveAnswer(tx, textOfFreeze(order, saved)),
  );
};

function textOfFreeze({ deps, repository }: Order, { freeze: made, warnings }: SavedFreeze): string {
  const page = deps.config.publicUrl + freezePath(repository, made.id);
  const until = describeInstant(made.endsAt!, made.timezone);
  const blocked = whatIsBlocked(made, (name) => asCode(name));
  return [
    // Whether GitHub then refuses to merge them, the warnings say.
    ...(holdsMerges(made)
      ? [
          `**Frozen until ${until}.** The check ${asCode(deps.config.statusContext)} fails on pull requests of ${asCode(fullName(repository))} until then, unless they are exempt.`,
        ]
      : [`**Deployments are frozen until ${until}.**`]),
    ...(blocked === null ? [] : [blocked]),
    `To end it earlier, write ${asCode('/holdfast unfreeze <reason>')}, or open [the freeze](${page}).`,
    ...warnings.map((warning) => `- ${sentence(warning)}`),
  ].join('\n\n');
}

/**
 * Ends the ongoing freezes of the repository that began when they were created, and plans for this repository alone. It
 * does not end plans of several repositories, plans that repeat, or freezes that somebody else scheduled. Each freeze
 * ends in its own transaction, which notes that, so that a second try continues where the first one stopped.
 */
export const unfreeze: RunCommand = async (order) => {
  await assertRole(order, 'freezer');
  const { deps, commentId, repository } = order;
  const reason = validate(givenReason, order.words, 'body');
  const account = (await knownAccount(deps, repository.account.login))!;
  const administered = new Set([repository.name.toLowerCase()]);
  assertWritable(repository);
  for (const each of await ongoingIn(deps, account, [repository], false)) {
    if (whyLeft(order, each) !== null) continue;
    const note = (tx: Tx) => saveEnded(tx, commentId, described(each));
    await endOngoing(deps, order.actor, { account, administered }, each, reason, note).catch(unlessChanged);
  }
  const { done } = await readTaken(deps.db, commentId);
  return textOfEnded(order, done, await ongoingIn(deps, account, [repository], false));
};

/** Ignores a conflict: the freeze that somebody changed at the same moment is still ongoing, and the answer says so. */
function unlessChanged(error: unknown): void {
  if (!isConflict(error)) throw error;
}

/** Why a comment does not end it; null if it does. */
function whyLeft({ actor }: Order, { plan, freezes }: Ongoing): string | null {
  const [{ planId, startsAt, createdAt, createdBy }] = freezes as [Ongoing['freezes'][number]];
  if (planId !== undefined && planId !== null && plan === null)
    return 'it belongs to a plan that repeats or has other repositories';
  const isOwn = createdBy.type === 'user' && createdBy.id === actor.id;
  return startsAt > createdAt && !isOwn ? `${asCode(actorName(createdBy))} scheduled it` : null;
}

/** Described for everybody who can read the repository. */
function described({ freezes }: Ongoing): string {
  const [freeze] = freezes as [Ongoing['freezes'][number]];
  const until = freeze.endsAt ? `until ${describeInstant(freeze.endsAt, freeze.timezone)}` : 'until removed';
  return `${asCode(asPublic(freeze).reason) || 'A freeze'}, ${until}${alsoBlocked(freeze)}`;
}

const changedMeanwhile = 'somebody changed it at the same moment';

function textOfEnded(order: Order, done: string[], left: Ongoing[]): string {
  const { deps, repository } = order;
  const name = asCode(fullName(repository));
  const form = ownerFormPath(repository.account.login, 'unfreeze');
  const page = `${deps.config.publicUrl}${form}?${new URLSearchParams({ repository: repository.name })}`;
  const ended = done.map((each) => `- ${each}`);
  const stays = left.map((each) => `- ${described(each)}: ${whyLeft(order, each) ?? changedMeanwhile}`);
  return [
    ...(done.length > 0 ? [`**Ended** in ${name}:`, ended.join('\n')] : []),
    ...(left.length > 0
      ? [
          `**Still ongoing** in ${name}. To end these freezes, use the [Unfreeze page](${page}):`,
          stays.join('\n'),
        ]
      : []),
    ...(done.length + left.length === 0 ? [`No freezes are ongoing in ${name}.`] : []),
  ].join('\n\n');
}
