// How far an import got. Each batch of rows is kept in the statement that also says so, so an import that was
// interrupted goes on after the last one.
import type { Connection } from '../../database/database.ts';
import { ArchiveRefused } from './archive-refused.ts';
import { carriedTables } from './contents.ts';
import type { Table } from './header.ts';
import { countRows, listed, quoted } from './rows.ts';

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
 * @param sha256 of the whole archive.
 * @returns how many of its rows, in their order, are in the database; null if an import of it is finished.
 * @throws ArchiveRefused where the database has other rows.
 */
export const beginImport = (connection: Connection, file: string, sha256: string): Promise<number | null> =>
  inTransaction(connection, async () => {
    // A process that was killed may still have a statement under way: this waits for it.
    await connection.script(
      `LOCK TABLE unfinished_imports, ${carriedTables.map(quoted).join(', ')} IN EXCLUSIVE MODE`,
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
    await connection.query(
      `INSERT INTO unfinished_imports (file, sha256) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET file = $1`,
      [file, sha256],
    );
    return begun?.rows ?? 0;
  });

/** In the transaction that makes it whole. */
export const finishImport = (connection: Connection): Promise<unknown> =>
  connection.script(
    `WITH finished AS (DELETE FROM unfinished_imports RETURNING sha256)
     INSERT INTO finished_imports SELECT sha256 FROM finished`,
  );

async function refuseFilled(connection: Connection): Promise<void> {
  for (const table of carriedTables)
    if ((await countRows(connection, table)) > 0)
      throw new ArchiveRefused(
        `The database is not empty: there are rows in ${table}. Import into a new database, before you start Holdfast on it.`,
      );
}

/**
 * Inserts rows as `readRows` gives them. Columns that they lack get their defaults.
 * @param before how many rows of the archive are there already.
 * @throws ArchiveRefused where that is no longer so.
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
       SELECT ${columns.map((column) => `one.${quoted(column)}`).join(', ')}
       FROM reached, json_populate_recordset(NULL::${quoted(name)}, $1::json) AS one
     )
     SELECT count(*)::int AS count FROM reached`,
    [`[${rows.join(',')}]`, before, rows.length],
  );
  if (answer[0]!['count'] === 0)
    throw new ArchiveRefused('Another import into this database is running. Wait for it to end.');
}

/**
 * Whether PostgreSQL looks up what each inserted row refers to, which takes a third of an import's time. Only a
 * superuser can turn it off, such as that of the embedded database. The sums at the end show that every row is there.
 */
export async function checkReferences(connection: Connection, isOn: boolean): Promise<void> {
  await connection.query(
    `SELECT set_config('session_replication_role', $1, false) WHERE current_setting('is_superuser') = 'on'`,
    [isOn ? 'origin' : 'replica'],
  );
}
