import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Config } from '../config.ts';
import { openConnection } from '../database/connect.ts';
import type { Connection } from '../database/database.ts';
import { embeddedFolder } from '../database/embedded.ts';
import { appliedMigrations, unknownMigrations } from '../database/migrate.ts';
import { aboutRepositories } from '../queue/job-table.ts';
import { ArchiveRefused } from './archive-refused.ts';
import { format, type Header, lastLine, sumOfLines, type Table, tableEnd } from './header.ts';
import { columnsOf, countRows, readRows, readSequences } from './rows.ts';
import { carried } from './tables.ts';

/**
 * Writes everything of a database that is not made anew to a file, as it is at one instant, and changes nothing. The
 * file is for its owner alone, and has its name once it is whole.
 * @param made when, and by which version. @param told is given each table when its rows are written.
 * @throws ArchiveRefused where there is no database of Holdfast, or the file exists; as `openConnection`.
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
      `There is no embedded database in ${where.dataDir}. Set DATA_DIR to its folder, or DATABASE_URL.`,
    );
  const connection = await openConnection(where);
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
  } finally {
    await connection.close();
  }
}

async function describe(
  connection: Connection,
): Promise<Pick<Header, 'migrations' | 'tables' | 'sequences' | 'unsettled'>> {
  const migrations = await appliedMigrations(connection);
  if (migrations.length === 0)
    throw new ArchiveRefused('The database is not one of Holdfast. Set DATABASE_URL or DATA_DIR to it.');
  const foreign = await unknownMigrations(migrations);
  if (foreign.length > 0)
    throw new ArchiveRefused(
      `A newer Holdfast has changed the database (${foreign.join(', ')}). Export it with that version.`,
    );
  const tables: Table[] = [];
  for (const name of carried) {
    const { rows } = await connection.query('SELECT to_regclass($1) IS NOT NULL AS "isThere"', [name]);
    // A database of an older version lacks what came later.
    if (!rows[0]!['isThere']) continue;
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
  return { migrations, tables, sequences, unsettled: await unsettledIn(connection) };
}

/** Repositories that jobs are about: jobs stay behind, so the import has these reconciled. */
async function unsettledIn(connection: Connection): Promise<string[]> {
  const { rows } = await connection.query(`SELECT to_regclass('pgboss.job') IS NOT NULL AS "isThere"`);
  if (!rows[0]!['isThere']) return [];
  const jobs = await connection.query(aboutRepositories);
  return jobs.rows.map(({ id }) => id as string);
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
