import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import {
  findBypass,
  refreshClosedHeads,
  refreshMergeQueue,
  refreshRepository as refreshLater,
} from '../queue/jobs.ts';
import {
  type LoadedPullRequest,
  type LoadedRepository,
  loadRepository,
} from '../github/pull-requests/load-pull-requests.ts';
import { forgetUnseen } from './open-pull-request-store.ts';
import { rememberJudged } from './merge-states/ask-merge-states.ts';
import { refreshMergeQueues } from './merge-queue.ts';
import { openRefresh, readOrPause, type Refreshable } from './observe.ts';
import { fullName } from '../installations/find-repository.ts';
import { lockRepository } from '../installations/lock-repository.ts';
import { judgedBy } from './closed-heads.ts';
import { forgetHeads } from './forget-heads.ts';
import { judgeNewcomers } from './newcomers.ts';
import { lookAtOutdated } from './outdated-answers.ts';
import { lookAgain, planNextChange } from './next-change.ts';
import { decideVerdicts, judgedHeads, saveVerdicts } from './save.ts';

/**
 * Looks at every open pull request of a repository and has the differences written. Level-triggered: it asks
 * what should be true now, whatever woke it.
 * @param at the instant that it was planned for: a boundary of a freeze, or of what its conditions say of time.
 * @throws what GitHub throws while it cannot answer; the job queue tries again.
 */
export async function refreshRepository(
  deps: Deps,
  repositoryId: bigint,
  at: Date | null = null,
): Promise<void> {
  const refresh = await openRefresh(deps, repositoryId, at);
  if ('notBefore' in refresh) return come(deps, repositoryId, refresh.notBefore);
  // A queue that GitHub cannot show must not keep the pull requests from being looked at.
  const queues = await refreshMergeQueues(deps, refresh).catch((error: unknown) => ({ error, branches: [] }));
  if ('notBefore' in queues) return come(deps, repositoryId, queues.notBefore);
  const loaded = await readOrPause(deps, refresh, () => loadRepository(refresh.from));
  if ('notBefore' in loaded) return come(deps, repositoryId, loaded.notBefore);
  const { pullRequests } = loaded;
  const differing = await save(deps, refresh, loaded);
  await refreshOtherQueues(deps, repositoryId, pullRequests, queues.branches);
  const counts = { pullRequests: pullRequests.length, freezes: refresh.freezes.length, differing };
  deps.log.info({ repository: fullName(refresh.repository), ...counts }, 'repository refreshed');
  if ('error' in queues) throw queues.error;
}

/** Has queues looked at that only their entries tell of: the webhooks of their groups were lost, or are to come. */
async function refreshOtherQueues(
  deps: Deps,
  repositoryId: bigint,
  pullRequests: LoadedPullRequest[],
  done: string[],
): Promise<void> {
  const branches = new Set(pullRequests.flatMap(({ queueBranch }) => queueBranch ?? []));
  const others = [...branches].filter((branch) => !done.includes(branch));
  await deps.jobs.send(others.map((branch) => refreshMergeQueue(repositoryId, branch)));
}

async function save(
  deps: Deps,
  refresh: Refreshable,
  { pullRequests, isPrivate }: LoadedRepository,
): Promise<number> {
  const { repository, reading, readAt, freezes } = refresh;
  const verdicts = decideVerdicts(refresh, pullRequests);
  return deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    await lookAtOutdated(deps, tx, refresh, null, pullRequests);
    await rememberJudged(deps, tx, refresh, judgedHeads(refresh, pullRequests));
    const closed = await forgetUnseen(tx, repository.id, reading);
    await deps.jobs.send(
      closed.map((number) => findBypass(repository.id, number)),
      tx,
    );
    // Those that were closed without a webhook are looked at with the others.
    if (judgedBy(freezes) !== repository.closedJudgedBy || (closed.length > 0 && freezes.length > 0))
      await deps.jobs.send([refreshClosedHeads(repository.id)], tx);
    const differing = await saveVerdicts(deps, tx, refresh, verdicts);
    await forgetHeads(tx, refresh);
    await judgeNewcomers(deps, tx, refresh, pullRequests);
    await planNextChange(deps, tx, refresh, pullRequests, true);
    await lookAgain(deps, tx, refresh, pullRequests, verdicts);
    // Its pages ask for a sign-in from now on. Only a webhook opens them: this answer may be older than one.
    if (isPrivate) await tx.repository.update({ where: { id: repository.id }, data: { private: true } });
    await tx.repository.updateMany({
      where: { id: repository.id, OR: [{ refreshedAt: null }, { refreshedAt: { lt: readAt } }] },
      data: { refreshedAt: readAt },
    });
    await tx.repository.updateMany({
      where: { id: repository.id, refreshRequestedAt: { lte: readAt } },
      data: { refreshRequestedAt: null },
    });
    return differing;
  });
}

/** Comes back when GitHub allows; or never, where there is nothing to look at. */
async function come(deps: Deps, repositoryId: bigint, notBefore: Date | null): Promise<void> {
  if (notBefore) return deps.jobs.send([refreshLater(repositoryId, notBefore)]);
  await deps.db.repository.updateMany({
    where: { id: repositoryId },
    data: { refreshedAt: nowOf(deps.clock), refreshRequestedAt: null, nextChangeAt: null },
  });
}
