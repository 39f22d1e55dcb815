import { validate } from '../../../api/validate.ts';
import { givenReason } from '../../../api/v1/exemption-schemas.ts';
import type { Tx } from '../../../database/database.ts';
import { isConflict } from '../../../errors.ts';
import { asPublic } from '../../../freezes/freeze.ts';
import { knownAccount } from '../../../installations/find-account.ts';
import { assertWritable, fullName } from '../../../installations/find-repository.ts';
import { ownerFormPath } from '../../../installations/page-paths.ts';
import { actorName } from '../../../events/actor.ts';
import { endOngoing } from '../../../plans/end-ongoing.ts';
import { type Ongoing, ongoingIn } from '../../../plans/ongoing.ts';
import { describeInstant } from '../../../time/local-time.ts';
import { noteDone, readTaken } from '../answer-store.ts';
import { asCode } from '../answer-text.ts';
import { actorOf, assertAdmin, type CarryOut, type Order } from '../order.ts';

/**
 * Ends the ongoing freezes of the repository that began when they were created, and plans for this repository alone. It
 * does not end plans of several repositories, plans that repeat, or freezes that somebody else scheduled. Each freeze
 * ends in its own transaction, which notes that, so that a second try continues where the first one stopped.
 */
export const unfreeze: CarryOut = async (order) => {
  assertAdmin(order);
  const { deps, commentId, repository } = order;
  const reason = validate(givenReason, order.words, 'body');
  const account = (await knownAccount(deps, repository.account.login))!;
  const administered = new Set([repository.name.toLowerCase()]);
  assertWritable(repository);
  for (const each of await ongoingIn(deps, account, [repository], false)) {
    if (whyLeft(order, each) !== null) continue;
    const note = (tx: Tx) => noteDone(tx, commentId, described(each));
    await endOngoing(deps, actorOf(order), { account, administered }, each, reason, note).catch(
      unlessChanged,
    );
  }
  const { done } = await readTaken(deps.db, commentId);
  return told(order, done, await ongoingIn(deps, account, [repository], false));
};

/** Ignores a conflict: the freeze that somebody changed at the same moment is still ongoing, and the answer says so. */
function unlessChanged(error: unknown): void {
  if (!isConflict(error)) throw error;
}

/** Why a comment does not end it; null if it does. */
function whyLeft({ person }: Order, { plan, freezes }: Ongoing): string | null {
  const [{ planId, startsAt, createdAt, createdBy }] = freezes as [Ongoing['freezes'][number]];
  if (planId !== undefined && planId !== null && plan === null)
    return 'it belongs to a plan that repeats or has other repositories';
  const isOwn = createdBy.type === 'user' && createdBy.id === person.id;
  return startsAt > createdAt && !isOwn ? `${asCode(actorName(createdBy))} scheduled it` : null;
}

/** Described for everybody who can read the repository. */
function described({ freezes }: Ongoing): string {
  const [freeze] = freezes as [Ongoing['freezes'][number]];
  const until = freeze.endsAt ? `until ${describeInstant(freeze.endsAt, freeze.timezone)}` : 'until removed';
  return `${asCode(asPublic(freeze).reason) || 'A freeze'}, ${until}`;
}

const changedMeanwhile = 'somebody changed it at the same moment';

function told(order: Order, done: string[], left: Ongoing[]): string {
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
