import type { Deps } from '../deps.ts';
import { askMergeStates } from '../reconcile/merge-states/ask-merge-states.ts';
import { correctStatus } from '../outbox/correct.ts';
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
import { BoundaryAlarm } from './boundary-alarm.ts';
import { NotNow } from '../queue/not-now.ts';
import type { JobQueue } from '../queue/queue.ts';
import { sweep } from './sweep.ts';
import { type Job, type TaskName, taskNames, type Tasks } from '../queue/jobs.ts';

type Handlers = { [Name in TaskName]: (deps: Deps, data: Tasks[Name]) => Promise<void> };

/**
 * What each task does. A task that throws is tried again later, for as long as it takes; one that throws
 * `NotNow` comes back when that says.
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
  'drain-outbox': (deps, { installationId }) => drainOutbox(deps, BigInt(installationId)),
  'sync-installations': (deps) => syncInstallations(deps),
  'sync-installation': (deps, { installationId }) => syncInstallation(deps, BigInt(installationId)),
  'sync-repository': (deps, { repositoryId, installationId }) =>
    syncRepository(deps, BigInt(repositoryId), installationId === null ? null : BigInt(installationId)),
  'recover-deliveries': (deps) => recoverDeliveries(deps),
  'read-delivery': (deps, { deliveryId }) => readDelivery(deps, deliveryId),
  sweep: (deps) => sweep(deps),
};

/** Jobs that one piece of work serves, and that work. */
type Piece = { jobs: Job[]; run(deps: Deps): Promise<void> };

/** Pull requests of one repository that wait at the same time are read by one question; all else is done apart. */
function piecesOf(task: TaskName, jobs: Job[]): Piece[] {
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

/**
 * How many jobs of a task are taken at once, by how many takers. Most waits are for GitHub, not for the processor: one
 * slow installation must not hold up the others. A taker that finds as many as it may take comes back at once.
 */
const taking: Partial<Record<TaskName, { takers: number; jobs: number }>> = {
  'reconcile-repository': { takers: 4, jobs: 4 },
  'reconcile-pull-request': { takers: 3, jobs: 40 },
  'reconcile-merge-queue': { takers: 3, jobs: 4 },
  'ask-merge-states': { takers: 2, jobs: 4 },
  'drain-outbox': { takers: 4, jobs: 4 },
};
const usual = { takers: 1, jobs: 4 };

// In seconds. NOTIFY wakes for present work and the alarm for boundaries; polling finds what both missed.
const boundaryPolling = 0.5;
const otherPolling = 2;

const sweepEvery = 60_000;

/** Works on jobs until stopped, and has the sweep done once at the start and each minute. */
export async function startWorker(deps: Deps, queue: JobQueue): Promise<{ stop(): void }> {
  const workers = new Map<TaskName, string>();
  const alarm = new BoundaryAlarm(deps, () => queue.boss.notifyWorker(workers.get('reconcile-repository')!));
  for (const task of taskNames) {
    const { takers, jobs } = taking[task] ?? usual;
    const polling = task === 'reconcile-repository' ? boundaryPolling : otherPolling;
    const options = {
      pollingIntervalSeconds: polling,
      notifyPollingIntervalSeconds: polling,
      localConcurrency: takers,
      batchSize: jobs,
      burstWhenBatchFull: true,
      includeMetadata: true,
    } as const;
    const worker = await queue.boss.work(task, options, async (taken) => {
      const all = taken.map(({ data, singletonKey }) => ({ task, data, key: singletonKey }) as Job);
      await Promise.all(piecesOf(task, all).map((piece) => work(deps, piece)));
      if (task === 'reconcile-repository') await alarm.set();
    });
    workers.set(task, worker);
  }
  const requestSweep = () =>
    void deps.queue
      .send([{ task: 'sweep', data: {}, key: 'sweep' }])
      .catch((error: unknown) => deps.log.error({ err: error }, 'the sweep could not be asked for'));
  await deps.queue.send([{ task: 'sync-installations', data: {}, key: 'all' }]);
  await alarm.set();
  requestSweep();
  const timer = deps.clock.setInterval(requestSweep, sweepEvery);
  return {
    stop: () => {
      alarm.stop();
      deps.clock.clearInterval(timer);
    },
  };
}

/** Does a piece of work; what fails or is not to be done now is sent again, all its jobs. */
async function work(deps: Deps, { jobs, run }: Piece): Promise<void> {
  try {
    await run(deps);
  } catch (error) {
    if (error instanceof NotNow) {
      await comeBack(deps, jobs, error);
      return;
    }
    const [{ task, data }] = jobs as [Job];
    deps.log.warn({ err: error, task, data, jobs: jobs.length }, 'a job failed and will be tried again');
    for (const job of jobs) await tryAgain(deps, job);
  }
}

/** Sends the same jobs for the instant that they wait for: those about the same thing as one. */
async function comeBack(deps: Deps, jobs: Job[], { until: at }: NotNow): Promise<void> {
  if (!at) return;
  const later = jobs.map((job): Job => ({ ...job, key: `${aboutOf(job)}@${at.toISOString()}`, at }));
  await deps.queue.send(later);
}

const aboutOf = ({ key }: Job): string => key.replace(/([~@].*)?(!again)?$/, '');

const longestBackoff = 60_000;

/**
 * Sends a failed job again, later each time. Not pg-boss's own retry: there each failed job stays beside the new
 * ones for the same thing, and an outage would pile them up. This way one waits for each thing.
 */
async function tryAgain(deps: Deps, { task, data, key }: Job): Promise<void> {
  const attempt = ((data as { attempt?: number }).attempt ?? 0) + 1;
  const backoff = Math.min(longestBackoff, 1000 * 2 ** Math.min(attempt, 6));
  const again = { task, data: { ...data, attempt }, key: `${key.replace(/(~.*)?(!again)?$/, '')}!again` };
  await deps.queue.send([{ ...again, at: new Date(deps.clock.now() + backoff) } as Job]);
}
