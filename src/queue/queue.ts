import { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Database, Tx } from '../database/database.ts';
import type { SqlTx } from '../database/sql.ts';
import {
  channel,
  exchangeJobs,
  insertJobs,
  insertJobsAfter,
  insertValues,
  jobOf,
  keepJobs,
  returnJobs,
  type TakenRow,
} from './job-table.ts';
import { type Job, type TaskName, taskNames } from './jobs.ts';

/** A job that this process works on. */
export type Taken = { id: string; job: Job };

/** How many jobs of a task the caller can take. */
export type Room = { task: TaskName; jobs: number };

/** The message about sent jobs. The instant is in milliseconds since the epoch. */
export type Sent = { task: TaskName; due: number };

/** The queue of durable work. */
export type JobQueue = {
  /** Saves jobs in one statement; with `tx` they commit or roll back with the caller's transaction. */
  send(jobs: Job[], tx?: Tx | SqlTx): Promise<void>;
  /**
   * Saves a row and, if it is new, jobs with it, all in one statement.
   * @param first inserts the row with `values` from `$3` on, and returns a row if it did not exist yet.
   * @returns whether it was new.
   */
  sendAfter(first: { name: string; text: string; values: unknown[] }, jobs: Job[]): Promise<boolean>;
  /** Whether the queue answers now. */
  isReady(): Promise<boolean>;

  /** Deletes finished jobs and takes others that are due. */
  exchange(done: Taken[], rooms: Room[]): Promise<Taken[]>;
  /**
   * Keeps the jobs of this process, and frees the jobs of processes that died.
   * @returns milliseconds until the next job is due or a job of another process can be freed; null: there is none.
   */
  keep(taken: Taken[]): Promise<number | null>;
  /** Hands back unfinished jobs. */
  giveBack(taken: Taken[]): Promise<void>;
  /**
   * Calls back when jobs are sent, with their task and when they are due. Also calls back with null each time that it
   * begins to listen, because it does not report earlier jobs.
   * @throws if it cannot listen to the database now. Then only looking again finds jobs.
   */
  listen(told: (sent: Sent | null) => void): Promise<{ close(): Promise<void> }>;
  stop(): Promise<void>;
};

/**
 * `short`: one waiting job for each key, so a storm of webhooks is one look. Not `stately` or `singleton`: with these,
 * a job of a killed process blocks its key until it expires. Work that must not run twice at once guards itself in the
 * database.
 */
const queueOptions = { policy: 'short' } as const;

/**
 * Milliseconds that present work is dated back. It is due by the database's clock, which in a transaction stands still at
 * its start, and which may differ from this process's.
 */
export const datedBack = 60_000;

/** Seconds after which a process without a sign of life counts as dead: others do its jobs. */
const lifetime = 10;
/** The rounds of pg-boss that we do not need. */
const never = 3600;

/** Starts pg-boss on a database. Sending works at once. No job runs until a worker asks. */
export async function startJobQueue(
  { jobs: where, sql }: Pick<Database, 'jobs'> & { sql: SqlTx },
  clock: Clock,
  log: Logger,
): Promise<JobQueue> {
  const boss = new PgBoss({
    ...where,
    clock,
    // Finished jobs are deleted, and `keep` frees those of dead processes, so there is nothing to supervise.
    supervise: false,
    schedule: false,
    queueCacheIntervalSeconds: never,
    bamIntervalSeconds: never,
  });
  boss.on('error', (error) => log.error({ err: error }, 'job queue'));
  boss.on('warning', (warning) => log.warn({ warning }, 'job queue'));
  await boss.start();
  const known = new Set((await boss.getQueues()).map(({ name }) => name));
  for (const name of taskNames) if (!known.has(name)) await boss.createQueue(name, queueOptions);
  // Its clock is that of the database, or of the test.
  const db = boss.getDb();
  const dated = () => new Date(clock.now() - datedBack);
  // pg-boss hands it on to pg, which prepares what has a name once for each connection. PGlite prepares everything.
  const run = (name: string, text: string, values: unknown[]) =>
    db.executeSql('db' in where ? text : ({ name, text } as unknown as string), values);
  return {
    async send(jobs, tx) {
      if (jobs.length === 0) return;
      const values = insertValues(jobs, dated());
      // It uses pg-boss's own connections, because a test's clock waits for what its timers send there.
      if (!tx) await run('send jobs', insertJobs, values);
      else if ('$executeRawUnsafe' in tx) await tx.$executeRawUnsafe(insertJobs, ...values);
      else await tx.query('send jobs', insertJobs, values);
    },
    async sendAfter({ name, text, values }, jobs) {
      const all = [...insertValues(jobs, dated()), ...values];
      const [row] = await sql.query<{ isSent: boolean }>(name, insertJobsAfter(text), all);
      return row!.isSent;
    },
    async isReady() {
      return db.executeSql('SELECT 1').then(
        () => true,
        () => false,
      );
    },
    async exchange(done, rooms) {
      const values = [
        done.map(({ job }) => job.task),
        done.map(({ id }) => id),
        rooms.map(({ task }) => task),
        rooms.map(({ jobs }) => jobs),
      ];
      const { rows } = await run('exchange jobs', exchangeJobs, values);
      return (rows as TakenRow[]).map((row) => ({ id: row.id, job: jobOf(row) }));
    },
    async keep(taken) {
      const { rows } = await run('keep jobs', keepJobs, [taken.map(({ id }) => id), lifetime]);
      return rows[0].wait;
    },
    async giveBack(taken) {
      await db.executeSql(returnJobs, [taken.map(({ id }) => id)]);
    },
    listen: (told) =>
      db.listen!(
        channel,
        (payload) => {
          const [task, due] = payload.split(' ');
          told({ task: task as TaskName, due: Number(due) });
        },
        () => told(null),
      ),
    stop: () => boss.stop({ graceful: false }),
  };
}
