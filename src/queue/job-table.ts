// The statements over pg-boss's table of jobs. pg-boss makes and migrates it. Its own calls take one queue, and often
// one job, at a time, and each of our processes has twenty queues.
import type { Job, TaskName, Tasks } from './jobs.ts';

/** Workers listen on it. A message has a task, and when a job of it is due, in milliseconds since the epoch. */
export const channel = 'holdfast_jobs';

/** The data column of a job. */
type Stored = { data: Tasks[TaskName]; about: string; attempt: number };

/**
 * Inserts jobs and tells workers when they are due. If a job with the same key waits, it serves instead of a new one: it
 * is locked, so that nobody takes it before the sender's transaction commits, and workers are told again then. Otherwise
 * it could run just before the commit, and nothing would serve the change.
 * Jobs are locked in the order of their names and keys, so that two senders do not wait for each other.
 * `infinity`: a freeze can be planned years ahead, and its boundary jobs wait that long.
 * `job_common` is pg-boss's partition for queues without their own, and has the index of waiting jobs.
 * @param first another statement that saves something, from `$3` on. If it returns a row, the jobs are sent.
 */
const insert = (first?: string) => `
  WITH ${first ? `first AS (${first}), ` : ''}sent AS (
    INSERT INTO pgboss.job_common AS waiting (name, singleton_key, data, start_after, policy, created_on, keep_until)
    SELECT DISTINCT ON (name, key) name, key, data, due, 'short', $2::timestamptz, 'infinity'::timestamptz
    FROM jsonb_to_recordset($1::jsonb) AS job (name text, key text, data jsonb, due timestamptz)
    ${first ? 'WHERE EXISTS (SELECT FROM first)' : ''}
    ORDER BY name, key, due
    ON CONFLICT (name, COALESCE(singleton_key, '')) WHERE state = 'created' AND policy = 'short'
    DO UPDATE SET heartbeat_on = waiting.heartbeat_on
    RETURNING name, start_after
  ), told AS (
    SELECT pg_notify('${channel}', name || ' ' || due)::text AS said
    FROM (SELECT DISTINCT name, (extract(epoch FROM start_after) * 1000)::bigint AS due FROM sent) AS dues
  )
  SELECT ${first ? 'EXISTS (SELECT FROM first)' : 'true'} AS "isSent", (SELECT count(said) FROM told)::int AS told`;

export const insertJobs = insert();
export const insertJobsAfter = insert;

/**
 * The values of `insertJobs`.
 * @param now no job is due before it: present work gets this time.
 */
export function insertValues(jobs: Job[], now: Date): [string, Date] {
  const rows = jobs.map(({ task, data, about, key, attempt = 0, at }) => {
    const stored: Stored = { data, about, attempt };
    return { name: task, key, data: stored, due: (at ?? now).toISOString() };
  });
  return [JSON.stringify(rows), now];
}

/** A row of the table when a worker takes it. */
export type TakenRow = { id: string; name: TaskName; key: string; stored: Stored };

export const jobOf = ({ name, key, stored }: TakenRow): Job =>
  ({ task: name, key, data: stored.data, about: stored.about, attempt: stored.attempt }) as Job;

/**
 * Deletes finished jobs ($1 names, $2 ids). Takes from each queue ($3) a number of jobs ($4) that are due by the
 * database's clock, oldest first.
 */
export const exchangeJobs = `
  WITH done AS (
    DELETE FROM pgboss.job USING unnest((SELECT $1::text[]), (SELECT $2::uuid[])) AS finished (name, id)
    WHERE job.name = finished.name AND job.id = finished.id
  ), next AS (
    SELECT found.name, found.id FROM unnest((SELECT $3::text[]), (SELECT $4::int[])) AS room (name, jobs)
    CROSS JOIN LATERAL (
      SELECT job.name, job.id FROM pgboss.job
      WHERE job.name = room.name AND job.state < 'active' AND NOT job.blocked
        AND job.start_after <= pgboss.job_now()
      ORDER BY job.priority DESC, job.created_on
      LIMIT room.jobs
      FOR UPDATE SKIP LOCKED
    ) AS found
  )
  UPDATE pgboss.job SET state = 'active', started_on = pgboss.job_now(), heartbeat_on = pgboss.job_now()
  FROM next WHERE job.name = next.name AND job.id = next.id
  RETURNING job.id, job.name, job.singleton_key AS key, job.data AS stored`;

/**
 * Marks jobs ($1) as those of a live process, frees jobs of processes that marked nothing for $2 seconds, and returns
 * in how many milliseconds the next job is due or can be freed.
 */
export const keepJobs = `
  WITH kept AS (
    UPDATE pgboss.job SET heartbeat_on = pgboss.job_now() WHERE state = 'active' AND id = ANY ($1::uuid[])
  ), lapsed AS (
    UPDATE pgboss.job SET state = 'retry'
    WHERE state = 'active' AND id <> ALL ($1::uuid[])
      AND heartbeat_on + $2 * interval '1 second' <= pgboss.job_now()
  ), coming AS (
    SELECT start_after AS at FROM pgboss.job WHERE state < 'active'
    UNION ALL
    SELECT heartbeat_on + $2 * interval '1 second' FROM pgboss.job WHERE state = 'active' AND id <> ALL ($1::uuid[])
  )
  SELECT ceil(extract(epoch FROM min(at) - pgboss.job_now()) * 1000)::float8 AS wait
  FROM coming WHERE at > pgboss.job_now()`;

/** The repositories of jobs that are due now, or wait for another try soon. */
export const aboutRepositories = `
  SELECT DISTINCT data->'data'->>'repositoryId' AS id FROM pgboss.job
  WHERE state <= 'active' AND start_after <= now() + interval '1 minute' AND data->'data' ? 'repositoryId'`;

/** Jobs of tasks ($1) that are not done, in the order in which they were sent, and when each is due. */
export const waitingJobs = `
  SELECT id, name, singleton_key AS key, data AS stored, start_after AS due FROM pgboss.job
  WHERE name = ANY ($1::text[]) AND state <= 'active' ORDER BY created_on, id`;

/** Hands jobs back ($1), so that the next process takes them. */
export const returnJobs = `
  WITH returned AS (
    UPDATE pgboss.job SET state = 'retry' WHERE state = 'active' AND id = ANY ($1::uuid[]) RETURNING name
  )
  SELECT pg_notify('${channel}', name || ' 0')::text FROM (SELECT DISTINCT name FROM returned) AS tasks`;
