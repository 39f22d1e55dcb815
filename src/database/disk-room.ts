import { statfs } from 'node:fs/promises';
import { UnusableDatabase } from './database-errors.ts';
import { kindOf } from './trouble.ts';

/** Bytes that a checkpoint may need. Without them PostgreSQL stops, and with it the process. */
const room = 64 * 1024 * 1024;

/** Whether the disk of the embedded database has room for a checkpoint. */
export async function hasRoom(dataDir: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize >= room;
}

/** The error to throw for a start that failed. On a full disk, PostgreSQL may only say that it stopped. */
export async function explainDisk(error: unknown, dataDir: string): Promise<unknown> {
  if (kindOf(error) !== 'full' && (await hasRoom(dataDir))) return error;
  return new UnusableDatabase(
    `The embedded database cannot start, because the disk of DATA_DIR ${dataDir} is full: make room on it, 64 MiB or more, and start again. What is saved is not lost.`,
    { cause: error },
  );
}
