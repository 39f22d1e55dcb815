import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { jobs, type ToldOfGroup } from '../queue/jobs.ts';
import { announceGroup, branchesWithGroups, forgetAllGroups } from './merge-queue/merge-group-store.ts';
import { judgeMergeQueue } from './merge-queue/judge-merge-queue.ts';
import { openObservation, observeOrPause, type NotObservable, type Observed } from './observe.ts';

/**
 * Looks at the merge queue of a branch, because GitHub told of a group, or because what it holds may have changed.
 * @param told the group that GitHub told of, if any, and through which installation.
 * @throws what GitHub throws while it cannot answer; the job queue tries again.
 */
export async function reconcileMergeQueue(
  deps: Deps,
  repositoryId: bigint,
  branch: string,
  told: ToldOfGroup = {},
): Promise<void> {
  const { headSha, headRef, isGone, installationId } = told;
  const known = await deps.db.repository.findUnique({ where: { id: repositoryId } });
  if (!known) {
    if (!installationId) return;
    // It is read first; its groups are found with its open pull requests.
    return deps.queue.send([jobs.syncRepository(repositoryId, BigInt(installationId))]);
  }
  const observed = await openObservation(deps, repositoryId);
  if ('notBefore' in observed && !observed.notBefore) return forgetAllGroups(deps.db, repositoryId);
  if (headSha && headRef && !isGone) {
    await announceGroup(deps.db, repositoryId, branch, { headSha, headRef }, nowOf(deps.clock));
  }
  const gone = headSha && isGone ? [headSha] : [];
  const done =
    'notBefore' in observed
      ? observed
      : await observeOrPause(deps, observed, () => judgeMergeQueue(deps, observed, branch, gone));
  if (done && 'notBefore' in done && done.notBefore) {
    await deps.queue.send([jobs.reconcileMergeQueue(repositoryId, branch, { ...told, at: done.notBefore })]);
  }
}

/**
 * Looks at the merge queues of a repository that have groups in flight, before its pull requests are read: what we
 * passed may merge at any moment.
 * @returns the branches looked at; or when to come back, where GitHub asks to wait.
 */
export async function reconcileMergeQueues(
  deps: Deps,
  observed: Observed,
): Promise<{ branches: string[] } | NotObservable> {
  const branches = await branchesWithGroups(deps.db, observed.repository.id);
  for (const branch of branches) {
    const done = await observeOrPause(deps, observed, () => judgeMergeQueue(deps, observed, branch));
    // Where GitHub refuses the queue, the pull requests are looked at all the same.
    if (done && 'notBefore' in done && done.notBefore) return done;
  }
  return { branches };
}
