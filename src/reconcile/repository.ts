import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { jobs } from '../queue/jobs.ts';
import {
  type LoadedPullRequest,
  type LoadedRepository,
  loadRepository,
} from '../github/pull-requests/load-pull-requests.ts';
import { forgetUnseen } from './open-pull-request-store.ts';
import { rememberJudged } from './merge-states/ask-merge-states.ts';
import { reconcileMergeQueues } from './merge-queue.ts';
import { openObservation, observeOrPause, type Observed } from './observe.ts';
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
export async function reconcileRepository(
  deps: Deps,
  repositoryId: bigint,
  at: Date | null = null,
): Promise<void> {
  const observed = await openObservation(deps, repositoryId, at);
  if ('notBefore' in observed) return come(deps, repositoryId, observed.notBefore);
  // A queue that GitHub cannot show must not keep the pull requests from being looked at.
  const queues = await reconcileMergeQueues(deps, observed).catch((error: unknown) => ({
    error,
    branches: [],
  }));
  if ('notBefore' in queues) return come(deps, repositoryId, queues.notBefore);
  const loaded = await observeOrPause(deps, observed, () => loadRepository(observed.from));
  if ('notBefore' in loaded) return come(deps, repositoryId, loaded.notBefore);
  const { pullRequests } = loaded;
  const differing = await save(deps, observed, loaded);
  await reconcileOtherQueues(deps, repositoryId, pullRequests, queues.branches);
  const counts = { pullRequests: pullRequests.length, freezes: observed.freezes.length, differing };
  deps.log.info({ repository: fullName(observed.repository), ...counts }, 'repository reconciled');
  if ('error' in queues) throw queues.error;
}

/** Has queues looked at that only their entries tell of: the webhooks of their groups were lost, or are to come. */
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

async function save(
  deps: Deps,
  observed: Observed,
  { pullRequests, isPrivate }: LoadedRepository,
): Promise<number> {
  const { repository, observation, observedAt, freezes } = observed;
  const verdicts = decideVerdicts(observed, pullRequests);
  return deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    await lookAtOutdated(deps, tx, observed, null, pullRequests);
    await rememberJudged(deps, tx, observed, judgedHeads(observed, pullRequests));
    const closed = await forgetUnseen(tx, repository.id, observation);
    await deps.queue.send(
      closed.map((number) => jobs.findBypass(repository.id, number)),
      tx,
    );
    // Those that were closed without a webhook are looked at with the others.
    if (judgedBy(freezes) !== repository.closedJudgedBy || (closed.length > 0 && freezes.length > 0))
      await deps.queue.send([jobs.reconcileClosedHeads(repository.id)], tx);
    const differing = await saveVerdicts(deps, tx, observed, verdicts);
    await forgetHeads(tx, observed);
    await judgeNewcomers(deps, tx, observed, pullRequests);
    await planNextChange(deps, tx, observed, pullRequests, true);
    await lookAgain(deps, tx, observed, pullRequests, verdicts);
    // Its pages ask for a sign-in from now on. Only a webhook opens them: this answer may be older than one.
    if (isPrivate) await tx.repository.update({ where: { id: repository.id }, data: { private: true } });
    await tx.repository.updateMany({
      where: { id: repository.id, OR: [{ reconciledAt: null }, { reconciledAt: { lt: observedAt } }] },
      data: { reconciledAt: observedAt },
    });
    await tx.repository.updateMany({
      where: { id: repository.id, reconcileRequestedAt: { lte: observedAt } },
      data: { reconcileRequestedAt: null },
    });
    return differing;
  });
}

/** Comes back when GitHub allows; or never, where there is nothing to look at. */
async function come(deps: Deps, repositoryId: bigint, notBefore: Date | null): Promise<void> {
  if (notBefore) return deps.queue.send([jobs.reconcileRepository(repositoryId, notBefore)]);
  await deps.db.repository.updateMany({
    where: { id: repositoryId },
    data: { reconciledAt: nowOf(deps.clock), reconcileRequestedAt: null, nextChangeAt: null },
  });
}
