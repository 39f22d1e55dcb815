import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { fromPglite } from 'pg-boss';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { PrismaClient } from '../generated/prisma/client.ts';
import { type Database, transactionOptions } from './database.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { migrate } from './migrate.ts';

/**
 * PostgreSQL inside this process, its files below `dataDir`.
 * @throws DataDirInUse when another process has the folder.
 */
export async function openEmbedded(dataDir: string): Promise<Database> {
  const unlock = await lockDataDir(dataDir);
  try {
    const pglite = await PGlite.create(join(dataDir, 'postgres'));
    const database = await wrapPglite(pglite);
    return {
      ...database,
      close: async () => {
        await database.close();
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** A running PGlite as the service's database. Tests pass a clone of a migrated one. */
export async function wrapPglite(pglite: PGlite): Promise<Database> {
  await migrate({ script: (sql) => pglite.exec(sql), query: (sql, values) => pglite.query(sql, values) });
  const prisma = new PrismaClient({ adapter: new PrismaPGlite(pglite), transactionOptions });
  return {
    prisma,
    jobs: { db: fromPglite(pglite), backend: 'pglite' },
    close: async () => {
      await prisma.$disconnect();
      await pglite.close();
    },
  };
}
