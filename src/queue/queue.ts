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

/** How many jobs of a task may be taken. */
export type Room = { task: TaskName; jobs: number };

/** What is told of jobs that were sent; the instant is in milliseconds since the epoch. */
export type Sent = { task: TaskName; due: number };

/** Where durable work is put, and taken from. */
export type JobQueue = {
  /** Saves jobs in one statement; with `tx` they commit or roll back with the caller's transaction. */
  send(jobs: Job[], tx?: Tx | SqlTx): Promise<void>;
  /**
   * Saves a row and, where it is new, jobs with it, all in one statement.
   * @param first inserts the row with `values` from `$3` on, and returns one where it was not there yet.
   * @returns whether it was new.
   */
  sendAfter(first: { name: string; text: string; values: unknown[] }, jobs: Job[]): Promise<boolean>;
  /** Whether the queue answers now. */
  isReady(): Promise<boolean>;

  /** Forgets jobs that are done and takes others that are due. */
  exchange(done: Taken[], rooms: Room[]): Promise<Taken[]>;
  /**
   * Keeps what this process works on, and frees what processes that died worked on.
   * @returns milliseconds until the next job is due, or one of another process may be given up; null: there is none.
   */
  keep(taken: Taken[]): Promise<number | null>;
  /** Hands back what is not finished. */
  giveBack(taken: Taken[]): Promise<void>;
  /**
   * Calls when jobs are sent, with their task and the instant that they are due at; and with null each time that it
   * begins to listen: what was sent before is not told.
   * @throws where the database cannot be listened to now: only looking again finds jobs then.
   */
  listen(told: (sent: Sent | null) => void): Promise<{ close(): Promise<void> }>;
  stop(): Promise<void>;
};

/**
 * `short`: one waiting job for each key, so a storm of webhooks is one look. Not `stately` or `singleton`:
 * there a job whose process was killed blocks its key until it expires. Work that must not run twice at once
 * guards itself in the database.
 */
const queueOptions = { policy: 'short' } as const;

/**
 * Milliseconds that present work is dated back. It is due by the database's clock, which in a transaction stands still at
 * its start, and which may differ from this process's.
 */
export const datedBack = 60_000;

/** A process that has not said for so many seconds that it lives is dead: others do its jobs. */
const lifetime = 10;
/** pg-boss's own rounds that nothing of ours needs. */
const never = 3600;

/** Starts pg-boss on a database. Sending works at once; nothing is worked on until a worker asks. */
export async function startJobQueue(
  { jobs: where, sql }: Pick<Database, 'jobs'> & { sql: SqlTx },
  clock: Clock,
  log: Logger,
): Promise<JobQueue> {
  const boss = new PgBoss({
    ...where,
    clock,
    // Jobs are deleted when they are done, and `keep` frees those of the dead: nothing is left to supervise.
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
  // Its clock is the database's, or the test's.
  const db = boss.getDb();
  const dated = () => new Date(clock.now() - datedBack);
  return {
    async send(jobs, tx) {
      if (jobs.length === 0) return;
      const values = insertValues(jobs, dated());
      // Through pg-boss's own connections: a test's clock waits for what its timers send there.
      if (!tx) await db.executeSql(insertJobs, values);
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
      const { rows } = await db.executeSql(exchangeJobs, values);
      return (rows as TakenRow[]).map((row) => ({ id: row.id, job: jobOf(row) }));
    },
    async keep(taken) {
      const { rows } = await db.executeSql(keepJobs, [taken.map(({ id }) => id), lifetime]);
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
