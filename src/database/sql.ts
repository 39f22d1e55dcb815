// The door to SQL for stores on the hot roads; Prisma is the client of everything else (docs/decisions/0017).
import type { PGliteInterface, Transaction } from '@electric-sql/pglite';
import pg from 'pg';
import type { Tx } from './database.ts';
import { sendTogether } from './send-together.ts';
import type { SharedReads } from './shared-reads.ts';

/** Rows as PostgreSQL gives them: `int8` is a bigint, `timestamptz` a Date, `numeric` text, `json` what it says. */
export type Row = Record<string, unknown>;

/** What a store takes: the door itself, or a transaction of it. */
export type SqlTx = {
  /**
   * Runs one statement and gives its rows. On PostgreSQL it is prepared once a connection.
   * @param name of the statement: the same text must always come with the same name.
   * @param values bigints, Dates, texts, numbers, booleans, arrays of these; JSON as text with a cast (`$1::jsonb`).
   * @throws what the database answers; `refusalOf` knows what a client can act on.
   */
  query<Result extends Row>(name: string, text: string, values?: unknown[]): Promise<Result[]>;
};

export type Sql = SqlTx & {
  /**
   * As `query`, for a short statement that changes nothing and waits for no lock: on PostgreSQL it shares a connection
   * with others, so that many at once cost few trips.
   */
  read: SqlTx['query'];
  /**
   * Commits when `work` has ended, and rolls back where it throws. Statements that are asked in one turn cost one trip,
   * and run in their order.
   */
  transaction<Result>(work: (tx: SqlTx) => Promise<Result>): Promise<Result>;
};

/** `int8` and its arrays (without NULLs) exactly; by default both drivers differ. */
const parsers: Record<number, (text: string) => unknown> = {
  [pg.types.builtins.INT8]: (text) => BigInt(text),
  1016: (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt)),
};

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid as never, format as never),
};

type Connection = Pick<pg.Pool, 'query'> | SharedReads;

const through = (connection: Connection): SqlTx => ({
  async query<Result extends Row>(name: string, text: string, values: unknown[] = []) {
    const { rows } = await connection.query<Result>({ name, text, values, types: types as never });
    return rows;
  },
});

/** The door over a pool of connections. */
export function sqlOfPool(pool: pg.Pool, reads: SharedReads): Sql {
  return {
    ...through(pool),
    read: through(reads).query,
    async transaction(work) {
      const client = await pool.connect();
      let broken: Error | undefined;
      // Between two statements nobody else hears of a connection that breaks, and an error that nobody hears ends the
      // process. The next statement fails of it.
      const note = (error: Error) => (broken = error);
      client.on('error', note);
      try {
        const begun = sendTogether(client, { text: 'BEGIN' });
        const query = ((given: pg.QueryConfig) => sendTogether(client, given)) as pg.Pool['query'];
        const [, result] = await Promise.all([begun, work(through({ query }))]);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        await client.query('ROLLBACK').catch((failure: Error) => (broken = failure));
        throw error;
      } finally {
        client.off('error', note);
        client.release(broken);
      }
    },
  };
}

/** An open transaction of Prisma's, for what stores of the door do in it. */
export const throughPrisma = (tx: Tx): SqlTx => ({
  query: (_name, text, values = []) => tx.$queryRawUnsafe(text, ...values),
});

const within = (database: PGliteInterface | Transaction): SqlTx => ({
  async query<Result extends Row>(_name: string, text: string, values: unknown[] = []) {
    const { rows } = await database.query<Result>(text, values, { parsers });
    return rows;
  },
});

/** The door over the embedded database, whose one connection does one thing after another. */
export function sqlOfPglite(pglite: PGliteInterface): Sql {
  const { query } = within(pglite);
  return { query, read: query, transaction: (work) => pglite.transaction((tx) => work(within(tx))) };
}
