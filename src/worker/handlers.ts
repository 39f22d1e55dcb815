import type { Deps } from '../deps.ts';
import { askMergeStates } from '../reconcile/merge-states/ask-merge-states.ts';
import { answerComment } from '../comments/answer-comment.ts';
import { announceRequest } from '../comments/announce-request.ts';
import { correctStatus } from '../outbox/correct.ts';
import { remindOfFreezes } from '../freezes/remind-of-freezes.ts';
import { endExemptions } from '../exemptions/end-exemptions.ts';
import { findBypass } from '../reconcile/find-bypass.ts';
import { drainOutbox } from '../outbox/drain.ts';
import { reconcileClosedHeads } from '../reconcile/closed-heads.ts';
import { reconcileMergeQueue } from '../reconcile/merge-queue.ts';
import { reconcilePullRequests } from '../reconcile/pull-requests.ts';
import { reconcileRepository } from '../reconcile/repository.ts';
import { syncInstallation } from '../installations/sync-installation.ts';
import { syncInstallations } from '../installations/sync-installations.ts';
import { syncRepository } from '../installations/sync-repository.ts';
import { readDelivery } from '../webhooks/read-delivery.ts';
import { recoverDeliveries } from '../webhooks/recover-deliveries.ts';
import { endSessions } from '../auth/sign-in/session-store.ts';
import { keepPlan, keepPlans } from '../plans/keep-plan.ts';
import { sweep } from './sweep.ts';
import type { Job, TaskName, Tasks } from '../queue/jobs.ts';

type Handlers = { [Name in TaskName]: (deps: Deps, data: Tasks[Name]) => Promise<void> };

/**
 * The handler of each task. A task that throws is tried again later, until it succeeds. A task that throws `NotNow` runs
 * again at the time that it names.
 */
const handlers: Omit<Handlers, 'reconcile-pull-request'> = {
  'reconcile-repository': (deps, { repositoryId, at }) =>
    reconcileRepository(deps, BigInt(repositoryId), at === undefined ? null : new Date(at)),
  'reconcile-closed-heads': (deps, { repositoryId }) => reconcileClosedHeads(deps, BigInt(repositoryId)),
  'reconcile-merge-queue': (deps, { repositoryId, branch, ...told }) =>
    reconcileMergeQueue(deps, BigInt(repositoryId), branch, told),
  'ask-merge-states': (deps, { repositoryId }) => askMergeStates(deps, BigInt(repositoryId)),
  'correct-status': (deps, { repositoryId, sha, written }) =>
    correctStatus(deps, BigInt(repositoryId), sha, written),
  'end-sessions': (deps, { personId }) => endSessions(deps, { id: personId }),
  'find-bypass': (deps, { repositoryId, number }) => findBypass(deps, BigInt(repositoryId), number),
  'end-exemptions': (deps, { repositoryId, at }) =>
    endExemptions(deps, BigInt(repositoryId), at === undefined ? null : new Date(at)),
  'answer-comment': (deps, { repositoryId, ...told }) => answerComment(deps, BigInt(repositoryId), told),
  'announce-request': (deps, { repositoryId, id }) => announceRequest(deps, BigInt(repositoryId), id),
  'drain-outbox': (deps, { installationId }) => drainOutbox(deps, BigInt(installationId)),
  'sync-installations': (deps) => syncInstallations(deps),
  'sync-installation': (deps, { installationId }) => syncInstallation(deps, BigInt(installationId)),
  'sync-repository': (deps, { repositoryId, installationId }) =>
    syncRepository(deps, BigInt(repositoryId), installationId === null ? null : BigInt(installationId)),
  'remind-of-freezes': (deps) => remindOfFreezes(deps),
  'keep-plans': (deps, { accountId }) => keepPlans(deps, BigInt(accountId)),
  'keep-plan': (deps, { planId }) => keepPlan(deps, planId),
  'recover-deliveries': (deps) => recoverDeliveries(deps),
  'read-delivery': (deps, { deliveryId }) => readDelivery(deps, deliveryId),
  sweep: (deps) => sweep(deps),
};

/** Jobs that one piece of work serves, and that work. */
export type Piece = { jobs: Job[]; run(deps: Deps): Promise<void> };

/** Groups waiting pull requests of one repository, so that one question reads them. Runs all other jobs separately. */
export function piecesOf(task: TaskName, jobs: Job[]): Piece[] {
  if (task !== 'reconcile-pull-request') {
    const handle = handlers[task] as (deps: Deps, data: unknown) => Promise<void>;
    return jobs.map((job) => ({ jobs: [job], run: (deps) => handle(deps, job.data) }));
  }
  const told = jobs as Extract<Job, { task: 'reconcile-pull-request' }>[];
  return [...Map.groupBy(told, ({ data }) => data.repositoryId)].map(([id, ofRepository]) => ({
    jobs: ofRepository,
    run: (deps) =>
      reconcilePullRequests(
        deps,
        BigInt(id),
        ofRepository.map(({ data }) => data),
      ),
  }));
}
