import { type Clock, mostAhead } from '../../time/clock.ts';
import type { Witnesses } from '../../time/witnesses.ts';
import type { Database, Tx } from '../database.ts';
import { beforeItIsOnDisk, type SqlTx, throughPrisma } from '../sql.ts';
import type { Job, TaskName, Tasks } from './jobs.ts';

/** A job that this process works on. */
export type TakenJob = { id: bigint; job: Job };

/**
 * How many jobs of a task the caller can take.
 * @property newest how many of them are those that became due last. @property inLanes one of each lane.
 */
export type Capacity = { task: TaskName; jobs: number; newest?: number; inLanes?: boolean };

/** The message about sent jobs. The instant is in milliseconds since the epoch. */
export type SentJob = { task: TaskName; due: number };

/**
 * The queue of durable work. One job waits for each key, so a storm of webhooks is one look; one that runs does not
 * count. Jobs with a lane run one after another (docs/decisions/0052).
 */
export type JobQueue = {
  /** Saves jobs in one statement; with `tx` they commit or roll back with the caller's transaction. */
  send(jobs: Job[], tx?: Tx | SqlTx): Promise<void>;
  /**
   * Saves a row and, if it is new, jobs with it, all in one statement.
   * @param first inserts the row with `values` from `$3` on, and returns a row if it did not exist yet.
   * @returns whether it was new.
   */
  sendAfter(first: { name: string; text: string; values: unknown[] }, jobs: Job[]): Promise<boolean>;
  /** @throws why the queue does not answer now, or takes no changes. */
  assertReady(): Promise<void>;

  /** Deletes finished jobs and takes others that are due. @param kept those that the caller still works on. */
  exchange(done: TakenJob[], capacities: Capacity[], kept?: TakenJob[]): Promise<TakenJob[]>;
  /**
   * Renews the claim of this process on its jobs: others take those of a process that gave no sign of life for 10 s.
   * @returns milliseconds until the next job of others is due; null: there is none.
   */
  renew(taken: TakenJob[]): Promise<number | null>;
  /** Hands back unfinished jobs. */
  release(taken: TakenJob[]): Promise<void>;
  /**
   * Calls back when jobs are sent, with their task and when they are due. Also calls back with null each time that it
   * begins to listen, because it does not report earlier jobs.
   * @param failed hears why it cannot listen now. Then only looking again finds jobs.
   */
  listen(
    told: (sent: SentJob | null) => void,
    failed: (error: unknown) => void,
  ): Promise<{ close(): Promise<void> }>;
};

/**
 * Milliseconds that present work is dated back. It is due by the database's clock, which in a transaction stands still at
 * its start, and which may differ from this process's.
 */
export const datedBack = 60_000;

/** Saves jobs through a transaction or the door. @param now by the clock of this process. */
export async function sendJobs(sql: SqlTx, jobs: Job[], now: number): Promise<void> {
  if (jobs.length > 0)
    await sql.query('send jobs', insertJobs, insertValues(jobs, new Date(now - datedBack)));
}

/**
 * The queue in a database. No job runs until a worker asks.
 * @param witnesses hear what time the database has, and tell GitHub's; none: the database's clock counts.
 */
export function createJobQueue(
  { sql, listen }: Pick<Database, 'sql' | 'listen'>,
  clock: Clock,
  witnesses?: Pick<Witnesses, 'timeOf' | 'hear'>,
): JobQueue {
  const githubTime = () => githubTimeOf(witnesses);
  const idsOf = (taken: TakenJob[]) => taken.map(({ id }) => id);
  return {
    send: (jobs, tx = sql) => sendJobs('$queryRawUnsafe' in tx ? throughPrisma(tx) : tx, jobs, clock.now()),
    async sendAfter({ name, text, values }, jobs) {
      const all = [...insertValues(jobs, new Date(clock.now() - datedBack)), ...values];
      const [row] = await sql.query<{ isSent: boolean }>(name, insert(text), all);
      return row!.isSent;
    },
    async assertReady() {
      await sql.query('queue ready', 'SELECT FROM jobs LIMIT 0 FOR UPDATE');
    },
    async exchange(done, capacities, kept = []) {
      const [laned, plain] = [true, false].map((isLaned) =>
        capacities.filter(({ inLanes = false }) => inLanes === isLaned),
      ) as [Capacity[], Capacity[]];
      const namesOf = (some: Capacity[]) => some.map(({ task }) => task);
      const countsOf = (some: Capacity[]) => some.map(({ jobs }) => jobs);
      const newest = plain.map(({ newest = 0 }) => newest);
      const values = [idsOf(done), namesOf(plain), countsOf(plain), lifetime, githubTime(), newest];
      const inLanes = [namesOf(laned), countsOf(laned), idsOf(kept)];
      const rows = await (laned.length > 0
        ? sql.query<TakenRow>('exchange jobs and lanes', exchangeLanes, [...values, ...inLanes])
        : sql.query<TakenRow>('exchange jobs', exchangeJobs, values));
      return rows.map((row) => ({ id: row.id, job: jobOfRow(row) }));
    },
    async renew(taken) {
      const askedAt = clock.elapsed();
      const values = [idsOf(taken), lifetime, githubTime()];
      const [row] = await sql.query<{ wait: number | null; now: Date }>('renew jobs', renewJobs, values);
      witnesses?.hear('database', row!.now.getTime(), askedAt);
      return row!.wait;
    },
    async release(taken) {
      await sql.query('return jobs', returnJobs, [idsOf(taken), githubTime()]);
    },
    listen(told, failed) {
      const hear = (message: string | null) => {
        const [task, due] = message?.split(' ') ?? [];
        told(task ? { task: task as TaskName, due: Number(due) } : null);
      };
      return listen(channel, hear, failed);
    },
  };
}

// The statements over the table of jobs, each for any number of jobs of all tasks.

/** Workers listen on it. A message has a task, and when a job of it is due, in milliseconds since the epoch. */
const channel = 'holdfast_jobs';

/**
 * SQL: the time by which jobs are due. It is the database's, the same for all replicas, or GitHub's if that one is wrong.
 * @param github the parameter of GitHub's time (`githubTimeOf`).
 */
export const jobNow = (github: string) => `CASE
  WHEN abs(extract(epoch FROM job_now() - ${github}::timestamptz)) * 1000 > ${mostAhead} THEN ${github}::timestamptz
  ELSE job_now() END`;

/** GitHub's time; null: not known. */
export function githubTimeOf(witnesses: Pick<Witnesses, 'timeOf'> | undefined): Date | null {
  const time = witnesses?.timeOf('github') ?? null;
  return time === null ? null : new Date(time);
}

/**
 * SQL that inserts jobs and tells workers when they are due. If a job with the same key waits, it serves instead of a new
 * one: it is locked, so that nobody takes it before the sender's transaction commits, and workers are told again then. One
 * that a wrong clock dated ahead is due by then.
 * Otherwise it could run just before the commit, and nothing would serve the change.
 * @param rows SQL for the jobs, each key once. In the order of tasks and keys, so that two senders do not wait for each other.
 * @param more further columns that the rows have, each with a comma before it.
 */
export const insertJobsOf = (rows: string, more = ''): string => `
    INSERT INTO jobs AS waiting (task, key, about, data, attempt, due_at${more}) ${rows}
    ON CONFLICT (task, key) WHERE NOT is_taken DO UPDATE SET is_taken = false,
      not_before = greatest(waiting.not_before, excluded.not_before),
      due_at = greatest(waiting.not_before, excluded.not_before,
        CASE WHEN excluded.attempt = 0 THEN least(waiting.due_at, excluded.due_at) ELSE waiting.due_at END)
    RETURNING pg_notify('${channel}', task || ' ' || (extract(epoch FROM due_at) * 1000)::bigint)::text AS told`;

/**
 * Inserts jobs.
 * @param first another statement that saves something, from `$3` on. If it returns a row, the jobs are sent.
 */
const insert = (first?: string) => `
  WITH ${first ? `first AS (${first}), ` : ''}sent AS (${insertJobsOf(
    `
    SELECT DISTINCT ON (task, key) task, key, about, data, attempt, coalesce(due_at, $2::timestamptz) AS due_at, lane,
      not_before
    FROM jsonb_to_recordset($1::jsonb) AS job (task text, key text, about text, data jsonb, attempt int,
      due_at timestamptz, lane text, not_before timestamptz)
    ${first ? 'WHERE EXISTS (SELECT FROM first)' : ''}
    ORDER BY task, key, due_at`,
    ', lane, not_before',
  )})
  SELECT ${first ? 'EXISTS (SELECT FROM first)' : 'true'} AS "isSent"`;

const insertJobs = insert();

/**
 * The values of `insertJobs`.
 * @param now when present work is due.
 */
function insertValues(jobs: Job[], now: Date): [string, Date] {
  const rows = jobs.map(({ task, data, about, key, attempt = 0, at, lane, notBefore }) => {
    return { task, key, about, data, attempt, due_at: at, lane, not_before: notBefore };
  });
  return [JSON.stringify(rows), now];
}

/** Seconds after which a process without a sign of life counts as dead. */
const lifetime = 10;

/** A row of the table when a worker takes it. */
export type TakenRow = {
  id: bigint;
  task: TaskName;
  key: string;
  about: string;
  data: Tasks[TaskName];
  attempt: number;
  owner?: string | null;
  lane?: string | null;
};

export const jobOfRow = ({ id, task, key, about, data, attempt, owner, lane }: TakenRow): Job =>
  ({
    task,
    key,
    data,
    about,
    attempt,
    ...(owner && { owner }),
    ...(lane && { lane, turn: id }),
  }) as Job;

const jobColumns = 'jobs.id, jobs.task, jobs.key, jobs.about, jobs.data, jobs.attempt';

/**
 * SQL: for whom a job is, whatever its data say: an installation, an owner, or a workspace of Slack. It is found when the
 * job is taken, so jobs that the version before sent have it too.
 */
const ownerOfJob = `coalesce(
    jobs.data->>'installationId',
    (SELECT installation_id::text FROM repositories WHERE id = (jobs.data->>'repositoryId')::bigint),
    'account ' || coalesce(jobs.data->>'accountId',
      (SELECT account_id::text FROM freeze_plans WHERE id = (jobs.data->>'planId')::uuid),
      (SELECT account_id::text FROM audit_events WHERE id = (jobs.data->'eventIds'->>0)::bigint)),
    'Slack ' || (SELECT team_id FROM slack_requests WHERE id = jobs.data->>'requestId')) AS owner`;

const dueJobs = (order: 'ASC' | 'DESC', most: string) => `
  SELECT id FROM (
    SELECT id FROM jobs
    WHERE jobs.task = capacity.task AND due_at <= ${jobNow('$5')} AND id <> ALL ($1::bigint[])
    ORDER BY due_at ${order}, id ${order} LIMIT ${most} FOR UPDATE SKIP LOCKED) AS due`;

/** SQL: the jobs of the tasks without lanes. */
const dueOfTasks = `FROM unnest($2::text[], $3::int[], $6::int[]) AS capacity (task, jobs, newest)
    CROSS JOIN LATERAL (
      ${dueJobs('ASC', 'capacity.jobs - capacity.newest')} UNION ALL ${dueJobs('DESC', 'capacity.newest')}
    ) AS found`;

/**
 * Deletes finished jobs ($1 ids). Takes from each task ($2) a number of jobs ($3) that are due by the database's clock,
 * those that are due for longest first, but some ($6) of those that became due last: the index has this order, so jobs of
 * other tasks are not read. A taken job is due again when its process gives no sign of life for $4 seconds. $5 is GitHub's
 * time. A crash of PostgreSQL may have jobs taken and done again.
 */
const exchangeJobs = `
  WITH done AS (DELETE FROM jobs WHERE id = ANY ($1::bigint[])), next AS (
    SELECT found.id, ${beforeItIsOnDisk} ${dueOfTasks}
  )
  UPDATE jobs SET is_taken = true, due_at = ${jobNow('$5')} + $4 * interval '1 second'
  FROM next WHERE jobs.id = next.id
  RETURNING ${jobColumns}, ${ownerOfJob}`;

/**
 * The same, and takes jobs of tasks with lanes ($7, $8): the one that waits for a lane where none is taken, or the taken
 * one if its process gives no sign of life. Finished ones are gone before, or the index that has one taken job for each
 * lane would refuse. Only one waits for a lane, and it was sent after the one before it was taken, so whoever sees it sees
 * that one too: two that take at once never meet in the index.
 * A job of a lane gets another id each time that it is taken. So the process that had it before finds that it is gone, and
 * changes nothing. That counts after a crash of PostgreSQL too, so this statement waits for the disk. $9 are those that the
 * caller works on: it keeps them, however long it stood still.
 */
const exchangeLanes = `
  WITH done AS (DELETE FROM jobs WHERE id = ANY ($1::bigint[]) RETURNING 1), gone AS (SELECT count(*) FROM done), next AS (
    SELECT found.id ${dueOfTasks}
    UNION ALL
    SELECT found.id FROM gone CROSS JOIN unnest($7::text[], $8::int[]) AS capacity (task, jobs) CROSS JOIN LATERAL (
      SELECT id FROM jobs AS each
      WHERE each.task = capacity.task AND due_at <= ${jobNow('$5')} AND id <> ALL ($1::bigint[] || $9::bigint[])
        AND (is_taken OR NOT EXISTS (
          SELECT FROM jobs AS other WHERE other.lane = each.lane AND other.is_taken AND other.id <> ALL ($1::bigint[])))
      ORDER BY due_at, id LIMIT capacity.jobs FOR UPDATE OF each SKIP LOCKED
    ) AS found
  )
  UPDATE jobs SET is_taken = true, due_at = ${jobNow('$5')} + $4 * interval '1 second',
    id = CASE WHEN lane IS NULL THEN jobs.id ELSE nextval('jobs_id_seq') END
  FROM next WHERE jobs.id = next.id
  RETURNING ${jobColumns}, ${ownerOfJob}, jobs.lane`;

/**
 * SQL of a transaction: whether a job of a lane still is its process's (`Job.turn`). Nobody can take it from there on until
 * the transaction ends.
 * @param turn the parameter with it.
 */
export const isOurTurn = (turn: string): string =>
  `EXISTS (SELECT FROM jobs WHERE id = ${turn}::int8 FOR KEY SHARE)`;

/**
 * Marks jobs ($1) as those of a live process for $2 seconds, and returns in how many milliseconds the next job is due,
 * which can be one of another process that may have died, and the database's time. $3 is GitHub's.
 */
const renewJobs = `
  WITH renewed AS (
    UPDATE jobs SET due_at = ${jobNow('$3')} + $2 * interval '1 second' WHERE is_taken AND id = ANY ($1::bigint[])
  )
  SELECT ceil(extract(epoch FROM min(due_at) - ${jobNow('$3')}) * 1000)::float8 AS wait, job_now() AS now
  FROM jobs WHERE due_at > ${jobNow('$3')} AND id <> ALL ($1::bigint[])`;

/** Hands jobs back ($1), so that the next process takes them. */
const returnJobs = `
  WITH returned AS (
    UPDATE jobs SET due_at = date_trunc('milliseconds', ${jobNow('$2')})
    WHERE is_taken AND id = ANY ($1::bigint[]) RETURNING task
  )
  SELECT pg_notify('${channel}', task || ' 0')::text FROM (SELECT DISTINCT task FROM returned) AS tasks`;

/** The jobs of a database that has not had its table of jobs yet: versions before kept them in the schema of pg-boss. */
export const formerJobs = `(
  SELECT row_number() OVER (ORDER BY created_on, id) AS id, name AS task, singleton_key AS key, data->>'about' AS about, data->'data' AS data,
    (data->>'attempt')::int AS attempt, start_after AS due_at, false AS is_taken, NULL::text AS lane
  FROM pgboss.job WHERE state <= 'active')`;

/** The repositories of jobs that are due now, or wait for another try soon. */
export const aboutRepositories = (table = 'jobs') => `
  SELECT DISTINCT data->>'repositoryId' AS id FROM ${table} AS jobs
  WHERE due_at <= now() + interval '1 minute' AND data ? 'repositoryId'`;

/**
 * Jobs of tasks ($1) that are not done, in the order in which they were sent, and when each is due: a taken one is. The
 * table may be older than lanes.
 */
export const waitingJobs = (table = 'jobs') => `
  SELECT ${jobColumns}, to_jsonb(jobs) ->> 'lane' AS lane, CASE WHEN is_taken THEN due_at - interval '${lifetime} seconds' ELSE due_at END AS due
  FROM ${table} AS jobs WHERE task = ANY ($1::text[]) ORDER BY id`;
