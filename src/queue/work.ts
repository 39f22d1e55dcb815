import type { Deps } from '../deps.ts';
import type { Task } from './define-task.ts';
import type { Job } from './jobs.ts';
import { NotNow } from './not-now.ts';

/** Runs a task for some of its jobs. If it fails or must wait, sends all of these again. */
export async function work(deps: Deps, { jobs, run }: ReturnType<Task['runsOf']>[number]): Promise<void> {
  try {
    await run(deps);
  } catch (error) {
    if (error instanceof NotNow) {
      const { until } = error;
      if (until) await deps.queue.send(jobs.map((job) => comingBack(job, until)));
      return;
    }
    const [{ task, data }] = jobs as [Job];
    deps.log.warn({ err: error, task, data, jobs: jobs.length }, 'a job failed and will be tried again');
    deps.metrics.countJobFailures(task, jobs.length);
    await deps.queue.send(jobs.map((job) => triedAgain(job, deps.clock.now())));
  }
}

/** The same job at the instant that it waits for. Jobs about the same thing come back as one. */
const comingBack = ({ attempt: _, ...job }: Job, at: Date): Job =>
  ({ ...job, key: `${job.about}@${at.toISOString()}`, at }) as Job;

const longestBackoff = 60_000;

/** A failed job, with a longer wait each time. One waits for each thing, so that an outage piles up none. */
function triedAgain(job: Job, now: number): Job {
  const attempt = (job.attempt ?? 0) + 1;
  const backoff = Math.min(longestBackoff, 1000 * 2 ** Math.min(attempt, 6));
  return { ...job, key: `${job.about}!again`, attempt, at: new Date(now + backoff) };
}
