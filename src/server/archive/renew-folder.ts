// PostgreSQL opens only folders of its own major version. So a folder of an older one is exported with the older program
// and imported with the newer one, before a start. The old folder stays as it is until the new one is whole.
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { version } from '../../cli/version.ts';
import { type Clock, nowOf } from '../../time/clock.ts';
import { lockDataDir } from '../../database/data-dir-lock.ts';
import { connectLocked, embeddedFolder, majorOf } from '../../database/embedded.ts';
import { major } from '../../database/prepared-folder.ts';
import { exportFrom } from './export-database.ts';
import { importDatabase } from './import-database.ts';

/**
 * Makes the embedded database one of the PostgreSQL that this version has, if it is older. A process that is killed
 * meanwhile loses nothing: the next one begins again.
 * @throws DataDirInUse; UnfinishedImport.
 */
export async function renewFolder(
  dataDir: string,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<void> {
  const unlock = await lockDataDir(dataDir);
  try {
    const folder = embeddedFolder(dataDir);
    const workplace = join(dataDir, 'renewal');
    const old = `${folder}-old`;
    // A process was killed between the two renames below.
    if (!existsSync(folder) && existsSync(workplace)) await rename(old, folder);
    await rm(workplace, { recursive: true, force: true });
    const before = await majorOf(folder);
    if (before === null || before === major) return;

    log.info({ from: before, to: major }, 'the embedded database is being moved to a newer PostgreSQL');
    const file = join(workplace, 'export');
    await mkdir(workplace);
    const connection = await connectLocked(dataDir);
    const made = { madeAt: nowOf(clock).toISOString(), version: version() };
    await exportFrom(connection, file, made, () => {}).finally(connection.close);
    await importDatabase({ dataDir: workplace }, { file, keys: null, withoutApp: false }, () => {});
    await rm(old, { recursive: true, force: true });
    await rename(folder, old);
    await rename(embeddedFolder(workplace), folder);
    await rm(workplace, { recursive: true });
    log.info({ kept: old }, 'the embedded database was moved to a newer PostgreSQL');
  } finally {
    await unlock();
  }
}
