import type { PoolConfig } from 'pg';
import type { ConstructorOptions } from 'pg-boss';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import type { Sql } from './sql.ts';

/** The client or a transaction of it. Stores take it, so that callers decide what commits together. */
export type Tx = Prisma.TransactionClient;

export type Database = {
  prisma: PrismaClient;
  /** The same database, for the hot roads. */
  sql: Sql;
  /** How pg-boss reaches the same database. */
  jobs: Pick<ConstructorOptions, 'db' | 'backend' | 'connectionString' | 'max'> & Partial<PoolConfig>;
  /** Does what keeps the database small and quick, if its server does not. */
  keepUp(): Promise<void>;
  close(): Promise<void>;
};

/**
 * One connection that does everything in order: several statements at once, or one with parameters. A transaction is
 * `BEGIN` and `COMMIT`.
 */
export type Connection = {
  script(sql: string): Promise<unknown>;
  query(sql: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
};

/** A connection that its opener closes, and how pg-boss reaches the same database. */
export type OpenConnection = Connection & Pick<Database, 'jobs' | 'close'>;

/** For slow disks and busy machines: with Prisma's 2 s and 5 s, writes that only wait would fail. */
export const transactionOptions = { maxWait: 10_000, timeout: 20_000 };
