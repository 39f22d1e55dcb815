import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { inSteps, jobs } from '../queue/jobs.ts';
import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import { nextChangeAmong } from './judge.ts';
import type { Observed } from './observe.ts';
import type { Verdict } from './save.ts';

/**
 * Keeps when time alone could next change a verdict (a schedule begins, a pull request turns a week old), and has
 * the repository looked at then. Part of the transaction that saves the verdicts, which holds the repository's row.
 * @param isWhole whether every open pull request was looked at, so that the instant replaces the former one; unless
 *   another observation was begun meanwhile, which may know of an earlier instant to come.
 */
export async function planNextChange(
  deps: Deps,
  tx: Tx,
  { repository, observation, freezes, observedAt }: Observed,
  pullRequests: LoadedPullRequest[],
  isWhole: boolean,
): Promise<void> {
  const facts = pullRequests.map((pullRequest) => pullRequest.facts);
  const next = nextChangeAmong(freezes, facts, observedAt);
  const stored = await tx.repository.findUniqueOrThrow({
    where: { id: repository.id },
    select: { nextChangeAt: true, observations: true },
  });
  const { nextChangeAt } = stored;
  // What passed before a look at one pull request is still owed to the others.
  const known = isWhole && nextChangeAt && nextChangeAt <= observedAt ? null : nextChangeAt;
  const isLatest = isWhole && stored.observations === observation;
  const isSooner = next !== null && (known === null || next < known);
  const planned = isLatest || isSooner ? next : known;
  if (planned?.getTime() !== nextChangeAt?.getTime()) {
    await tx.repository.update({ where: { id: repository.id }, data: { nextChangeAt: planned } });
  }
  if (next && planned === next) await deps.queue.send([jobs.reconcileRepository(repository.id, next)], tx);
}

/** Soon enough for who waits, and seldom enough for what stays unknown, such as a team that is misspelt. */
const lookAgainAfter = 5 * 60_000;
/** GitHub finds out about conflicts some seconds after a push, and tells nobody. */
const conflictAfter = 30_000;

/**
 * Has the repository looked at again where something was not known and no event may tell when it is: GitHub failed
 * on a part, or has not found out yet whether a pull request conflicts.
 */
export async function lookAgain(
  deps: Deps,
  tx: Tx,
  { repository, observedAt, from }: Observed,
  pullRequests: LoadedPullRequest[],
  verdicts: Verdict[],
): Promise<void> {
  const isUndecided = ({ isMergeable, facts }: LoadedPullRequest) =>
    !isMergeable && facts.values.conflict === false;
  const awaitsConflict = from.needs.facts.has('conflict') && pullRequests.some(isUndecided);
  const isUnjudged = verdicts.some(({ holds }) => holds.some(({ unjudged }) => unjudged !== null));
  if (!awaitsConflict && !isUnjudged) return;
  const at = inSteps(observedAt, awaitsConflict ? conflictAfter : lookAgainAfter);
  await deps.queue.send([jobs.reconcileRepository(repository.id, at)], tx);
}
