import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { type TaskName, taskNames } from '../../queue/jobs.ts';
import { lateStatuses } from '../../statuses/write-store.ts';

/** What the database knows of the work that is left and of what is on. The same for all processes on it. */
export type Figures = {
  /** Commit statuses that are still to write, but for repeats that wait on purpose. */
  statusesWaiting: number;
  /** Since when the oldest of them waits; null: none does. */
  waitingSince: Date | null;
  freezesOngoing: number;
  /** Open pull requests that GitHub would merge although a freeze holds them. */
  pullRequestsLeaking: number;
  /**
   * Of each task, how many jobs are due, since when the oldest of them is (null: none is), and how many wait for another
   * try after they failed.
   */
  jobs: { task: TaskName; waiting: number; dueSince: Date | null; failing: number }[];
};

// Reads what is open: what waits, is ongoing or is held by an index, and the table of jobs once, as `renewJobs` does.
// A failed job comes back within 60 s.
const figures = `
  WITH statuses AS (
    ${lateStatuses('$1')}
  ), jobs AS (
    SELECT task, count(*) FILTER (WHERE due_at <= job_now())::int AS waiting,
      min(due_at) FILTER (WHERE due_at <= job_now()) AS due_since,
      count(*) FILTER (WHERE attempt > 0 AND NOT is_taken)::int AS failing
    FROM jobs WHERE due_at <= job_now() + interval '60 seconds' GROUP BY task
  )
  SELECT statuses.waiting AS "statusesWaiting", statuses.since AS "waitingSince", (
      SELECT count(*)::int FROM freezes
      WHERE starts_at <= $1::timestamptz AND (ends_at IS NULL OR ends_at > $1::timestamptz) AND deleted_at IS NULL
    ) AS "freezesOngoing", (
      SELECT count(*)::int FROM open_pull_requests
      WHERE merge_state_due_at IS NOT NULL AND leaking_since IS NOT NULL
    ) AS "pullRequestsLeaking", task, coalesce(jobs.waiting, 0) AS waiting,
    jobs.due_since AS "dueSince", coalesce(jobs.failing, 0) AS failing
  FROM statuses CROSS JOIN unnest($2::text[]) AS task LEFT JOIN jobs USING (task)`;

type Row = Omit<Figures, 'jobs'> & Figures['jobs'][number];

/** Reads all of them with one statement. @throws what the database answers. */
export async function readFigures({ sql, clock }: Pick<Deps, 'sql' | 'clock'>): Promise<Figures> {
  const rows = await sql.query<Row>('metrics-figures', figures, [nowOf(clock), taskNames]);
  const { statusesWaiting, waitingSince, freezesOngoing, pullRequestsLeaking } = rows[0]!;
  const jobs = rows.map(({ task, waiting, dueSince, failing }) => ({ task, waiting, dueSince, failing }));
  return { statusesWaiting, waitingSince, freezesOngoing, pullRequestsLeaking, jobs };
}
