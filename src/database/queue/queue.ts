import type { Clock } from '../../time/clock.ts';
import type { Database, Tx } from '../database.ts';
import { type SqlTx, throughPrisma } from '../sql.ts';
import {
  channel,
  exchangeJobs,
  insertJobs,
  insertJobsAfter,
  insertValues,
  jobOf,
  renewJobs,
  lifetime,
  returnJobs,
  type TakenRow,
} from './job-table.ts';
import type { Job, TaskName } from './jobs.ts';

/** A job that this process works on. */
export type Taken = { id: bigint; job: Job };

/** How many jobs of a task the caller can take. */
export type Capacity = { task: TaskName; jobs: number };

/** The message about sent jobs. The instant is in milliseconds since the epoch. */
export type Sent = { task: TaskName; due: number };

/**
 * The queue of durable work. One job waits for each key, so a storm of webhooks is one look; one that runs does not
 * count. Work that must not run twice at once guards itself in the database.
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
  /** Whether the queue answers now. */
  isReady(): Promise<boolean>;

  /** Deletes finished jobs and takes others that are due. */
  exchange(done: Taken[], capacities: Capacity[]): Promise<Taken[]>;
  /**
   * Renews the claim of this process on its jobs: others take those of a process that gave no sign of life for 10 s.
   * @returns milliseconds until the next job of others is due; null: there is none.
   */
  renew(taken: Taken[]): Promise<number | null>;
  /** Hands back unfinished jobs. */
  release(taken: Taken[]): Promise<void>;
  /**
   * Calls back when jobs are sent, with their task and when they are due. Also calls back with null each time that it
   * begins to listen, because it does not report earlier jobs.
   * @param failed hears why it cannot listen now. Then only looking again finds jobs.
   */
  listen(
    told: (sent: Sent | null) => void,
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

/** The queue in a database. No job runs until a worker asks. */
export function createJobQueue({ sql, listen }: Pick<Database, 'sql' | 'listen'>, clock: Clock): JobQueue {
  const idsOf = (taken: Taken[]) => taken.map(({ id }) => id);
  return {
    send: (jobs, tx = sql) => sendJobs('$queryRawUnsafe' in tx ? throughPrisma(tx) : tx, jobs, clock.now()),
    async sendAfter({ name, text, values }, jobs) {
      const all = [...insertValues(jobs, new Date(clock.now() - datedBack)), ...values];
      const [row] = await sql.query<{ isSent: boolean }>(name, insertJobsAfter(text), all);
      return row!.isSent;
    },
    isReady: () =>
      sql.query('queue ready', 'SELECT EXISTS (SELECT FROM jobs)').then(
        () => true,
        () => false,
      ),
    async exchange(done, capacities) {
      const [tasks, counts] = [capacities.map(({ task }) => task), capacities.map(({ jobs }) => jobs)];
      const values = [idsOf(done), tasks, counts, lifetime];
      const rows = await sql.query<TakenRow>('exchange jobs', exchangeJobs, values);
      return rows.map((row) => ({ id: row.id, job: jobOf(row) }));
    },
    async renew(taken) {
      const [row] = await sql.query<{ wait: number | null }>('renew jobs', renewJobs, [
        idsOf(taken),
        lifetime,
      ]);
      return row!.wait;
    },
    async release(taken) {
      await sql.query('return jobs', returnJobs, [idsOf(taken)]);
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
