// A backup is restored as it was, by programs that everybody has. An export is not enough: it leaves the secret key and
// most jobs behind. So the folder of the embedded database is copied, and PostgreSQL is left to pg_dump.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Config } from '../../config.ts';
import { openConnection } from '../../database/connect.ts';
import { lockDataDir } from '../../database/data-dir-lock.ts';
import type { Connection } from '../../database/database.ts';
import { ArchiveRefused, type Header, type Table } from './archive-file.ts';
import { checkPlaces, exportFrom, migrationsOf, writeWhole } from './export-database.ts';

type Environment = Partial<Record<string, string>>;

/** What was written, and the command that restores it. */
type Backup = { how: string; restoreWith: 'tar' | 'pg_restore' | 'holdfast db import' };

/**
 * Writes a backup of a database to a file that only its owner can read. The file gets its name when it is complete.
 * @param environment of this process. @param made when, and by which version.
 * @param onTable is called when the rows of a table are written, if the backup is an export.
 * @throws ArchiveRefused if the backup cannot be written, or there is no database of Holdfast; DataDirInUse; like
 *   `openConnection`.
 */
export async function backUp(
  where: Config['database'],
  file: string,
  environment: Environment,
  made: Pick<Header, 'madeAt' | 'version'>,
  onTable: (table: Table) => void,
): Promise<Backup> {
  checkPlaces(where, file);
  if ('dataDir' in where) {
    await copyFolder(where.dataDir, file, environment);
    return { how: `Backed up the embedded database in ${where.dataDir} to ${file}.`, restoreWith: 'tar' };
  }
  const env = { ...environment, ...addressFor(where.connectionString) };
  const connection = await openConnection(where);
  try {
    await migrationsOf(connection);
    const whyNot = await whyNoDump(connection, env);
    if (whyNot === null) {
      // It asks nobody for a password.
      await writeOutput(file, 'pg_dump', ['--format=custom', '--no-password'], { env });
      return { how: `Backed up PostgreSQL to ${file} with pg_dump.`, restoreWith: 'pg_restore' };
    }
    await exportFrom(connection, file, made, onTable);
    return { how: `${whyNot}, so PostgreSQL was exported to ${file}.`, restoreWith: 'holdfast db import' };
  } finally {
    await connection.close();
  }
}

/** Nobody changes the files meanwhile. Does not open the database, so that no file comes to belong to root. */
async function copyFolder(dataDir: string, file: string, env: Environment): Promise<void> {
  const unlock = await lockDataDir(dataDir);
  try {
    const names = ['postgres', 'secret-key'].filter((name) => existsSync(join(dataDir, name)));
    await writeOutput(file, 'tar', ['-chzf', '-', ...names], { cwd: dataDir, env });
  } finally {
    await unlock();
  }
}

/** Runs a program whose output becomes the file. @throws ArchiveRefused with what it says if it fails. */
const writeOutput = (
  file: string,
  program: string,
  args: string[],
  options: { cwd?: string; env: Environment },
): Promise<void> =>
  writeWhole(file, async (unfinished) => {
    const output = await open(unfinished, 'wx', 0o600);
    const child = spawn(program, args, { ...options, stdio: ['ignore', output.fd, 'pipe'] });
    // Who interrupts this process ends the program, and then what is there of the file goes.
    const end = () => void child.kill();
    for (const signal of signals) process.on(signal, end);
    try {
      const [[code], said] = await Promise.all([once(child, 'close'), text(child.stderr!)]);
      if (code !== 0)
        throw new ArchiveRefused(
          `${program} failed, and nothing is backed up: ${said.trim() || 'it was interrupted'}`,
        );
      await output.sync();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new ArchiveRefused(`There is no ${program} on the PATH. Install it.`);
    } finally {
      for (const signal of signals) process.off(signal, end);
      await output.close();
    }
  });

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Why pg_dump cannot back up a server; null if it can. It reads no server that is newer than itself. */
async function whyNoDump(connection: Connection, env: Environment): Promise<string | null> {
  const dump = await promisify(execFile)('pg_dump', ['--version'], { env }).catch(() => null);
  if (!dump) return 'There is no pg_dump on the PATH';
  const version = Number(/ (\d+)/.exec(dump.stdout)?.[1]);
  const { rows } = await connection.query('SHOW server_version_num');
  const needed = Math.floor(Number(rows[0]!['server_version_num']) / 10_000);
  return version >= needed ? null : `pg_dump is of PostgreSQL ${version}, and the server of ${needed}`;
}

/** Where a database is, as PostgreSQL's own programs read it: everybody on the machine can see a command line. */
function addressFor(connectionString: string): Environment {
  const { host, port, user, database, password } = new pg.Client({ connectionString });
  const { searchParams } = new URL(connectionString);
  const given = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'options'].flatMap((name) => {
    const value = searchParams.get(name);
    // Only Node's driver has a mode `no-verify`.
    return value ? [[`PG${name.toUpperCase()}`, value === 'no-verify' ? 'require' : value]] : [];
  });
  return {
    ...{ PGHOST: host, PGPORT: String(port), PGUSER: user, PGDATABASE: database },
    ...(password && { PGPASSWORD: password }),
    ...Object.fromEntries(given),
  };
}
