import type { Deps } from '../deps.ts';
import { jobs, type TaskName, taskNames } from '../queue/jobs.ts';
import type { JobQueue } from '../queue/queue.ts';
import { Fetcher, type Takers } from './fetcher.ts';
import { piecesOf } from './handlers.ts';
import { work } from './work.ts';

export type Worker = {
  /** Takes no new jobs, and hands back those that do not finish in time. */
  stop(): Promise<void>;
  /** Resolves when no job runs and none is due. @returns how many jobs this process has taken so far. */
  settled(): Promise<number>;
};

/**
 * How many jobs of a task run at once, and in how many workers. Most jobs wait for GitHub, not for the processor, and one
 * slow installation must not delay the others. Waiting pull requests of a repository need one question, so few workers
 * take many of them.
 */
const takers: Partial<Record<TaskName, Takers>> = {
  'reconcile-repository': { takers: 16, jobs: 1 },
  'reconcile-pull-request': { takers: 3, jobs: 40 },
  'reconcile-merge-queue': { takers: 12, jobs: 1 },
  'ask-merge-states': { takers: 8, jobs: 1 },
  'drain-outbox': { takers: 16, jobs: 1 },
  // Nobody merges a closed pull request before it is opened again.
  'reconcile-closed-heads': { takers: 2, jobs: 1, yields: true },
};
const usual: Takers = { takers: 4, jobs: 1 };

const sweepEvery = 60_000;
/** Milliseconds that jobs get to finish when the worker stops. */
const patience = 8000;

/** Runs jobs until it is stopped, and requests the sweep at the start and each minute. */
export async function startWorker(deps: Deps, queue: JobQueue): Promise<Worker> {
  const fetcher = new Fetcher(
    queue,
    deps.clock,
    deps.log,
    new Map(taskNames.map((task) => [task, takers[task] ?? usual])),
    async (task, taken) => {
      await Promise.all(piecesOf(task, taken).map((piece) => work(deps, piece)));
    },
  );
  const requestSweep = () =>
    void deps.queue
      .send([jobs.sweep()])
      .catch((error: unknown) => deps.log.error({ err: error }, 'could not request the sweep'));
  await deps.queue.send([jobs.syncInstallations(), jobs.sweep()]);
  await fetcher.start();
  const timer = deps.clock.setInterval(requestSweep, sweepEvery);
  return {
    async stop() {
      deps.clock.clearInterval(timer);
      await fetcher.stop(patience);
    },
    settled: () => fetcher.settled(),
  };
}
