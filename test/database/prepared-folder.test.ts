import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyPrepared, openEmbedded, prepareEmbedded } from '../../src/database/embedded.ts';

let folder: string;
let cache: string;
let made = 0;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-prepared-'));
  cache = join(folder, 'cache');
  made = 0;
});
afterEach(() => rm(folder, { recursive: true }));

/** In the place of a database. */
async function make(dataDir: string): Promise<void> {
  made += 1;
  await mkdir(join(dataDir, 'postgres', 'base'), { recursive: true, mode: 0o700 });
  await writeFile(join(dataDir, 'postgres', 'base', '1'), 'rows', { mode: 0o600 });
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test('prepared files are copied, also for another account', async () => {
  await prepareEmbedded(make, cache);
  await prepareEmbedded(make, cache);
  expect(made).toBe(1);

  const [name] = await readdir(cache);
  expect(name).toMatch(/^postgres-[0-9a-f]{16}$/);
  expect(await modeOf(join(cache, name!, 'base'))).toBe(0o755);
  expect(await modeOf(join(cache, name!, 'base', '1'))).toBe(0o644);

  const to = join(folder, 'data');
  // A start that was killed while it copied.
  await mkdir(`${to}.new`);
  await writeFile(join(`${to}.new`, 'half'), '');
  expect(await copyPrepared(to, cache)).toBe(true);
  expect(await readdir(to)).toEqual(['base']);
  expect(await readFile(join(to, 'base', '1'), 'utf8')).toBe('rows');
});

test('without prepared files, nothing is copied', async () => {
  expect(await copyPrepared(join(folder, 'data'), cache)).toBe(false);
  expect(await readdir(folder)).toEqual([]);
});

test('files for other migrations are not used, and are deleted', async () => {
  await mkdir(join(cache, 'postgres-0000000000000000'), { recursive: true });
  expect(await copyPrepared(join(folder, 'data'), cache)).toBe(false);
  await prepareEmbedded(make, cache);
  expect(await readdir(cache)).not.toContain('postgres-0000000000000000');
});

test('a database that could not be made leaves nothing behind', async () => {
  const fail = async (dataDir: string) => {
    await make(dataDir);
    throw new Error('no space left');
  };
  await expect(prepareEmbedded(fail, cache)).rejects.toThrow('no space left');
  expect(await readdir(cache)).toEqual([]);
});

test('after the install, a first start finds the tables, and takes little memory', async () => {
  await promisify(execFile)(process.execPath, ['bin/prepare.mjs']);
  const database = await openEmbedded(join(folder, 'data'));
  const [found] = await database.sql.query(
    'test-prepared',
    `SELECT to_regclass('jobs')::text AS jobs, current_setting('shared_buffers') AS memory`,
  );
  await database.close();
  expect(found).toEqual({ jobs: 'jobs', memory: '16MB' });
  expect(await modeOf(join(folder, 'data', 'postgres', 'base'))).toBe(0o700);
});
