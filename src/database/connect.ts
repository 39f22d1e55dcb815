import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Config } from '../config.ts';
import { PrismaClient } from '../generated/prisma/client.ts';
import { type Database, transactionOptions } from './database.ts';
import { openEmbedded } from './embedded.ts';
import { migrate } from './migrate.ts';
import { openSharedReads } from './shared-reads.ts';
import { sqlOfPool } from './sql.ts';

/**
 * Opens the configured database and brings its tables up to date.
 * @throws DataDirInUse when the embedded database is open in another process; pg's errors when PostgreSQL
 *   cannot be reached.
 */
export async function connectDatabase(where: Config['database']): Promise<Database> {
  return 'dataDir' in where ? openEmbedded(where.dataDir) : connectPostgres(where.connectionString);
}

async function connectPostgres(connectionString: string): Promise<Database> {
  // A connection of its own: an advisory lock belongs to a session, and a pool does not keep one.
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await migrate({ script: (sql) => client.query(sql), query: (sql, values) => client.query(sql, values) });
  } finally {
    await client.end();
  }
  const pool = new pg.Pool({ connectionString, max: 10, pipeline: true });
  // A connection that breaks while nobody uses it is replaced at the next use.
  pool.on('error', () => {});
  const reads = openSharedReads(connectionString);
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions });
  return {
    prisma,
    sql: sqlOfPool(pool, reads),
    // The queue sets each connection up in the same turn in which it first uses it, which pg warns of without a pipeline.
    jobs: { connectionString, max: 5, pipeline: true },
    close: async () => {
      await prisma.$disconnect();
      await Promise.all([pool.end(), reads.end()]);
    },
  };
}
