import type { Deps } from '../deps.ts';
import type { Job } from '../queue/jobs.ts';
import { NotNow } from '../queue/not-now.ts';
import type { Piece } from './handlers.ts';

/** Does a piece of work; what fails, or is not to be done now, is sent again, all its jobs. */
export async function work(deps: Deps, { jobs, run }: Piece): Promise<void> {
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
    await deps.queue.send(jobs.map((job) => triedAgain(job, deps.clock.now())));
  }
}

/** The same job at the instant that it waits for: those about the same thing come back as one. */
const comingBack = ({ attempt: _, ...job }: Job, at: Date): Job =>
  ({ ...job, key: `${job.about}@${at.toISOString()}`, at }) as Job;

const longestBackoff = 60_000;

/**
 * A failed job again, later each time. Not pg-boss's own retry: there each failed job stays beside the new ones for the
 * same thing, and an outage would pile them up. This way one waits for each thing.
 */
function triedAgain(job: Job, now: number): Job {
  const attempt = (job.attempt ?? 0) + 1;
  const backoff = Math.min(longestBackoff, 1000 * 2 ** Math.min(attempt, 6));
  return { ...job, key: `${job.about}!again`, attempt, at: new Date(now + backoff) };
}
