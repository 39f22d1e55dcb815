// The database is real: a clone of a migrated PGlite, or, with TEST_DATABASE_URL, a fresh PostgreSQL database.
import { randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { inject } from 'vitest';
import { connectDatabase } from '../../src/database/connect.ts';
import type { Database } from '../../src/database/database.ts';
import { wrapPglite } from '../../src/database/embedded.ts';
import { administer, databaseUrl } from './postgres.ts';

/** A migrated, empty database of the test file's own. Closing it drops it. */
export async function openTestDatabase(): Promise<Database> {
  const server = inject('postgresUrl');
  return server ? openPostgres(server) : openPglite();
}

async function openPglite(): Promise<Database> {
  const image = await openAsBlob(inject('pgliteImage'));
  return wrapPglite(await PGlite.create({ loadDataDir: image }));
}

async function openPostgres(server: string): Promise<Database> {
  const name = `holdfast_test_${randomBytes(8).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${inject('postgresTemplate')}`);
  const database = await connectDatabase({ connectionString: databaseUrl(server, name) });
  return {
    ...database,
    close: async () => {
      await database.close();
      await administer(server, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}
