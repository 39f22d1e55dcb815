import { accessSync, constants, createWriteStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Config } from '../../config.ts';
import { openConnection } from '../../database/connect.ts';
import type { SqlConnection } from '../../database/database.ts';
import { lockDataDir } from '../../database/data-folder-lock.ts';
import { embeddedFolder } from '../../database/embedded.ts';
import { appliedMigrations, unknownMigrations } from '../../database/migrate.ts';
import { refuseUnfinishedImport } from '../../database/database-errors.ts';
import {
  aboutRepositories,
  formerJobs,
  jobOfRow,
  type TakenRow,
  waitingJobs,
} from '../../database/queue/queue.ts';
import {
  archiveOf,
  ArchiveRefused,
  format,
  type Header,
  type ArchiveTable,
  type WaitingJob,
} from './archive-file.ts';
import {
  carriedTablesIn,
  carriedTasks,
  columnsOfTable,
  countRows,
  isThere,
  readRows,
  readSequences,
} from './contents.ts';

/**
 * Writes a database to a file, as it is at one instant, except what Holdfast makes anew. Changes nothing. Only the owner
 * can read the file. It gets its name when it is complete.
 * @param made when, and by which version. @param onTable is called when the rows of a table are written.
 * @throws ArchiveRefused if there is no database of Holdfast, or the file exists; UnfinishedImport; like
 *   `openConnection`.
 */
export async function exportDatabase(
  where: Config['database'],
  file: string,
  made: Pick<Header, 'madeAt' | 'version'>,
  onTable: (table: ArchiveTable) => void,
): Promise<void> {
  checkPlaces(where, file);
  const connection = await openConnection(where);
  try {
    await exportFrom(connection, file, made, onTable);
  } finally {
    await connection.close();
  }
}

/** @throws ArchiveRefused if the file exists or cannot be written, or there is no embedded database. */
function checkPlaces(where: Config['database'], file: string): void {
  if (existsSync(file)) throw new ArchiveRefused(`${file} exists. Name another file.`);
  try {
    accessSync(dirname(file), constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ArchiveRefused(
      `${file} cannot be written (${code}). Name a file in a folder that this account can write to.`,
    );
  }
  // The embedded database is made when it is opened.
  if ('dataDir' in where && !existsSync(embeddedFolder(where.dataDir)))
    throw new ArchiveRefused(
      `There is no embedded database in ${where.dataDir}: set DATA_DIR to its folder, or DATABASE_URL.`,
    );
}

/** Writes a file that gets its name when it is complete. @param write makes the file that it is given. */
async function writeWhole(file: string, write: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = `${file}.unfinished`;
  try {
    await rm(unfinished, { force: true });
    await write(unfinished);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** The same from a connection. */
export async function exportFrom(
  connection: SqlConnection,
  file: string,
  made: Pick<Header, 'madeAt' | 'version'>,
  onTable: (table: ArchiveTable) => void,
): Promise<void> {
  await connection.script(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL TIME ZONE 'UTC'`);
  const header: Header = { format, ...made, ...(await describe(connection)) };
  await writeWhole(file, async (unfinished) => {
    const output = createWriteStream(unfinished, { mode: 0o600, flags: 'wx', flush: true });
    const content = archiveOf(header, ({ name, columns }) => readRows(connection, name, columns), onTable);
    await pipeline(Readable.from(content), createGzip({ level: 5 }), output);
  });
}

/** The migrations that a database had. @throws ArchiveRefused if it had none. */
async function migrationsOf(connection: SqlConnection): Promise<string[]> {
  const migrations = await appliedMigrations(connection);
  if (migrations.length === 0)
    throw new ArchiveRefused('The database is not one of Holdfast: correct DATABASE_URL or DATA_DIR.');
  return migrations;
}

async function describe(connection: SqlConnection): Promise<Omit<Header, 'format' | 'madeAt' | 'version'>> {
  const migrations = await migrationsOf(connection);
  const foreign = await unknownMigrations(migrations);
  if (foreign.length > 0)
    throw new ArchiveRefused(
      `The database was migrated by a newer Holdfast (${foreign.join(', ')}): export it with that version.`,
    );
  await refuseUnfinishedImport(connection);
  const tables: ArchiveTable[] = [];
  for (const name of await carriedTablesIn(connection)) {
    tables.push({
      name,
      columns: await columnsOfTable(connection, name),
      rows: await countRows(connection, name),
    });
  }
  const sequences = await readSequences(
    connection,
    tables.map(({ name }) => name),
  );
  return { migrations, tables, sequences, ...(await waitingIn(connection)) };
}

/** Jobs that go along, and repositories that jobs are about: most stay behind, so the import has these reconciled. */
async function waitingIn(connection: SqlConnection): Promise<Pick<Header, 'unsettled' | 'jobs'>> {
  let table: string | undefined;
  if (!(await isThere(connection, 'jobs'))) {
    // Before its first start a service of those versions has no queue.
    if (!(await isThere(connection, 'pgboss.job'))) return { unsettled: [], jobs: [] };
    table = formerJobs;
  }
  const unsettled = await connection.query(aboutRepositories(table));
  const waiting = await connection.query(waitingJobs(table), [carriedTasks]);
  return {
    unsettled: unsettled.rows.map(({ id }) => id as string),
    jobs: waiting.rows.map((row) => {
      const at = (row['due'] as Date).toISOString();
      const { turn: _, ...job } = jobOfRow(row as TakenRow);
      return { ...job, at } as WaitingJob;
    }),
  };
}

// A backup is restored as it was, by programs that everybody has. An export is not enough: it leaves the secret key and
// most jobs behind. So the folder of the embedded database is copied, and PostgreSQL is left to pg_dump.

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
  onTable: (table: ArchiveTable) => void,
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
    // Who interrupts this process ends the program, and then what is there of the file goes.
    const end = () => void child.kill();
    for (const signal of signals) process.on(signal, end);
    const child = spawn(program, args, { ...options, stdio: ['ignore', output.fd, 'pipe'] });
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
async function whyNoDump(connection: SqlConnection, env: Environment): Promise<string | null> {
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
