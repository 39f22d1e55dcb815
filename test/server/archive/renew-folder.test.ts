// The embedded database of an older PostgreSQL is moved to this version's before a start.
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { PGlite as Pglite17 } from 'pglite-17';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { renewFolder } from '../../../src/server/archive/import-database.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { connectDatabase } from '../../../src/database/connect.ts';
import { lockDataDir } from '../../../src/database/data-folder-lock.ts';
import { major } from '../../../src/database/embedded.ts';
import { exportTo, file, folder, linesOf, makeArchive, on, removeArchive, take } from './made-archive.ts';

let old: string;
let before: string[];
let dataDir: string;
let parent: string;

const rowsIn = async (path: string) => (await linesOf(path)).slice(1, -2);
const versionIn = async (name: string) => (await readFile(join(dataDir, name, 'PG_VERSION'), 'utf8')).trim();
const renew = () => renewFolder(dataDir, { clock: systemClock, log: pino({ level: 'silent' }) });

/** All rows of the folder are there, sealed texts included, and a start finds them. */
async function expectRenewed(): Promise<void> {
  expect(await versionIn('postgres')).toBe(major);
  expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres-old']);
  expect(await rowsIn(await exportTo({ dataDir }, `after-${basename(dirname(dataDir))}`))).toEqual(before);
  const database = await connectDatabase({ dataDir });
  expect(await database.prisma.freeze.count()).toBe(3);
  await database.close();
}

beforeAll(async () => {
  await makeArchive();
  parent = await mkdtemp(join(tmpdir(), 'holdfast-renewed-'));
  old = join(parent, 'old');
  await mkdir(old);
  const pglite = new Pglite17(join(old, 'postgres'));
  await pglite.waitReady;
  await pglite.close();
  // The import works in a folder as it finds it.
  await take({ dataDir: old }, { keys: null });
  before = await rowsIn(file);
});
afterAll(async () => {
  await rm(parent, { recursive: true });
  await removeArchive();
});
beforeEach(async () => {
  dataDir = join(await mkdtemp(join(folder, 'data-')), 'of-17');
  await cp(old, dataDir, { recursive: true });
  expect(await versionIn('postgres')).toBe('17');
});

test('a folder of PostgreSQL 17 has everything in PostgreSQL 18, and stays beside it', async () => {
  await renew();
  await expectRenewed();
  expect(await versionIn('postgres-old')).toBe('17');
  await renew();
  expect(await versionIn('postgres-old')).toBe('17');
});

test('a process that was killed while it imported loses nothing', async () => {
  await mkdir(join(dataDir, 'renewal', 'postgres'), { recursive: true });
  await writeFile(join(dataDir, 'renewal', 'export'), 'half');
  await renew();
  await expectRenewed();
});

test('a process that was killed between the renames loses nothing', async () => {
  await mkdir(join(dataDir, 'renewal'));
  await rename(join(dataDir, 'postgres'), join(dataDir, 'postgres-old'));
  await renew();
  await expectRenewed();
});

test('the folder is exported with its own PostgreSQL, and is not changed', async () => {
  expect(await rowsIn(await exportTo({ dataDir }, 'of-17'))).toEqual(before);
  expect(await versionIn('postgres')).toBe('17');
});

test('a folder that another process has is left alone', async () => {
  const unlock = await lockDataDir(dataDir);
  await expect(renew()).rejects.toThrow('is open in process');
  await unlock();
  expect(await versionIn('postgres')).toBe('17');
});

test('an import that is not finished is told, and nothing is changed', async () => {
  await on({ dataDir }, (connection) =>
    connection.script(`INSERT INTO unfinished_imports (file, sha256) VALUES ('a.export', 'x')`),
  );
  await expect(renew()).rejects.toThrow('The import of a.export into this database is not finished.');
  expect(await versionIn('postgres')).toBe('17');
});

test('a folder of an unknown PostgreSQL is told, and is left alone', async () => {
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '19\n');
  await expect(renew()).rejects.toThrow('postgres is of PostgreSQL 19: run the Holdfast that wrote it.');
  expect(existsSync(join(dataDir, 'postgres-old'))).toBe(false);
});
