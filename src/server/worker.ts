import type { Deps } from '../deps.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { JobQueue } from '../database/queue/queue.ts';
import { Fetcher } from '../database/queue/fetcher.ts';
import { tasks } from './tasks.ts';

export type Worker = {
  /** Takes no new jobs, and hands back those that do not finish in time. */
  stop(): Promise<void>;
  /** Resolves when no job runs and none is due. @returns how many jobs this process has taken so far. */
  settled(): Promise<number>;
};

const sweepEvery = 60_000;
/** Milliseconds that jobs get to finish when the worker stops. */
const patience = 8000;

/** Runs jobs until it is stopped, and requests the sweep at the start and each minute. */
export async function startWorker(deps: Deps, queue: JobQueue): Promise<Worker> {
  const byName = new Map(tasks.map((task) => [task.task, task]));
  const fetcher = new Fetcher(queue, deps.clock, deps.log, byName, (name, taken) =>
    byName.get(name)!.run(deps, taken),
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
