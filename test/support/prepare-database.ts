import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { PGlite } from '@electric-sql/pglite';
import type { TestProject } from 'vitest/node';
import { connectDatabase } from '../../src/database/connect.ts';
import { copyPrepared, wrapPglite } from '../../src/database/embedded.ts';
import { administer, databaseUrl, dropAll } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
    /** A file that holds the prepared PGlite. */
    pgliteImage: string;
    /** The prepared database to copy, where a PostgreSQL is used. */
    postgresTemplate: string;
  }
}

/**
 * Runs once before all test files: prepares one database with its tables for every file to copy.
 */
export default async function prepare(project: TestProject): Promise<() => Promise<void>> {
  const server = process.env['TEST_DATABASE_URL'] ?? '';
  project.provide('postgresUrl', server);
  if (server) {
    const template = await prepareTemplate(server);
    project.provide('pgliteImage', '');
    project.provide('postgresTemplate', template);
    return () => dropAll(server, template);
  }
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  const image = join(folder, 'prepared.tar');
  await writeFile(image, await prepareImage(folder));
  project.provide('pgliteImage', image);
  project.provide('postgresTemplate', '');
  return () => rm(folder, { recursive: true });
}

/** Of the database that the installation prepared. After a new migration there is none, so one is made from nothing. */
async function prepareImage(folder: string): Promise<Uint8Array> {
  const prepared = join(folder, 'prepared');
  const pglite = await PGlite.create((await copyPrepared(prepared)) ? prepared : undefined);
  const database = await wrapPglite(pglite);
  const image = await pglite.dumpDataDir('none');
  await database.close();
  return new Uint8Array(await image.arrayBuffer());
}

async function prepareTemplate(server: string): Promise<string> {
  const template = `holdfast_template_${randomBytes(8).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${template}`);
  const database = await connectDatabase({ connectionString: databaseUrl(server, template) });
  await database.close();
  return template;
}
