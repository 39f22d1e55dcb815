// The door to SQL for stores on the hot roads. Everything else uses Prisma (docs/decisions/0017).
import type { PGliteInterface, Transaction as PgliteTransaction } from '@electric-sql/pglite';
import pg from 'pg';
import { mostAhead } from '../time/clock.ts';
import type { Tx } from './database.ts';
import { inPatience } from './patience.ts';
import { DatabaseTrouble } from './trouble.ts';

/** Rows from PostgreSQL: `int8` is a bigint, `timestamptz` a Date, `numeric` text, and `json` its value. */
export type SqlRow = Record<string, unknown>;

/** What a store takes: the door itself, or a transaction of it. */
export type SqlTx = {
  /**
   * Runs one statement and returns its rows. On PostgreSQL, each connection prepares it once.
   * @param name of the statement: the same text must always come with the same name.
   * @param values bigints, Dates, texts, numbers, booleans, arrays of these; JSON as text with a cast (`$1::jsonb`).
   * @throws the database's errors; `refusalOf` turns those that a client can act on into refusals.
   */
  query<Result extends SqlRow>(name: string, text: string, values?: unknown[]): Promise<Result[]>;
};

export type Sql = SqlTx & {
  /**
   * Like `query`, for a short statement that changes nothing and waits for no lock. On PostgreSQL it shares a
   * connection with others, so that many at once cost few trips.
   */
  read: SqlTx['query'];
  /** Commits after `work`, and rolls back if it throws. Statements of one turn cost one trip, and run in order. */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
};

type Transaction = SqlTx & {
  /**
   * Waits for a statement of the last turn of `work` together with COMMIT, in one trip. If it fails, nothing is saved.
   */
  atCommit(asked: Promise<unknown>): void;
};

/**
 * SQL that lets its transaction commit before it is on the disk. Only for what is done again if a crash of PostgreSQL
 * loses it: nothing that commits later stays without it.
 */
export const beforeItIsOnDisk = `set_config('synchronous_commit', 'off', true)`;

/**
 * SQL: an instant that was stored, if it is not ahead of now by more than clocks of replicas may differ; else NULL. A
 * clock that was wrong wrote it, so nothing is known, and the present stays where it is.
 */
export const believed = (instant: string, now: string): string =>
  `CASE WHEN ${instant} <= ${now}::timestamptz + interval '${mostAhead} milliseconds' THEN ${instant} END`;

/** Reads `int8` and its arrays (without NULLs) exactly. By default, the drivers differ. */
const parsers: Record<number, (text: string) => unknown> = {
  [pg.types.builtins.INT8]: (text) => BigInt(text),
  1016: (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt)),
};

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid as never, format as never),
};

type PooledConnection = Pick<pg.Pool, 'query'> | SharedReads;

const through = (connection: PooledConnection): SqlTx => ({
  async query<Result extends SqlRow>(name: string, text: string, values: unknown[] = []) {
    const { rows } = await connection.query<Result>({ name, text, values, types: types as never });
    return rows;
  },
});

function lastStatements() {
  const last: Promise<unknown>[] = [];
  const failures: unknown[] = [];
  return {
    atCommit(asked: Promise<unknown>): void {
      // If `work` throws after it, nobody else handles its error.
      asked.catch((error: unknown) => failures.push(error));
      last.push(asked);
    },
    /** @throws the error of a statement that could not even be sent. */
    assertSent(): void {
      if (failures.length > 0) throw failures[0];
    },
    answered: () => Promise.all(last),
  };
}

/** The door over a pool of connections. */
export function sqlOfPool(pool: pg.Pool, reads: SharedReads): Sql {
  return {
    ...through(pool),
    read: through(reads).query,
    async transaction(work) {
      const client = await pool.connect();
      let broken: Error | undefined;
      // Between two statements, nothing else handles the error of a connection that breaks, and an unhandled error ends
      // the process. The next statement fails with it.
      const note = (error: Error) => (broken = error);
      client.on('error', note);
      try {
        const begun = sendTogether(client, { text: 'BEGIN' });
        const query = ((given: pg.QueryConfig) => sendTogether(client, given)) as pg.Pool['query'];
        const last = lastStatements();
        const [, result] = await Promise.all([
          begun,
          work({ ...through({ query }), atCommit: last.atCommit }),
        ]);
        last.assertSent();
        // After a statement that failed, PostgreSQL answers COMMIT with a rollback.
        await Promise.all([last.answered(), sendTogether(client, { text: 'COMMIT' })]);
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

/** An open transaction of Prisma, for the statements of stores that use the door. */
export const throughPrisma = (tx: Tx): SqlTx => ({
  query: (_name, text, values = []) => tx.$queryRawUnsafe(text, ...values),
});

const within = (database: PGliteInterface | PgliteTransaction): SqlTx => ({
  async query<Result extends SqlRow>(_name: string, text: string, values: unknown[] = []) {
    const { rows } = await database.query<Result>(text, values, { parsers });
    return rows;
  },
});

/** The door over the embedded database. Its one connection does one thing after another. */
export function sqlOfPglite(pglite: PGliteInterface): Sql {
  const { query } = within(pglite);
  return {
    query,
    read: query,
    transaction: (work) =>
      pglite.transaction(async (tx) => {
        const last = lastStatements();
        const result = await work({ ...within(tx), atCommit: last.atCommit });
        await last.answered();
        return result;
      }),
  };
}

// Reads that share connections.

/** As many connections as a small server answers at once. With more, they only take turns. */
const connections = 2;

/** Connections that many reads share. Reads of the same turn go out together, and none waits for an answer. */
type SharedReads = { query: pg.Client['query']; end(): Promise<void> };

type Shared = { opening: Promise<pg.Client>; isOpen: boolean; forget(): void };

/**
 * Opens no connection before the first read. Replaces one that breaks, and asks its questions once more.
 * @param make makes a connection with a pipeline.
 */
export function openSharedReads(make: () => pg.Client): SharedReads {
  const shared: (Shared | null)[] = Array.from({ length: connections }, () => null);
  let turn = 0;
  let underWay = 0;

  const open = (mine: number): Shared => {
    const client = make();
    const forget = () => {
      if (shared[mine] === opened) shared[mine] = null;
    };
    const opened: Shared = { opening: client.connect(), isOpen: false, forget };
    client.on('error', forget).on('end', forget);
    opened.opening.then(() => (opened.isOpen = true), forget);
    return (shared[mine] = opened);
  };

  const ask = async (given: pg.QueryConfig): Promise<pg.QueryResult> => {
    const mine = (turn = (turn + 1) % connections);
    const { isOpen, opening, forget } = shared[mine] ?? open(mine);
    underWay++;
    try {
      // Others may have begun to wait for it long before.
      const client = await (isOpen ? opening : inPatience(opening));
      // A read that is alone waits for no other.
      return await (underWay === 1 ? client.query(given) : sendTogether(client, given));
    } catch (error) {
      // PostgreSQL says that it ends a connection before it does.
      if (isLost(error)) forget();
      throw error;
    } finally {
      underWay--;
    }
  };

  return {
    query: ((given: pg.QueryConfig) =>
      ask(given).catch((error: unknown) => {
        if (isLost(error)) return ask(given);
        throw error;
      })) as pg.Client['query'],
    async end() {
      await Promise.all(shared.map(async (each) => (await each?.opening.catch(() => null))?.end()));
    },
  };
}

const isLost = (error: unknown): boolean => error instanceof DatabaseTrouble && error.isLost;

const corked = new WeakSet<pg.Client>();

/**
 * Sends all questions of a turn of the event loop to PostgreSQL with one system call.
 * @param client with a pipeline.
 */
function sendTogether(client: pg.Client, given: pg.QueryConfig): Promise<pg.QueryResult> {
  if (!corked.has(client)) {
    const { stream } = client.connection;
    corked.add(client);
    stream.cork();
    setImmediate(() => {
      corked.delete(client);
      stream.uncork();
    });
  }
  return client.query(given);
}
