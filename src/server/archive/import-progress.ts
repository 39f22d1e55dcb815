import type { Connection } from '../../database/database.ts';
import { appliedMigrations } from '../../database/migrate.ts';
import { ArchiveRefused, type Table } from './archive-file.ts';
import { carriedTablesIn, countRows, listed, quoted } from './contents.ts';

// How far an import got. The statement that inserts a batch of rows also counts them, so an import that was interrupted
// goes on after the last one.

/** Runs statements as one transaction. */
export async function inTransaction<Result>(
  connection: Connection,
  work: () => Promise<Result>,
): Promise<Result> {
  await connection.script('BEGIN');
  try {
    const result = await work();
    await connection.script('COMMIT');
    return result;
  } catch (error) {
    await connection.script('ROLLBACK').catch(() => {});
    throw error;
  }
}

/**
 * Begins an import into an empty database, or goes on with one.
 * @param sha256 of the whole archive. @param migrations those that the database may have.
 * @returns how many of its rows, in their order, are in the database; null if an import of it is finished.
 * @throws ArchiveRefused if the database has other rows, or is of a newer version than the archive.
 */
export const beginImport = (
  connection: Connection,
  { file, sha256, migrations }: { file: string; sha256: string; migrations: ReadonlySet<string> },
): Promise<number | null> =>
  inTransaction(connection, async () => {
    // A process that was killed may still have a statement under way: this waits for it.
    await connection.script(
      `LOCK TABLE unfinished_imports, ${listed(await carriedTablesIn(connection))} IN EXCLUSIVE MODE`,
    );
    const finished = await connection.query('SELECT FROM finished_imports WHERE sha256 = $1', [sha256]);
    if (finished.rows[0]) return null;
    const { rows } = await connection.query('SELECT file, sha256, rows FROM unfinished_imports');
    const [begun] = rows as { file: string; sha256: string; rows: number }[];
    if (!begun) await refuseFilled(connection);
    else if (begun.sha256 !== sha256)
      throw new ArchiveRefused(
        `The database has a part of another export: the import of ${begun.file} is not finished. Import that file, or make a new database.`,
      );
    await refuseMigrated(connection, file, migrations);
    await connection.query(
      `INSERT INTO unfinished_imports (file, sha256) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET file = $1`,
      [file, sha256],
    );
    return begun?.rows ?? 0;
  });

/** Notes that the import is done, in the transaction that completes it. */
export const finishImport = (connection: Connection): Promise<unknown> =>
  connection.script(
    `WITH finished AS (DELETE FROM unfinished_imports RETURNING sha256)
     INSERT INTO finished_imports SELECT sha256 FROM finished`,
  );

/** @throws ArchiveRefused if migrations since the archive have run: those would not have seen its rows. */
export async function refuseMigrated(
  connection: Connection,
  file: string,
  migrations: ReadonlySet<string>,
): Promise<void> {
  const since = (await appliedMigrations(connection)).filter((name) => !migrations.has(name));
  if (since.length > 0)
    throw new ArchiveRefused(
      `The database is of a newer Holdfast than ${file}, as after a start of Holdfast on it: it has ${since[0]}. Import into a new database, before you start Holdfast on it.`,
    );
}

async function refuseFilled(connection: Connection): Promise<void> {
  for (const table of await carriedTablesIn(connection))
    if ((await countRows(connection, table)) > 0)
      throw new ArchiveRefused(
        `The database is not empty: there are rows in ${table}. Import into a new database, before you start Holdfast on it.`,
      );
}

/**
 * Inserts rows as `readRows` gives them. Columns that they lack get their defaults.
 * @param before how many rows of the archive are there already.
 * @throws ArchiveRefused if another import has inserted more.
 */
export async function insertNext(
  connection: Connection,
  { name, columns }: Table,
  rows: string[],
  before: number,
): Promise<void> {
  const { rows: answer } = await connection.query(
    `WITH reached AS (
       UPDATE unfinished_imports SET rows = rows + $3 WHERE rows = $2 RETURNING rows
     ), inserted AS (
       INSERT INTO ${quoted(name)} (${listed(columns)})
       SELECT ${listed(columns)} FROM json_populate_recordset(NULL::${quoted(name)}, $1::json)
       WHERE EXISTS (SELECT FROM reached)
     )
     SELECT count(*)::int AS count FROM reached`,
    [`[${rows.join(',')}]`, before, rows.length],
  );
  if (answer[0]!['count'] === 0)
    throw new ArchiveRefused('Another import into this database is running. Wait for it to end.');
}
