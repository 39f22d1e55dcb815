import { chmod, lstat, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addToEnvFile, isEnvFileWritable } from '../../../src/server/setup/finish-setup.ts';
import { readConfig } from '../../../src/config.ts';
import { readSecretKey } from '../../../src/server/setup/secret-key.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-env-'));
});
afterAll(() => rm(folder, { recursive: true }));

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const app = {
  id: 42,
  slug: 'holdfast',
  name: 'Holdfast',
  htmlUrl: 'https://github.com/apps/holdfast',
  privateKey,
  webhookSecret: 'web#hook',
  oauth: { clientId: 'Iv23li', clientSecret: 'c0ffee' },
};

test('it adds to the file, the other lines stay, and only its owner can read it', async () => {
  const path = join(folder, 'given.env');
  await writeFile(path, '# ours\nPUBLIC_URL=https://holdfast.example\nAPP_ID=', { mode: 0o644 });
  await addToEnvFile(path, app);
  const text = await readFile(path, 'utf8');
  expect(text.startsWith('# ours\nPUBLIC_URL=https://holdfast.example\nAPP_ID=\n# The GitHub App')).toBe(
    true,
  );
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const config = readConfig(parseEnv(text) as Record<string, string>);
  expect(config.publicUrl).toBe('https://holdfast.example');
  expect(config.app).toEqual({
    id: 42,
    privateKey,
    webhookSecret: 'web#hook',
    oauth: app.oauth,
  });
});

test('a link stays a link, and its target is written', async () => {
  const [target, path] = [join(folder, 'elsewhere.env'), join(folder, 'link.env')];
  await symlink(target, path);
  await addToEnvFile(path, app);
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect(await readFile(target, 'utf8')).toContain('APP_ID="42"');
  expect((await stat(target)).mode & 0o777).toBe(0o600);
});

test('a missing file is made', async () => {
  const path = join(folder, 'new.env');
  expect(await isEnvFileWritable(path)).toBe(true);
  await addToEnvFile(path, app);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await isEnvFileWritable(join(folder, 'no-such-folder', '.env'))).toBe(false);
});

test('the key of the embedded database is made once, only for its owner', async () => {
  const config = { secretKey: null, database: { dataDir: join(folder, 'data') } };
  const keys = await Promise.all([1, 2, 3].map(() => readSecretKey(config)));
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
  expect((await stat(join(folder, 'data', 'secret-key'))).mode & 0o777).toBe(0o600);
  expect(await readSecretKey({ ...config, secretKey: 'the given one' })).toBe('the given one');
  expect(
    await readSecretKey({ secretKey: null, database: { connectionString: 'postgres://h/d' } }),
  ).toBeNull();
});

test('a file without a key is named', async () => {
  const dataDir = join(folder, 'broken');
  await readSecretKey({ secretKey: null, database: { dataDir } });
  await chmod(join(dataDir, 'secret-key'), 0o600);
  await writeFile(join(dataDir, 'secret-key'), 'short');
  await expect(readSecretKey({ secretKey: null, database: { dataDir } })).rejects.toThrow('holds no key');
});
