import type { Deps } from '../deps.ts';
import { loadClosedPullRequests } from '../github/pull-requests/load-pull-requests.ts';
import { asOpen } from '../github/pull-requests/pull-request.ts';
import { defineTask } from '../queue/define-task.ts';
import { inSteps, jobs } from '../queue/jobs.ts';
import { closedSince, nextChangeAmong } from './judge.ts';
import { observe, openObservation } from './observe.ts';
import { save } from './save.ts';

/** Milliseconds between two checks of closed pull requests for changes that time alone causes. */
const step = 10 * 60_000;

/**
 * Observes the closed pull requests of a repository during a freeze and holds their head commits. Without a freeze, it
 * reads nothing and releases them. Runs when the set of ongoing freezes has changed.
 * @throws NotNow, or GitHub's error while it cannot answer. The worker tries again.
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
  // Send the job before we save which freezes judged them: after that, nothing requests another check.
  if (next) await deps.queue.send([jobs.reconcileClosedHeads(repositoryId, next > soonest ? next : soonest)]);
  await save(deps, observed, { pullRequests, of: 'closed' });
}

/** It yields: nobody merges a closed pull request before it is opened again. */
export const reconcileClosedHeadsTask = defineTask(
  jobs.reconcileClosedHeads,
  (deps, { repositoryId }) => reconcileClosedHeads(deps, BigInt(repositoryId)),
  { takers: 2, yields: true },
);
