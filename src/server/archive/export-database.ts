import { accessSync, constants, createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Config } from '../../config.ts';
import { openConnection } from '../../database/connect.ts';
import type { Connection } from '../../database/database.ts';
import { embeddedFolder } from '../../database/embedded.ts';
import { appliedMigrations, unknownMigrations } from '../../database/migrate.ts';
import { refuseUnfinishedImport } from '../../database/database-errors.ts';
import {
  aboutRepositories,
  formerJobs,
  jobOf,
  type TakenRow,
  waitingJobs,
} from '../../database/queue/job-table.ts';
import {
  archiveOf,
  ArchiveRefused,
  format,
  type Header,
  type Table,
  type WaitingJob,
} from './archive-file.ts';
import {
  carriedTables,
  carriedTasks,
  columnsOf,
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
  onTable: (table: Table) => void,
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
export function checkPlaces(where: Config['database'], file: string): void {
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
export async function writeWhole(file: string, write: (unfinished: string) => Promise<void>): Promise<void> {
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
  connection: Connection,
  file: string,
  made: Pick<Header, 'madeAt' | 'version'>,
  onTable: (table: Table) => void,
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
export async function migrationsOf(connection: Connection): Promise<string[]> {
  const migrations = await appliedMigrations(connection);
  if (migrations.length === 0)
    throw new ArchiveRefused('The database is not one of Holdfast: correct DATABASE_URL or DATA_DIR.');
  return migrations;
}

async function describe(connection: Connection): Promise<Omit<Header, 'format' | 'madeAt' | 'version'>> {
  const migrations = await migrationsOf(connection);
  const foreign = await unknownMigrations(migrations);
  if (foreign.length > 0)
    throw new ArchiveRefused(
      `The database was migrated by a newer Holdfast (${foreign.join(', ')}): export it with that version.`,
    );
  // A database of an older version lacks what came later.
  if (await isThere(connection, 'unfinished_imports')) await refuseUnfinishedImport(connection);
  const tables: Table[] = [];
  for (const name of carriedTables) {
    if (!(await isThere(connection, name))) continue;
    tables.push({
      name,
      columns: await columnsOf(connection, name),
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
async function waitingIn(connection: Connection): Promise<Pick<Header, 'unsettled' | 'jobs'>> {
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
      return { ...jobOf(row as TakenRow), at } as WaitingJob;
    }),
  };
}
