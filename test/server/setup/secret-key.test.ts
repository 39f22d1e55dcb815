import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSecretKey } from '../../../src/server/setup/secret-key.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-key-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

test('the key of the data folder has 32 characters at least', async () => {
  const read = () => readSecretKey({ secretKey: null, database: { dataDir } });
  await writeFile(join(dataDir, 'secret-key'), 'k'.repeat(32));
  expect(await read()).toBe('k'.repeat(32));
  await writeFile(join(dataDir, 'secret-key'), 'k'.repeat(31));
  await expect(read()).rejects.toThrow('holds no key of 32 characters');
});
