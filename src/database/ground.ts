// `database/` is PostgreSQL or the embedded database: connecting, migrations, statements, what changed, and in `queue/`
// the jobs. It does not know what a row or a job means.
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Metrics } from '../metrics.ts';
import type { Clock } from '../time/clock.ts';
import type { JobQueue } from './queue/queue.ts';
import type { Sql } from './sql.ts';

/** What every room stands on. What a room needs beside it is in its `…Deps`, which extends that of a room below. */
export type Ground = {
  db: PrismaClient;
  /** The same database, for stores on the hot roads. */
  sql: Sql;
  queue: Pick<JobQueue, 'send' | 'sendAfter'>;
  /** What this process counts. */
  metrics: Metrics;
  clock: Clock;
  log: Logger;
  config: Config;
  /** Aborted when the service stops. Long work then hands back the rest. */
  stopping: AbortSignal;
};
