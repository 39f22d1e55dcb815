import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import fs, { link, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { lockDataDir } from '../../src/database/data-folder-lock.ts';
import { DataDirInUse, UnusableDatabase } from '../../src/database/database-errors.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('the lock is in the folder, so that it also counts in other containers that share the folder', async () => {
  const unlock = await lockDataDir(folder);
  expect((await stat(join(folder, 'lock'))).isSocket()).toBe(true);
  await unlock();
});

test.each([['short'], ['a folder that is too deep for the address of a socket'.repeat(4)]])(
  'only one process has the folder %s, until it lets go',
  async (name) => {
    const dataDir = join(folder, name);
    const unlock = await lockDataDir(dataDir);
    await expect(lockDataDir(dataDir)).rejects.toThrow(DataDirInUse);
    await unlock();
    await (
      await lockDataDir(dataDir)
    )();
  },
);

/** A lock as a process leaves it that was killed. @returns what its successor is called. */
async function leaveDead(dataDir: string, name = 'lock'): Promise<string> {
  const server = createServer().listen(join(dataDir, 'x'));
  await once(server, 'listening');
  await link(join(dataDir, 'x'), join(dataDir, name));
  const { ino } = await stat(join(dataDir, name), { bigint: true });
  await new Promise((closed) => server.close(closed));
  return `lock.${ino.toString(36)}`;
}

const steps = ['link', 'stat', 'rm', 'rename'] as const;

/** Somebody stands still before a step of theirs. @returns what begins their work, and what lets them go on. */
function standingStillAt(step: number) {
  const [stands, goesOn] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  const theirs = new AsyncLocalStorage<{ steps: number }>();
  const original = Object.fromEntries(steps.map((name) => [name, fs[name]]));
  for (const name of steps) {
    const make = async (...given: unknown[]) => {
      const store = theirs.getStore();
      if (store && ++store.steps === step) {
        stands.resolve(null);
        await goesOn.promise;
      }
      return Reflect.apply(original[name]!, fs, given) as unknown;
    };
    Object.assign(fs, { [name]: make });
  }
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, original);
    syncBuiltinESMExports();
  });
  return {
    /** @returns when they stand still, or did all. */
    async begin<Result>(work: () => Promise<Result>): Promise<{ end: Promise<unknown> }> {
      const end = theirs.run({ steps: 0 }, work).catch((error: unknown) => error);
      await Promise.race([stands.promise, end]);
      return { end };
    },
    goOn: () => goesOn.resolve(null),
  };
}

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'of two processes that find a dead lock, one has the folder, also if one stands still before its step %i',
  async (step) => {
    await leaveDead(folder);
    const slow = standingStillAt(step);
    const its = await slow.begin(() => lockDataDir(folder));
    const other = await lockDataDir(folder).catch((error: unknown) => error);
    slow.goOn();
    const ends = [await its.end, other];
    const refused = ends.filter((end) => end instanceof DataDirInUse);
    const unlock = ends.find((end) => typeof end === 'function') as () => Promise<void>;
    expect([refused.length, typeof unlock]).toEqual([1, 'function']);
    await expect(lockDataDir(folder)).rejects.toThrow(DataDirInUse);
    expect(await readdir(folder)).toEqual(['lock']);
    await unlock();
    expect(await readdir(folder)).toEqual([]);
  },
);

test.each([60, 90, 95, 200])(
  'in a folder with a path of %i bytes, a process follows one that was killed as it followed another',
  async (bytes) => {
    const dataDir = join(folder, 'x'.repeat(Math.max(1, bytes - folder.length - 1)));
    await mkdir(dataDir);
    if (bytes <= 95) await leaveDead(dataDir, await leaveDead(dataDir));
    const unlock = await lockDataDir(dataDir);
    await expect(lockDataDir(dataDir)).rejects.toThrow(DataDirInUse);
    await unlock();
    expect(await readdir(dataDir)).toEqual([]);
  },
);

test('a file system without hard links is named, and nothing is left behind', async () => {
  const original = fs.link;
  fs.link = () => Promise.reject(Object.assign(new Error('EPERM'), { code: 'EPERM' }));
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.link = original;
    syncBuiltinESMExports();
  });
  const refused = await lockDataDir(folder).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UnusableDatabase);
  expect(String(refused)).toContain('name a DATA_DIR on a file system with hard links');
  expect(await readdir(folder)).toEqual([]);
});

test('whoever asks for the holder and gives up does not end it', async () => {
  const unlock = await lockDataDir(folder);
  for (let times = 0; times < 20; times++) createConnection(join(folder, 'lock')).destroy();
  await expect(lockDataDir(folder)).rejects.toThrow(DataDirInUse);
  await unlock();
});
