import type { Deps } from '../deps.ts';
import { correctStatus } from '../freeze-status/correct-status.ts';
import { findBypass } from '../freeze-status/find-bypass.ts';
import { postWaitingStatuses } from '../freeze-status/post-statuses.ts';
import { refreshMergeQueue } from '../freeze-status/refresh-merge-queue.ts';
import { refreshPullRequest } from '../freeze-status/refresh-pull-request.ts';
import { refreshRepository } from '../freeze-status/refresh-repository.ts';
import { syncInstallation } from '../installations/sync-installation.ts';
import { syncInstallations } from '../installations/sync-installations.ts';
import { syncRepository } from '../repositories/sync-repository.ts';
import { recoverDeliveries } from '../webhooks/recover-deliveries.ts';
import { BoundaryAlarm } from './boundary-alarm.ts';
import type { JobQueue } from './queue.ts';
import { sweep } from './sweep.ts';
import type { Job, TaskName, Tasks } from './tasks.ts';

/** What each task does. A task that throws is tried again later, for as long as it takes. */
const handlers: { [Name in TaskName]: (deps: Deps, data: Tasks[Name]) => Promise<void> } = {
  'refresh-repository': (deps, { repositoryId, at }) =>
    refreshRepository(deps, BigInt(repositoryId), at === undefined ? null : new Date(at)),
  'refresh-pull-request': (deps, { repositoryId, number, installationId }) =>
    refreshPullRequest(deps, BigInt(repositoryId), number, idOrNull(installationId)),
  'refresh-merge-queue': (deps, { repositoryId, branch, ...told }) =>
    refreshMergeQueue(deps, BigInt(repositoryId), branch, told),
  'correct-status': (deps, { repositoryId, sha, written }) =>
    correctStatus(deps, BigInt(repositoryId), sha, written),
  'find-bypass': (deps, { repositoryId, number }) => findBypass(deps, BigInt(repositoryId), number),
  'post-statuses': (deps, { installationId }) => postWaitingStatuses(deps, BigInt(installationId)),
  'sync-installations': (deps) => syncInstallations(deps),
  'sync-installation': (deps, { installationId }) => syncInstallation(deps, BigInt(installationId)),
  'sync-repository': (deps, { repositoryId, installationId }) =>
    syncRepository(deps, BigInt(repositoryId), idOrNull(installationId)),
  'recover-deliveries': (deps) => recoverDeliveries(deps),
  sweep: (deps) => sweep(deps),
};

const idOrNull = (id: string | null): bigint | null => (id === null ? null : BigInt(id));

/** Most waits are for GitHub, not for the processor; one slow installation must not hold up the others. */
const concurrency: Partial<Record<TaskName, number>> = {
  'refresh-repository': 4,
  'refresh-pull-request': 4,
  'refresh-merge-queue': 4,
  'post-statuses': 8,
};

// In seconds. NOTIFY wakes for present work and the alarm for boundaries; polling finds what both missed.
const boundaryPolling = 0.5;
const otherPolling = 2;

const sweepEvery = 60_000;

/** Works on jobs until stopped, and has the sweep done once at the start and each minute. */
export async function startWorker(deps: Deps, queue: JobQueue): Promise<{ stop(): void }> {
  const workers = new Map<TaskName, string>();
  const alarm = new BoundaryAlarm(deps, () => queue.boss.notifyWorker(workers.get('refresh-repository')!));
  for (const task of Object.keys(handlers) as TaskName[]) {
    const handle = handlers[task] as (deps: Deps, data: unknown) => Promise<void>;
    const polling = task === 'refresh-repository' ? boundaryPolling : otherPolling;
    const options = {
      pollingIntervalSeconds: polling,
      notifyPollingIntervalSeconds: polling,
      localConcurrency: concurrency[task] ?? 1,
      includeMetadata: true,
    } as const;
    const worker = await queue.boss.work(task, options, async ([job]) => {
      const { data, singletonKey } = job!;
      try {
        await handle(deps, data);
        if (task === 'refresh-repository') await alarm.set();
      } catch (error) {
        deps.log.warn({ err: error, task, data }, 'a job failed and will be tried again');
        await tryAgain(deps, { task, data, key: singletonKey } as Job);
      }
    });
    workers.set(task, worker);
  }
  const requestSweep = () =>
    void deps.jobs
      .send([{ task: 'sweep', data: {}, key: 'sweep' }])
      .catch((error: unknown) => deps.log.error({ err: error }, 'the sweep could not be asked for'));
  await deps.jobs.send([{ task: 'sync-installations', data: {}, key: 'all' }]);
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

const longestBackoff = 60_000;

/**
 * Sends a failed job again, later each time. Not pg-boss's own retry: there each failed job stays beside the new
 * ones for the same thing, and an outage would pile them up. This way one waits for each thing.
 */
async function tryAgain(deps: Deps, { task, data, key }: Job): Promise<void> {
  const attempt = ((data as { attempt?: number }).attempt ?? 0) + 1;
  const backoff = Math.min(longestBackoff, 1000 * 2 ** Math.min(attempt, 6));
  const again = { task, data: { ...data, attempt }, key: `${key.replace(/!again$/, '')}!again` };
  await deps.jobs.send([{ ...again, at: new Date(deps.clock.now() + backoff) } as Job]);
}
