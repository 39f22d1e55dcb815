import type { ConstructorOptions } from 'pg-boss';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import type { Sql } from './sql.ts';

/** The client or a transaction of it: what stores take, so that callers decide what commits together. */
export type Tx = Prisma.TransactionClient;

export type Database = {
  prisma: PrismaClient;
  /** The same database, for the hot roads. */
  sql: Sql;
  /** How pg-boss reaches the same database. */
  jobs: Pick<ConstructorOptions, 'db' | 'backend' | 'connectionString' | 'max'> & { pipeline?: boolean };
  close(): Promise<void>;
};

/**
 * One connection, on which everything happens in its order: several statements at once, or one with parameters. A
 * transaction is `BEGIN` and `COMMIT`.
 */
export type Connection = {
  script(sql: string): Promise<unknown>;
  query(sql: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
};

/** A connection that its opener closes, and how pg-boss reaches the same database. */
export type OpenConnection = Connection & Pick<Database, 'jobs' | 'close'>;

/** Slow disks and busy machines: Prisma's 2 s and 5 s would fail writes that only had to wait. */
export const transactionOptions = { maxWait: 10_000, timeout: 20_000 };
