import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Config } from '../config.ts';
import { PrismaClient } from '../generated/prisma/client.ts';
import { within } from '../time/clock.ts';
import { Connections } from './connections.ts';
import { type Database, type OpenConnection, transactionOptions, type Listen } from './database.ts';
import { KnownTrouble } from './known-trouble.ts';
import { migrate } from './migrate.ts';
import { withPatience } from './patience.ts';
import { openSharedReads, sqlOfPool } from './sql.ts';
import { refuseUnfinishedImport, explainFailure, explainUrl, databasePatience } from './database-errors.ts';

/**
 * Opens the configured database and updates its tables.
 * @throws DataDirInUse if the embedded database is open in another process; UnusableDatabase if the database
 *   cannot be reached or used; UnfinishedImport.
 * @param trouble gets what goes wrong with it from then on.
 */
export async function connectDatabase(
  where: Config['database'],
  trouble: KnownTrouble = new KnownTrouble(),
): Promise<Database> {
  if (!('dataDir' in where)) return connectPostgres(where.connectionString, trouble);
  const { openEmbedded } = await embedded();
  return openEmbedded(where.dataDir, trouble);
}

/**
 * One connection to the configured database. Does not change its tables. @throws like `connectDatabase`.
 * @param isBare a new embedded database has no tables.
 */
export async function openConnection(where: Config['database'], isBare = false): Promise<OpenConnection> {
  if ('dataDir' in where) {
    const { connectEmbedded } = await embedded();
    return connectEmbedded(where.dataDir, isBare);
  }
  const client = clientOf(where.connectionString);
  const explain = (error: unknown): never => {
    throw explainFailure(error, where.connectionString);
  };
  await client.connect().catch(explain);
  return {
    script: (sql) => client.query(sql).catch(explain),
    query: (sql, values) => client.query(sql, values).catch(explain),
    close: () => client.end(),
  };
}

/** @throws UnusableDatabase if a file that the URL names cannot be read. */
function clientOf(connectionString: string): pg.Client {
  try {
    return new pg.Client({ connectionString, connectionTimeoutMillis: databasePatience * 1000 });
  } catch (error) {
    throw explainUrl(error, connectionString);
  }
}

/** Only where it is used: PGlite's program is megabytes of memory. */
const embedded = () => import('./embedded.ts');

/** For 10 minutes: after seconds without work, the freezes of a release would begin with new, cold connections. */
const pooled = { max: 15, idleTimeoutMillis: 600_000 };

async function connectPostgres(connectionString: string, trouble: KnownTrouble): Promise<Database> {
  // A separate connection: an advisory lock belongs to a session, and a pool does not keep a session.
  const connection = await openConnection({ connectionString });
  try {
    await refuseUnfinishedImport(connection);
    await migrate(connection);
  } finally {
    await connection.close();
  }
  const connections = new Connections(connectionString, trouble);
  const pool = connections.pool(pooled);
  const reads = openSharedReads(() => connections.client({ pipeline: true }));
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions });
  return {
    prisma,
    sql: sqlOfPool(pool, reads),
    trouble,
    listen: listenThrough(connections),
    keepUp: async () => {},
    async close() {
      await within(goodbye, Promise.all([prisma.$disconnect(), pool.end(), reads.end()]));
      connections.cut();
    },
  };
}

// Milliseconds.
/** For connections that close in peace. */
const goodbye = 500;
const listenEvery = 10_000;
const listenPatience = 5000;
const shortestPause = 1000;
const longestListenPause = 5000;

type Listener = Record<'channel', string> & {
  hear: (message: string | null) => void;
  failed: (error: unknown) => void;
};

/** Listens to all channels on one connection. Replaces it when it breaks, after pauses that grow. */
function listenThrough(connections: Connections): Listen {
  const listeners = new Set<Listener>();
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout;
  let pause = shortestPause;

  const lose = (mine: pg.Client, error: unknown) => {
    if (client !== mine || listeners.size === 0) return;
    client = null;
    void mine.end().catch(() => {});
    for (const { failed } of listeners) failed(error);
    clearTimeout(timer);
    timer = setTimeout(() => void connect(), pause);
    pause = Math.min(longestListenPause, pause * 2);
  };
  // Again and again: only an answer shows that the connection is still there.
  const ask = async (mine: pg.Client) => {
    const channels = new Set([...listeners].map(({ channel }) => channel));
    const asked = [...channels].map((channel) => `LISTEN ${channel}`).join('; ');
    await withPatience(listenPatience, () => mine.query(asked));
    clearTimeout(timer);
    if (client !== mine || listeners.size === 0) return;
    timer = setTimeout(() => void ask(mine).catch((error: unknown) => lose(mine, error)), listenEvery);
  };
  const connect = async () => {
    const mine = (client = connections.client({ pipeline: false }));
    mine.on('error', (error) => lose(mine, error));
    mine.on('notification', ({ channel, payload = '' }) => {
      for (const listener of listeners) if (listener.channel === channel) listener.hear(payload);
    });
    try {
      await mine.connect();
      await ask(mine);
      pause = shortestPause;
      for (const { hear } of listeners) hear(null);
    } catch (error) {
      lose(mine, error);
    }
  };

  return async (channel, hear, failed) => {
    const listener = { channel, hear, failed };
    listeners.add(listener);
    const known = client;
    if (!known) {
      clearTimeout(timer);
      await connect();
    } else
      await ask(known).then(
        () => hear(null),
        (error: unknown) => lose(known, error),
      );
    return {
      async close() {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearTimeout(timer);
        const last = client;
        client = null;
        await within(goodbye, last?.end().catch(() => {}) ?? Promise.resolve());
      },
    };
  };
}
