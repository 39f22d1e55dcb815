import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Config } from '../config.ts';
import { PrismaClient } from '../generated/prisma/client.ts';
import { type Database, type OpenConnection, transactionOptions } from './database.ts';
import { migrate } from './migrate.ts';
import { openSharedReads } from './shared-reads.ts';
import { sqlOfPool } from './sql.ts';
import { refuseUnfinishedImport } from './unfinished-import.ts';

/** Nobody listens where PostgreSQL should be. */
export class NoPostgres extends Error {
  constructor(cause: Error) {
    super('PostgreSQL does not answer at DATABASE_URL: start it, or mend the URL.', { cause });
  }
}

/**
 * Opens the configured database and brings its tables up to date.
 * @throws DataDirInUse when the embedded database is open in another process; NoPostgres when nobody answers;
 *   UnfinishedImport; pg's errors when PostgreSQL cannot be used.
 */
export async function connectDatabase(where: Config['database']): Promise<Database> {
  if (!('dataDir' in where)) return connectPostgres(where.connectionString);
  const { openEmbedded } = await embedded();
  return openEmbedded(where.dataDir);
}

/** One connection to the configured database, with its tables as they are. @throws as `connectDatabase`. */
export async function openConnection(where: Config['database']): Promise<OpenConnection> {
  if ('dataDir' in where) {
    const { connectEmbedded } = await embedded();
    return connectEmbedded(where.dataDir);
  }
  const client = new pg.Client({ connectionString: where.connectionString });
  try {
    await client.connect();
  } catch (error) {
    throw (error as { code?: string }).code === 'ECONNREFUSED' ? new NoPostgres(error as Error) : error;
  }
  return {
    script: (sql) => client.query(sql),
    query: (sql, values) => client.query(sql, values),
    jobs: jobsThrough(where.connectionString),
    close: () => client.end(),
  };
}

/** Only where it is used: PGlite's program is megabytes of memory. */
const embedded = () => import('./embedded.ts');

// The queue sets each connection up in the same turn in which it first uses it, which pg warns of without a pipeline.
const jobsThrough = (connectionString: string) => ({ connectionString, max: 5, pipeline: true });

async function connectPostgres(connectionString: string): Promise<Database> {
  // A connection of its own: an advisory lock belongs to a session, and a pool does not keep one.
  const connection = await openConnection({ connectionString });
  try {
    await migrate(connection);
    await refuseUnfinishedImport(connection);
  } finally {
    await connection.close();
  }
  const pool = new pg.Pool({ connectionString, max: 10, pipeline: true });
  // A connection that breaks while nobody uses it is replaced at the next use.
  pool.on('error', () => {});
  const reads = openSharedReads(connectionString);
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions });
  return {
    prisma,
    sql: sqlOfPool(pool, reads),
    jobs: jobsThrough(connectionString),
    close: async () => {
      await prisma.$disconnect();
      await Promise.all([pool.end(), reads.end()]);
    },
  };
}
