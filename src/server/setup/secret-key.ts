import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, ConfigError } from '../../config.ts';

/**
 * The key that signs cookies and encrypts what is secret in the database: SECRET_KEY, or with the embedded database
 * the one in `DATA_DIR/secret-key`, made on first use and readable by its owner alone.
 * @returns null on PostgreSQL without SECRET_KEY: replicas share no folder, so there is no place for one of our own.
 * @throws ConfigError where the file holds no key.
 */
export async function readSecretKey(config: Pick<Config, 'secretKey' | 'database'>): Promise<string | null> {
  if (config.secretKey !== null) return config.secretKey;
  if (!('dataDir' in config.database)) return null;
  const { dataDir } = config.database;
  const path = join(dataDir, 'secret-key');
  const key = (await readIfThere(path)) ?? (await make(dataDir, path));
  if (key.length < 32)
    throw new ConfigError([`${path} holds no key of 32 characters: restore it, or set SECRET_KEY`]);
  return key;
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new ConfigError([`${path} cannot be read (${code}): let the user of this process read it`]);
  }
}

/** Whole or not at all: a name is given to the file once its content is there, and never taken from another. */
async function make(dataDir: string, path: string): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft);
  }
  return (await readFile(path, 'utf8')).trim();
}
