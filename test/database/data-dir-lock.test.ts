import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockDataDir } from '../../src/database/embedded.ts';
import { DataDirInUse } from '../../src/database/database-errors.ts';

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
