import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { type LoadedPullRequest, loadRepository } from '../github/pull-requests/load-pull-requests.ts';
import { fullName } from '../installations/find-repository.ts';
import { defineTask } from '../queue/define-task.ts';
import { jobs } from '../queue/jobs.ts';
import { NotNow } from '../queue/not-now.ts';
import { reconcileMergeQueues } from './merge-queue.ts';
import { observe, openObservation } from './observe.ts';
import { saveWithSharers } from './pull-requests.ts';

/**
 * Observes every open pull request of a repository and queues the changed statuses. Level-triggered: it works out what
 * should be true now and ignores what woke it.
 * @param at the instant that it was planned for: a boundary of a freeze or of its conditions on time.
 * @throws NotNow; and what GitHub throws while it cannot answer: the worker tries again.
 */
export async function reconcileRepository(
  deps: Deps,
  repositoryId: bigint,
  at: Date | null = null,
): Promise<void> {
  try {
    await reconcile(deps, repositoryId, at);
  } catch (error) {
    // If there is nothing to find, the sweep does not need to ask again.
    if (error instanceof NotNow && !error.until) await forgetRequests(deps, repositoryId);
    throw error;
  }
}

async function reconcile(deps: Deps, repositoryId: bigint, at: Date | null): Promise<void> {
  const observed = await openObservation(deps, repositoryId, { notBefore: at });
  const { repository, freezes, from } = observed;
  if (observed.hasIdleExemptions) await deps.queue.send([jobs.endExemptions(repositoryId, at ?? undefined)]);
  const branches = await reconcileMergeQueues(deps, observed);
  const { pullRequests, stacks, isPrivate } = await observe(deps, repository, () => loadRepository(from));
  const { differing } = await saveWithSharers(deps, observed, {
    pullRequests,
    of: 'open',
    stacks,
    isPrivate,
  });
  await reconcileOtherQueues(deps, repositoryId, pullRequests, branches);
  const counts = { pullRequests: pullRequests.length, freezes: freezes.length, differing };
  deps.log.info({ repository: fullName(repository), ...counts }, 'repository reconciled');
}

/** Reconciles queues that we only know from their entries: the webhooks of their groups were lost or come later. */
async function reconcileOtherQueues(
  deps: Deps,
  repositoryId: bigint,
  pullRequests: LoadedPullRequest[],
  done: string[],
): Promise<void> {
  const branches = new Set(pullRequests.flatMap(({ queueBranch }) => queueBranch ?? []));
  const others = [...branches].filter((branch) => !done.includes(branch));
  await deps.queue.send(others.map((branch) => jobs.reconcileMergeQueue(repositoryId, branch)));
}

async function forgetRequests({ sql, clock }: Deps, repositoryId: bigint): Promise<void> {
  await sql.query(
    'forget-requests',
    `UPDATE repositories SET reconciled_at = $2, reconcile_requested_at = NULL, next_change_at = NULL
     WHERE id = $1`,
    [repositoryId, nowOf(clock)],
  );
}

export const reconcileRepositoryTask = defineTask(
  jobs.reconcileRepository,
  (deps, { repositoryId, at }) =>
    reconcileRepository(deps, BigInt(repositoryId), at === undefined ? null : new Date(at)),
  { takers: 16 },
);
