import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { GitHubApp } from './github/github-app.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { PrismaClient } from './generated/prisma/client.ts';
import type { Sql } from './database/sql.ts';
import type { OwnWrites } from './outbox/own-writes.ts';
import type { JobQueue } from './queue/queue.ts';

/** What a use case needs of the outside world. `createApp` makes one; tests pass their own clock and GitHub. */
export type Deps = {
  db: PrismaClient;
  /** The same database, for stores on the hot roads. */
  sql: Sql;
  queue: Pick<JobQueue, 'send' | 'sendAfter'>;
  /** What this process writes at GitHub. */
  ownWrites: OwnWrites;
  github: GitHubApp;
  /** What this process counts. */
  metrics: Metrics;
  clock: Clock;
  log: Logger;
  config: Config;
  /** Aborted when the service stops: long work hands back what is left of it. */
  stopping: AbortSignal;
  /**
   * Called before GitHub is asked on behalf of a caller who is not known yet: throws where such callers asked too
   * much. Not there for known callers and for the service's own work, which no stranger may hold up.
   */
  beforeQuestion?: () => Promise<void>;
};
