import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Config } from '../../config.ts';
import { openConnection } from '../../database/connect.ts';
import type { Connection } from '../../database/database.ts';
import { embeddedFolder } from '../../database/embedded.ts';
import { appliedMigrations, unknownMigrations } from '../../database/migrate.ts';
import { refuseUnfinishedImport } from '../../database/database-errors.ts';
import { aboutRepositories, formerJobs, jobOf, type TakenRow, waitingJobs } from '../../queue/job-table.ts';
import { ArchiveRefused } from './archive-refused.ts';
import { carriedTables, carriedTasks } from './contents.ts';
import {
  format,
  type Header,
  lastLine,
  sumOfLines,
  type Table,
  tableEnd,
  type WaitingJob,
} from './header.ts';
import { columnsOf, countRows, isThere, readRows, readSequences } from './rows.ts';

/**
 * Writes everything of a database that is not made anew to a file, as it is at one instant, and changes nothing. The
 * file is for its owner alone, and has its name once it is whole.
 * @param made when, and by which version. @param told is given each table when its rows are written.
 * @throws ArchiveRefused where there is no database of Holdfast, or the file exists; UnfinishedImport; as
 *   `openConnection`.
 */
export async function exportDatabase(
  where: Config['database'],
  file: string,
  made: Pick<Header, 'madeAt' | 'version'>,
  told: (table: Table) => void,
): Promise<void> {
  if (existsSync(file)) throw new ArchiveRefused(`${file} exists. Name another file.`);
  // The embedded database is made when it is opened.
  if ('dataDir' in where && !existsSync(embeddedFolder(where.dataDir)))
    throw new ArchiveRefused(
      `There is no embedded database in ${where.dataDir}: set DATA_DIR to its folder, or DATABASE_URL.`,
    );
  const connection = await openConnection(where);
  try {
    await exportFrom(connection, file, made, told);
  } finally {
    await connection.close();
  }
}

/** The same from a connection. */
export async function exportFrom(
  connection: Connection,
  file: string,
  made: Pick<Header, 'madeAt' | 'version'>,
  told: (table: Table) => void,
): Promise<void> {
  const unfinished = `${file}.unfinished`;
  try {
    await connection.script(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL TIME ZONE 'UTC'`);
    const header: Header = { format, ...made, ...(await describe(connection)) };
    await rm(unfinished, { force: true });
    const output = createWriteStream(unfinished, { mode: 0o600, flags: 'wx', flush: true });
    await pipeline(Readable.from(linesOf(connection, header, told)), createGzip({ level: 5 }), output);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function describe(connection: Connection): Promise<Omit<Header, 'format' | 'madeAt' | 'version'>> {
  const migrations = await appliedMigrations(connection);
  if (migrations.length === 0)
    throw new ArchiveRefused('The database is not one of Holdfast: correct DATABASE_URL or DATA_DIR.');
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

async function* linesOf(
  connection: Connection,
  header: Header,
  told: (table: Table) => void,
): AsyncGenerator<string> {
  const all = sumOfLines();
  const written = (lines: string[]): string => {
    all.add(lines);
    return `${lines.join('\n')}\n`;
  };
  yield written([JSON.stringify(header)]);
  for (const table of header.tables) {
    const sum = sumOfLines();
    for await (const rows of readRows(connection, table.name, table.columns)) {
      sum.add(rows);
      yield written(rows);
    }
    yield written([tableEnd(table.name, sum.sha256())]);
    told(table);
  }
  yield `${lastLine(all.sha256())}\n`;
}
