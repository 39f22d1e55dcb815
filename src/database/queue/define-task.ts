import { mostAhead } from '../../time/clock.ts';
import type { Job, TaskName, Tasks } from './jobs.ts';
import type { Ground } from '../ground.ts';

/**
 * How many workers a task has, and how many jobs one takes at once. No owner keeps more than half of them (`Turns`), so a
 * task has twice as many as work for an owner that is alone. A task that yields takes none while this process works on
 * others, for a few seconds.
 * @property newestToo half of what it takes became due last, so that who asks now does not wait for what was asked for all
 *   repositories at once.
 * @property together jobs with the same text are done together, and a worker takes no others beside them.
 * @property ofOwner how many workers an owner keeps, if not half of them.
 * @property inLanes the jobs have lanes (`inLanes` of `jobs.ts`), and a worker takes one.
 */
export type Takers = {
  takers: number;
  jobs: number;
  yields?: boolean;
  newestToo?: boolean;
  together?: (job: Job) => string;
  ofOwner?: number;
  inLanes?: boolean;
};

/** A kind of work and the code that runs it. */
type Task<Needs extends Ground> = Takers & {
  task: TaskName;
  /** Runs jobs of the task. Those that fail or must wait are sent again. */
  run(deps: Needs, jobs: Job[]): Promise<void>;
};

/**
 * Most jobs wait for GitHub, not for the processor, and one slow installation must not delay the others: so each worker
 * takes one.
 */
const usual: Takers = { takers: 8, jobs: 1 };

/** The same in terms of the task's data. */
type Rules<Data> = Partial<Omit<Takers, 'together'>> & { together?: (data: Data) => string };

/**
 * Defines a task beside the code that runs it.
 * @param of its maker of jobs.
 * @param run gets the data of one job, or of all that `together` gives the same text, and the job. If it throws, the worker tries
 *   again later, until it succeeds; if it throws `NotNow`, at the time that it names.
 */
export function defineTask<Name extends TaskName, Needs extends Ground>(
  { task }: { task: Name },
  run: (deps: Needs, data: Tasks[Name], all: Tasks[Name][], job: Job) => Promise<void>,
  { together, ...takers }: Rules<Tasks[Name]> = {},
): Task<Needs> {
  const dataOf = (job: Job) => job.data as Tasks[Name];
  return {
    ...usual,
    ...takers,
    ...(together && { together: (job) => together(dataOf(job)) }),
    task,
    run: async (deps, jobs) => {
      const runs = Map.groupBy(jobs, (job) => together?.(dataOf(job)) ?? job).values();
      await Promise.all(
        [...runs].map((some) =>
          runOrSendAgain(deps, some, () => run(deps, dataOf(some[0]!), some.map(dataOf), some[0]!)),
        ),
      );
    },
  };
}

/**
 * A task throws this if it cannot do its work now. The worker sends the same job again. It is not a failure: the worker
 * logs nothing and counts no attempt.
 */
export class NotNow extends Error {
  /** When to try again; null: never, because something else asks again. */
  readonly until: Date | null;
  /** Whether the lane pauses until then, whoever asks meanwhile. */
  readonly pauses: boolean;

  constructor(until: Date | null, { pauses = false } = {}) {
    super(until ? `not before ${until.toISOString()}` : 'not until something else asks');
    this.until = until;
    this.pauses = pauses;
  }
}

/**
 * The present of a job. One that was planned for a boundary is past it, even if our clock is a little behind.
 * @throws NotNow if a wrong clock woke it long before.
 */
export function presentOf(now: Date, planned: Date | null): Date {
  if (planned && planned.getTime() > now.getTime() + mostAhead) throw new NotNow(planned);
  return planned && planned > now ? planned : now;
}

/** If the run fails or must wait, sends all of its jobs again. */
async function runOrSendAgain(deps: Ground, jobs: Job[], run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof NotNow) {
      const { until, pauses } = error;
      if (until) await deps.queue.send(jobs.map((job) => comingBack(job, until, pauses)));
      return;
    }
    const [{ task, data }] = jobs as [Job];
    deps.log.warn({ err: error, task, data, jobs: jobs.length }, 'a job failed and will be tried again');
    deps.metrics.countJobFailures(task, jobs.length);
    await deps.queue.send(jobs.map((job) => triedAgain(job, deps.clock.now())));
  }
}

/** The same job at the instant that it waits for. Jobs about the same thing come back as one. */
const comingBack = ({ attempt: _, ...job }: Job, at: Date, pauses: boolean): Job =>
  ({
    ...job,
    key: job.lane ? job.key : `${job.about}@${at.toISOString()}`,
    at,
    ...(pauses && { notBefore: at }),
  }) as Job;

const longestBackoff = 60_000;

/** A failed job, with a longer wait each time. One waits for each thing, so that an outage piles up none. */
function triedAgain(job: Job, now: number): Job {
  const attempt = (job.attempt ?? 0) + 1;
  const backoff = Math.min(longestBackoff, 1000 * 2 ** Math.min(attempt, 6));
  const key = job.lane ? job.key : `${job.about}!again`;
  return { ...job, key, attempt, at: new Date(now + backoff) };
}
