import type { Deps } from '../deps.ts';
import { loadClosedPullRequests } from '../github/pull-requests/load-pull-requests.ts';
import { asOpen } from '../github/pull-requests/pull-request.ts';
import { inSteps, jobs } from '../queue/jobs.ts';
import { closedSince, nextChangeAmong } from './judge.ts';
import { observe, openObservation } from './observe.ts';
import { save } from './save.ts';

/** What time alone changes of closed pull requests is looked at no more often. Milliseconds. */
const step = 10 * 60_000;

/**
 * Observes the closed pull requests of a repository while a freeze is on, and has their heads held; without one it
 * reads nothing and lets go. Asked for where other freezes are found than the last time.
 * @throws NotNow; and what GitHub throws while it cannot answer: the worker tries again.
 */
export async function reconcileClosedHeads(deps: Deps, repositoryId: bigint): Promise<void> {
  const observed = await openObservation(deps, repositoryId);
  const { repository, freezes, observedAt, from } = observed;
  const pullRequests = await observe(deps, repository, async () =>
    freezes.length === 0 ? [] : loadClosedPullRequests(from, closedSince(observedAt)),
  );
  const facts = pullRequests.map((pullRequest) => asOpen(pullRequest.facts));
  const next = nextChangeAmong(freezes, facts, observedAt);
  const soonest = inSteps(observedAt, step);
  // Before it is saved which freezes they were judged by: then nobody asks for them again.
  if (next) await deps.queue.send([jobs.reconcileClosedHeads(repositoryId, next > soonest ? next : soonest)]);
  await save(deps, observed, { pullRequests, of: 'closed' });
}
