import { setFlagsFromString } from 'node:v8';
import { type CommandCall, command, type CommandSpec } from '../../cli/command.ts';
import { type ExitCode, misused, refusedBy } from '../../cli/stop.ts';
import { version } from '../../cli/version.ts';
import { ConfigError, readConfig, readEnvironment, type StartConfig } from '../../config.ts';
import { DataDirInUse, UnfinishedImport, UnusableDatabase } from '../../database/database-errors.ts';
import { forgetServer } from '../../database/data-folder.ts';
import { readSecretKey } from '../setup/secret-key.ts';
import { ArchiveRefused, type ArchiveTable } from './archive-file.ts';
import { backUp, exportDatabase } from './export-database.ts';
import { importDatabase } from './import-database.ts';

const settingsNote = `Run it in the folder of the service: it reads the same settings, from the environment and .env, and takes the
database that they name.`;

const exportCommand = command<object, [file: string]>({
  usage: 'export <file>',
  summary: 'write everything of the database to a file, to import it into another one',
  examples: [
    [
      'npx --no-install holdfast db export holdfast.export',
      'The database that the settings name; stop Holdfast first',
    ],
  ],
  notes: `${settingsNote} The embedded database is closed to others while Holdfast runs. A PostgreSQL
can be exported at any time, as it is at that instant; changes that come later are not in the file.
The App's credentials stay encrypted. Somebody who has the file and SECRET_KEY can act as the App: keep it
like a password.`,
  run: (call, _options, file) =>
    carry(call, file, async ({ database }, onTable) => {
      await exportDatabase(database, file, madeBy(call), onTable);
      return [`Exported to ${file}.`];
    }),
});

const backupCommand = command<object, [file: string]>({
  usage: 'backup <file>',
  summary: 'write a backup of the database to a file, to restore it as it was',
  examples: [
    [
      'npx --no-install holdfast db backup holdfast.backup',
      'The database that the settings name; stop Holdfast first, unless that is PostgreSQL',
    ],
  ],
  notes: `${settingsNote}
The embedded database is closed to others while Holdfast runs. Its backup is a tar file of the folder, with the secret
key that is there. PostgreSQL is backed up at any time by pg_dump, in its custom format. If there is no pg_dump on the
PATH, or an older one than the server, the backup is a file as db export writes it. The output says how to restore it.
Only the owner can read the file. Keep it like a password.`,
  run: (call, _options, file) =>
    carry(call, file, async ({ database }, onTable) => {
      const { how, restoreWith } = await backUp(database, file, readEnvironment(), madeBy(call), onTable);
      return [`${how} Restore it with ${restoreWith}.`, { restore_with: restoreWith }];
    }),
});

const madeBy = ({ world }: CommandCall) => ({
  madeAt: new Date(world.now()).toISOString(),
  version: version(),
});

const importCommand = command<{ app: boolean }, [file: string]>({
  usage: 'import <file>',
  summary: 'fill a new, empty database from a file that db export wrote',
  options: [['--no-app', "leave the App's credentials behind: they are in the environment"]],
  examples: [
    [
      'DATABASE_URL=postgres://… npx --no-install holdfast db import holdfast.export',
      'Into a new PostgreSQL; then start Holdfast with the same settings',
    ],
  ],
  notes: `${settingsNote} If it is interrupted, nothing was changed: run it again.
Where SECRET_KEY differs from that of the exported service, set SECRET_KEY_PREVIOUS to the key from there.`,
  run: (call, { app }, file) =>
    carry(call, file, async (config, onTable) => {
      const secretKey = await readSecretKey(config);
      const keys = { secretKey, secretKeyPrevious: config.secretKeyPrevious };
      if ('dataDir' in config.database) await forgetServer(config.database.dataDir);
      const isNew = await importDatabase(config.database, { file, keys, withoutApp: !app }, onTable);
      if (!isNew) return [`${file} was imported into this database before, and nothing was changed.`];
      return [`Imported from ${file}. Start Holdfast with the same settings.`];
    }),
});

const counted = (rows: number): string => rows.toLocaleString('en-US');

/** Reports what was done and how many rows were moved, or what to do if they cannot be. */
async function carry(
  { output }: CommandCall,
  file: string,
  work: (
    config: StartConfig,
    onTable: (table: ArchiveTable) => void,
  ) => Promise<[done: string, more?: object]>,
): Promise<ExitCode | undefined> {
  // The files of the embedded database are for this account alone.
  process.umask(0o077);
  // Rows pass through and are gone at once. V8 would make ever more room for them: 160 MiB, and nothing is faster.
  setFlagsFromString('--semi-space-growth-factor=1');
  const tables: Record<string, number> = {};
  const onTable = ({ name, rows }: ArchiveTable) => {
    tables[name] = rows;
    if (rows > 0) output.note(`${name}: ${counted(rows)}`);
  };
  try {
    const [done, more] = await work(readConfig(readEnvironment()), onTable);
    output.line(done);
    output.json({ file, tables, ...more });
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) throw misused(error.message);
    if (error instanceof DataDirInUse) throw refusedBy(`Stop Holdfast first. ${error.message}`);
    const known = [ArchiveRefused, UnusableDatabase, UnfinishedImport];
    if (known.some((kind) => error instanceof kind)) throw refusedBy((error as Error).message);
    throw error;
  }
}

export const db: CommandSpec = {
  usage: 'db',
  summary: 'back up the database, or carry everything to another one',
  below: [backupCommand, exportCommand, importCommand],
};
