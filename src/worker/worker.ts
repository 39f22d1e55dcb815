import type { Deps } from '../deps.ts';
import { jobs, type TaskName, taskNames } from '../queue/jobs.ts';
import type { JobQueue } from '../queue/queue.ts';
import { Fetcher, type Takers } from './fetcher.ts';
import { piecesOf } from './handlers.ts';
import { work } from './work.ts';

export type Worker = {
  /** Takes no new jobs, and hands back what is not finished in time. */
  stop(): Promise<void>;
  /** Resolves when no job runs and none is due. @returns how many this process has taken so far. */
  settled(): Promise<number>;
};

/**
 * How many jobs of a task are worked on at once, by how many takers. Most waits are for GitHub, not for the processor:
 * one slow installation must not hold up the others. Pull requests of a repository that wait are one question, so few
 * takers take many of them.
 */
const takers: Partial<Record<TaskName, Takers>> = {
  'reconcile-repository': { takers: 16, jobs: 1 },
  'reconcile-pull-request': { takers: 3, jobs: 40 },
  'reconcile-merge-queue': { takers: 12, jobs: 1 },
  'ask-merge-states': { takers: 8, jobs: 1 },
  'drain-outbox': { takers: 16, jobs: 1 },
  'reconcile-closed-heads': { takers: 2, jobs: 1 },
};
const usual: Takers = { takers: 4, jobs: 1 };

const sweepEvery = 60_000;
/** Milliseconds that jobs have to finish when the worker stops. */
const patience = 8000;

/** Works on jobs until stopped, and has the sweep done once at the start and each minute. */
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
