import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import type { KnownTrouble } from './known-trouble.ts';
import type { Sql } from './sql.ts';
import type { DatabaseTrouble } from './trouble.ts';

/**
 * Hears the messages of a channel until it is closed.
 * @param hear gets each message, and null each time that it begins to listen: it does not hear what was sent before.
 * @param failed gets why it cannot listen now. It tries again.
 */
export type Listen = (
  channel: string,
  hear: (message: string | null) => void,
  failed: (error: unknown) => void,
) => Promise<{ close(): Promise<void> }>;

/** The client or a transaction of it. Stores take it, so that callers decide what commits together. */
export type Tx = Prisma.TransactionClient;

export type Database = {
  prisma: PrismaClient;
  /** The same database, for the hot roads. */
  sql: Sql;
  /** What is wrong with it now. */
  trouble: KnownTrouble;
  /** Resolves when only a new process can open it again. */
  ended?: Promise<DatabaseTrouble>;
  listen: Listen;
  /** Does what keeps the database small and quick, if its server does not. */
  keepUp(): Promise<void>;
  close(): Promise<void>;
};

/**
 * One connection that does everything in order: several statements at once, or one with parameters. A transaction is
 * `BEGIN` and `COMMIT`.
 */
export type SqlConnection = {
  script(sql: string): Promise<unknown>;
  query(sql: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
};

/** A connection that its opener closes. */
export type OpenConnection = SqlConnection & Pick<Database, 'close'>;

/** For slow disks and busy machines: with Prisma's 2 s and 5 s, writes that only wait would fail. */
export const transactionOptions = { maxWait: 10_000, timeout: 20_000 };
