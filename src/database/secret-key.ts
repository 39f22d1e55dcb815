import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The secret key of a service that has its data folder to itself: made at the first start and kept there, readable by
 * its owner alone. Call it while the folder is locked.
 * @returns 64 hexadecimal digits.
 * @throws what the file system throws, and where the file holds something else than a key.
 */
export async function keptSecretKey(dataDir: string): Promise<string> {
  const path = join(dataDir, 'secret-key');
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (kept === null) {
    const made = randomBytes(32).toString('hex');
    await writeFile(path, `${made}\n`, { mode: 0o600, flag: 'wx' });
    return made;
  }
  if (/^[0-9a-f]{64}\s*$/.test(kept)) return kept.trim();
  throw new Error(
    `${path} does not hold a key. Restore it from a backup, or delete it: everybody signs in again.`,
  );
}
