import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keptSecretKey } from '../../src/database/secret-key.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-key-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('is made once, kept, and readable by its owner alone', async () => {
  const made = await keptSecretKey(folder);
  expect(made).toMatch(/^[0-9a-f]{64}$/);
  expect(await keptSecretKey(folder)).toBe(made);
  expect((await stat(join(folder, 'secret-key'))).mode & 0o777).toBe(0o600);
});

test('a file that holds something else stops the start, and is left alone', async () => {
  await writeFile(join(folder, 'secret-key'), 'half a k');
  await expect(keptSecretKey(folder)).rejects.toThrow('does not hold a key. Restore it from a backup');
});
