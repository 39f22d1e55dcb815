// Runs once before all test files: migrates one PGlite and hands its image to every file.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/database/migrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string;
    pgliteImage: string;
  }
}

export default async function prepare(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  const image = join(folder, 'migrated.tar');
  await writeFile(image, await migratedImage());
  project.provide('postgresUrl', process.env['TEST_DATABASE_URL'] ?? '');
  project.provide('pgliteImage', image);
  return () => rm(folder, { recursive: true });
}

async function migratedImage(): Promise<Uint8Array> {
  const pglite = await PGlite.create();
  await migrate({ script: (sql) => pglite.exec(sql), query: (sql, values) => pglite.query(sql, values) });
  const image = await pglite.dumpDataDir('none');
  await pglite.close();
  return new Uint8Array(await image.arrayBuffer());
}
