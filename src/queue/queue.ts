import { createHash } from 'node:crypto';
import { fromPrisma, PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Database, Tx } from '../database/database.ts';
import type { SqlTx } from '../database/sql.ts';
import { type Job, taskNames } from './jobs.ts';

/** Where durable work is put. */
export type JobQueue = {
  /** Saves jobs; with `tx` they commit or roll back with the caller's transaction. */
  send(jobs: Job[], tx?: Tx | SqlTx): Promise<void>;
  /** Whether the queue answers now. */
  isReady(): Promise<boolean>;
  boss: PgBoss;
  stop(): Promise<void>;
};

/**
 * `short`: one waiting job for each key, so a storm of webhooks is one look. Not `stately` or `singleton`:
 * there a job whose process was killed blocks its key until it expires. Work that must not run twice at once
 * guards itself in the database.
 */
const queueOptions = {
  policy: 'short',
  notify: true,
  // For jobs whose process died: what fails otherwise is sent again by the worker.
  retryLimit: 1000,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
  expireInSeconds: 900,
  heartbeatSeconds: 10,
  // A freeze may be planned years ahead, and its boundary jobs wait that long.
  retentionSeconds: 20 * 365 * 86_400,
  deleteAfterSeconds: 3600,
} as const;

/**
 * Present work is dated a minute back. pg-boss wakes workers only for jobs that are due by the database's clock,
 * which in a transaction stands still at its start, and which may differ from this process's.
 */
const margin = 60_000;

/** Starts pg-boss on the service's database. Sending works at once; nothing is worked on until a worker asks. */
export async function startJobQueue(database: Database, clock: Clock, log: Logger): Promise<JobQueue> {
  const boss = new PgBoss({
    ...database.jobs,
    clock,
    useListenNotify: true,
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    schedule: false,
  });
  boss.on('error', (error) => log.error({ err: error }, 'job queue'));
  boss.on('warning', (warning) => log.warn({ warning }, 'job queue'));
  await boss.start();
  for (const name of taskNames) {
    await boss.createQueue(name, queueOptions);
  }
  return {
    boss,
    async send(jobs, tx) {
      const db = tx && ('query' in tx ? fromSql(tx) : fromPrisma(tx));
      for (const { task, data, key, at } of jobs) {
        await boss.send(task, data, {
          singletonKey: key,
          startAfter: at ?? new Date(clock.now() - margin),
          db,
        });
      }
    },
    async isReady() {
      return boss
        .getDb()
        .executeSql('SELECT 1')
        .then(
          () => true,
          () => false,
        );
    },
    stop: () => boss.stop({ graceful: true, timeout: 8_000 }),
  };
}

const fromSql = (tx: SqlTx) => ({
  executeSql: async (text: string, values?: unknown[]) => ({
    rows: await tx.query(createHash('md5').update(text).digest('hex'), text, values),
  }),
});
