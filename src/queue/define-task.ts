import type { Deps } from '../deps.ts';
import type { Job, TaskName, Tasks } from './jobs.ts';

/**
 * How many workers a task has, and how many jobs one takes at once. A task that yields takes none while this process
 * works on others, for a few seconds.
 */
export type Takers = { takers: number; jobs: number; yields?: boolean };

/** A kind of work and the code that runs it. */
export type Task = Takers & {
  task: TaskName;
  /** Those of the jobs that one run serves, and that run. */
  runsOf(jobs: Job[]): { jobs: Job[]; run(deps: Deps): Promise<void> }[];
};

/**
 * Most jobs wait for GitHub, not for the processor, and one slow installation must not delay the others: so each worker
 * takes one.
 */
const usual: Takers = { takers: 4, jobs: 1 };

/**
 * Defines a task beside the code that runs it.
 * @param of its maker of jobs.
 * @param run gets the data of one job, or of all that `together` gives the same text. If it throws, the worker tries
 *   again later, until it succeeds; if it throws `NotNow`, at the time that it names.
 */
export function defineTask<Name extends TaskName>(
  { task }: { task: Name },
  run: (deps: Deps, data: Tasks[Name], all: Tasks[Name][]) => Promise<void>,
  { together, ...takers }: Partial<Takers> & { together?: (data: Tasks[Name]) => string } = {},
): Task {
  const dataOf = (job: Job) => job.data as Tasks[Name];
  return {
    ...usual,
    ...takers,
    task,
    runsOf: (jobs) =>
      [...Map.groupBy(jobs, (job) => together?.(dataOf(job)) ?? job).values()].map((some) => ({
        jobs: some,
        run: (deps) => run(deps, dataOf(some[0]!), some.map(dataOf)),
      })),
  };
}
