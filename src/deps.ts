import type { Logger } from 'pino';
import type { Permissions } from './auth/permissions.ts';
import type { Clock } from './time/clock.ts';
import type { Witnesses } from './time/witnesses.ts';
import type { Config } from './config.ts';
import type { GitHubApp } from './github/github-app.ts';
import type { CallerQuestions } from './github/limits/caller-limits.ts';
import type { Metrics } from './server/metrics/metrics.ts';
import type { PrismaClient } from './generated/prisma/client.ts';
import type { Ahead } from './freezes/save-freeze.ts';
import type { Freeze } from './freezes/freeze.ts';
import type { FoundRepository } from './installations/find-repository.ts';
import type { Changes } from './database/changes.ts';
import type { Database } from './database/database.ts';
import type { Sql } from './database/sql.ts';
import type { OwnWrites } from './statuses/write-status.ts';
import type { JobQueue } from './database/queue/queue.ts';

/** What a use case needs from outside. `createApp` makes one. Tests pass their own clock and GitHub. */
export type Deps = {
  db: PrismaClient;
  /** The same database, for stores on the hot roads. */
  sql: Sql;
  /** What is wrong with it now. */
  trouble: Database['trouble'];
  /** Keeps the database small and quick, if its server does not. */
  keepUp: Database['keepUp'];
  queue: Pick<JobQueue, 'send' | 'sendAfter'>;
  /** What changed of what pages show. */
  changes: Changes;
  /** What this process writes to GitHub. */
  ownWrites: OwnWrites;
  github: GitHubApp;
  /** Checks what a freeze would do before it is saved. Never throws, and takes 2 s at most. */
  lookAhead: (deps: Deps, repository: FoundRepository, freeze: Freeze) => Promise<Ahead>;
  /** What GitHub lets people and tokens do. */
  permissions: Permissions;
  /** What this process counts. */
  metrics: Metrics;
  clock: Clock;
  /** Who tells whether the clock is right. */
  witnesses: Witnesses;
  log: Logger;
  config: Config;
  /** Aborted when the service stops. Long work then hands back the rest. */
  stopping: AbortSignal;
  /**
   * Counts what a caller makes us ask GitHub, and throws if it is too much. Absent for the service's own work, which
   * nobody must delay.
   */
  questions?: CallerQuestions;
};
