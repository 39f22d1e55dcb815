// An empty PostgreSQL takes seconds and much memory to make. The installation makes one, and a first start copies it.
import { createHash } from 'node:crypto';
import { cpSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readMigrations } from './migrate.ts';

/** In the folder that npm installs into: `npm ci` deletes it too. */
const installed = fileURLToPath(new URL('../../node_modules/.cache/holdfast/', import.meta.url));

/** The major version of PGlite's PostgreSQL, which opens only folders of its own. `renewFolder` moves older ones. */
export const major = '18';

/** Its name depends on PostgreSQL and on the migrations: after they change, the old files are not found. */
async function preparedFolder(cache: string): Promise<string> {
  const checksum = createHash('sha256').update(major);
  for (const migration of await readMigrations()) checksum.update(migration.checksum);
  return join(cache, `postgres-${checksum.digest('hex').slice(0, 16)}`);
}

/** Copies the prepared database to `to`, completely or not at all. @returns whether there was one to copy. */
export async function copyPrepared(to: string, cache = installed): Promise<boolean> {
  const half = `${to}.new`;
  await rm(half, { recursive: true, force: true });
  try {
    // Nothing else runs yet, and this takes half as long as `cp`.
    cpSync(await preparedFolder(cache), half, { recursive: true });
  } catch (error) {
    await rm(half, { recursive: true, force: true });
    if ((error as { code?: string }).code === 'ENOENT') return false;
    throw error;
  }
  await rename(half, to);
  return true;
}

/** Prepares the files, unless they exist. @param make opens a database below the given folder, and closes it. */
export async function prepare(make: (dataDir: string) => Promise<void>, cache = installed): Promise<void> {
  const prepared = await preparedFolder(cache);
  await mkdir(cache, { recursive: true });
  const existing = await readdir(cache);
  if (existing.some((name) => join(cache, name) === prepared)) return;
  for (const name of existing)
    if (name.startsWith('postgres-')) await rm(join(cache, name), { recursive: true, force: true });
  const workplace = await mkdtemp(join(cache, 'making-'));
  try {
    await make(workplace);
    await openToAll(join(workplace, 'postgres'));
    await rename(join(workplace, 'postgres'), prepared);
  } finally {
    await rm(workplace, { recursive: true, force: true });
  }
}

/** Another account than the one that installs can start the service. These files hold nothing secret. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}
