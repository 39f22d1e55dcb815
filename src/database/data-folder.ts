// DATA_DIR: the folder of the embedded database. An instance with a PostgreSQL notes there that it has one.
import { access, constants, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { UnusableDatabase } from './database-errors.ts';

/** Makes the folder, for its owner alone. @throws UnusableDatabase if it cannot be made, or not be written. */
export async function makeDataFolder(dataDir: string): Promise<void> {
  try {
    await makeFolder(dataDir);
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw explainFolder(error, dataDir);
  }
}

/** `recursive` of Node would try for ever where the system says that the folder's place is not there, as in `/proc`. */
async function makeFolder(path: string): Promise<void> {
  const make = () =>
    mkdir(path, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error;
    });
  await make().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await make();
  });
}

/** What to do about a folder that cannot hold the embedded database, by the code of the system. */
function explainFolder(error: unknown, dataDir: string): UnusableDatabase {
  const { code } = error as NodeJS.ErrnoException;
  const what: Record<string, string> = {
    EEXIST: 'is a file, not a folder: name a folder',
    ENOTDIR: 'is a file or below one: name a folder',
    EACCES: 'cannot be written by the user of this process: give the folder to that user, or name another',
    EPERM: 'cannot be written by the user of this process: give the folder to that user, or name another',
    EROFS: 'is on a file system that is read-only: name a folder that can be written',
    ENOENT: 'cannot be made there: name a folder that can be written',
    ENOSPC: 'is on a full disk: make room on it',
  };
  const why = what[code ?? ''] ?? `cannot be used (${code}): name another folder`;
  return new UnusableDatabase(`DATA_DIR ${dataDir} ${why}.`, { cause: error });
}

// If DATABASE_URL is lost, the note is all that tells an instance from a new one, which would let go what freezes hold.

const noteIn = (dataDir: string): string => join(dataDir, 'uses-postgresql');

/** Notes it, where the folder is there or can be made: replicas and containers may have none. */
export async function noteServer(dataDir: string, connectionString: string): Promise<void> {
  try {
    const { host, pathname } = new URL(connectionString);
    await makeFolder(dataDir);
    await writeFile(noteIn(dataDir), `${host}${pathname}\n`, { mode: 0o600 });
  } catch {
    // Without a place for it, nothing can be known later.
  }
}

/** @throws UnusableDatabase if the instance of this folder has a PostgreSQL: another database would know no freeze. */
export async function refuseWithoutServer(dataDir: string): Promise<void> {
  const note = noteIn(dataDir);
  const server = await readFile(note, 'utf8').catch(() => null);
  if (server === null) return;
  throw new UnusableDatabase(
    `DATABASE_URL is missing: this instance has its data in PostgreSQL at ${server.trim()}. Set DATABASE_URL. If you want the embedded database instead, remove ${resolve(note)}.`,
  );
}

/** Somebody fills the embedded database of this folder on purpose. */
export const forgetServer = (dataDir: string): Promise<void> => rm(noteIn(dataDir), { force: true });
