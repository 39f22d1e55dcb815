import { join, resolve } from 'node:path';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import { type Clock, nowOf, systemClock } from '../../time/clock.ts';
import type { Config } from '../../config.ts';
import { openConnection } from '../../database/connect.ts';
import type { Connection } from '../../database/database.ts';
import { migrate, unknownMigrations } from '../../database/migrate.ts';
import type { SqlTx } from '../../database/sql.ts';
import type { SecretKeys } from '../../database/secret-key.ts';
import { type Job, taskNames } from '../../database/queue/jobs.ts';
import { sendJobs } from '../../database/queue/queue.ts';
import { openApp, type Secrets } from '../../github/app-credentials-store.ts';
import {
  type Archive,
  ArchiveRefused,
  type Header,
  readArchive,
  sumOfLines,
  type Table,
} from './archive-file.ts';
import { carriedTables, countRows, listed, quoted, readRows, setSequences } from './contents.ts';
import { version } from '../../cli/version.ts';
import { connectLocked, embeddedFolder, lockDataDir, major, majorOf } from '../../database/embedded.ts';
import { exportFrom } from './export-database.ts';

export type Import = {
  file: string;
  /** Null leaves the App's credentials sealed as they are. */
  keys: SecretKeys | null;
  withoutApp: boolean;
};

const appTable = 'app_credentials';

/**
 * Fills an empty database from an archive. Saves a batch of rows at a time, and an import that was interrupted goes on
 * where it stopped. Until all of it is there and is compared with the archive, no service starts on the database.
 * @param onTable is called when the rows of a table are inserted.
 * @returns how many rows there are, and how many of them an earlier import had inserted; null if one had inserted all,
 *   and nothing was changed.
 * @throws ArchiveRefused if the archive is not whole, or newer than this version, the App's credentials cannot be
 *   opened, or the database has other rows; like `openConnection`.
 */
export async function importDatabase(
  where: Config['database'],
  { file, keys, withoutApp }: Import,
  onTable: (table: Table) => void,
): Promise<{ rows: number; before: number } | null> {
  // The whole file first: a bad one changes nothing.
  const apps: string[] = [];
  const archive = await readArchive(file, {
    begin: (header) => refuseNewer(file, header),
    take: ({ name }, rows) => void (name === appTable && apps.push(...rows)),
  });
  const resealed = keys && !withoutApp ? apps.flatMap((app) => openSealed(file, keys, app) ?? []) : [];
  const connection = await openConnection(where);
  try {
    await migrate(connection);
    await connection.script(`SET TIME ZONE 'UTC'`);
    const before = await beginImport(connection, resolve(file), archive.sha256);
    if (before === null) return null;
    const rows = await insertAfter(connection, before, file, onTable);
    await connection.script(`ANALYZE ${carriedTables.map(quoted).join(', ')}`);
    await inTransaction(connection, async () => {
      await compare(connection, file, archive);
      await setSequences(connection, archive.header.sequences);
      if (withoutApp) await connection.script(`DELETE FROM ${appTable}`);
      for (const { appId, privateKey, webhookSecret, clientSecret } of resealed)
        await connection.query(
          `UPDATE ${appTable} SET private_key = $1, webhook_secret = $2, client_secret = $3 WHERE app_id = $4`,
          [privateKey, webhookSecret, clientSecret, appId],
        );
      await wake(connection, archive.header);
      await finishImport(connection);
    });
    return { rows, before };
  } finally {
    await connection.close();
  }
}

async function refuseNewer(file: string, { migrations, tables, jobs, version }: Header): Promise<void> {
  const known = new Set<string>([...carriedTables, ...taskNames]);
  const used = [...tables.map(({ name }) => name), ...jobs.map(({ task }) => task)];
  const lacking = [
    ...(await unknownMigrations(migrations)),
    ...new Set(used.filter((name) => !known.has(name))),
  ];
  if (lacking.length > 0)
    throw new ArchiveRefused(
      `A newer Holdfast (${version}) wrote ${file}: this version lacks ${lacking.join(', ')}. Import it with that version.`,
    );
}

/** Inserts the rows that are not there yet. @returns how many rows the archive has. */
async function insertAfter(
  connection: Connection,
  before: number,
  file: string,
  onTable: (table: Table) => void,
): Promise<number> {
  let read = 0;
  await checkReferences(connection, false);
  await readArchive(file, {
    async take(table, rows) {
      const missing = rows.slice(Math.max(0, before - read));
      read += rows.length;
      if (missing.length > 0) await insertNext(connection, table, missing, read - missing.length);
    },
    end: onTable,
  });
  await checkReferences(connection, true);
  return read;
}

/** Compares the database with the archive. Nobody else can change the tables until the transaction ends. */
async function compare(connection: Connection, file: string, { header, sums }: Archive): Promise<void> {
  await connection.script(`LOCK TABLE ${carriedTables.map(quoted).join(', ')} IN EXCLUSIVE MODE`);
  for (const { name, columns } of header.tables) {
    const sum = sumOfLines();
    for await (const rows of readRows(connection, name, columns)) sum.add(rows);
    if (sum.sha256() !== sums.get(name))
      throw new ArchiveRefused(
        `The rows of ${name} are not the same in the database as in ${file}. Holdfast does not start on this database. Remove what changes rows in it, such as a trigger, and import into a new one.`,
      );
  }
}

/** Sends the jobs that nothing else sends again, and requests a reconciliation of the repositories of all others. */
async function wake(connection: Connection, { jobs, unsettled, madeAt }: Header): Promise<void> {
  const sql: SqlTx = {
    query: async (_name, text, values) => (await connection.query(text, values)).rows as never,
  };
  const sent = jobs.map((job) => ({ ...job, at: new Date(job.at) }) as Job);
  await sendJobs(sql, sent, systemClock.now());
  await connection.query(
    `UPDATE repositories SET reconcile_requested_at = coalesce(reconcile_requested_at, $2::timestamptz)
     WHERE id = ANY ($1::bigint[])`,
    [unsettled, madeAt],
  );
}

/** @param row of the App, as JSON. @returns its secrets sealed anew; null if SECRET_KEY opens them as they are. */
function openSealed(file: string, keys: SecretKeys, row: string): (Secrets & { appId: string }) | null {
  const { app_id, private_key, webhook_secret, client_secret } = JSON.parse(row);
  const sealed = { privateKey: private_key, webhookSecret: webhook_secret, clientSecret: client_secret };
  try {
    const { resealed } = openApp({ appId: BigInt(app_id), ...sealed }, keys);
    return resealed && { appId: String(app_id), ...resealed };
  } catch {
    throw new ArchiveRefused(
      `The App’s credentials in ${file} are encrypted, and ${keys.secretKey === null ? 'SECRET_KEY is not set' : 'not with SECRET_KEY'}. ` +
        'Set SECRET_KEY to the key for the new database, and SECRET_KEY_PREVIOUS to the one that was in use where it was exported ' +
        '(on the embedded database without SECRET_KEY it is in DATA_DIR/secret-key). ' +
        'Or leave the credentials behind with --no-app, and set APP_ID, PRIVATE_KEY and WEBHOOK_SECRET.',
    );
  }
}

// How far an import got. The statement that inserts a batch of rows also counts them, so an import that was interrupted
// goes on after the last one.

/** Runs statements as one transaction. */
async function inTransaction<Result>(connection: Connection, work: () => Promise<Result>): Promise<Result> {
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
 * @throws ArchiveRefused if the database has other rows.
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

/** Notes that the import is done, in the transaction that completes it. */
const finishImport = (connection: Connection): Promise<unknown> =>
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

/**
 * Whether PostgreSQL looks up what each inserted row refers to, which takes a third of an import's time. Only a
 * superuser can turn it off, such as that of the embedded database. The sums at the end show that every row is there.
 */
async function checkReferences(connection: Connection, isOn: boolean): Promise<void> {
  await connection.query(
    `SELECT set_config('session_replication_role', $1, false) WHERE current_setting('is_superuser') = 'on'`,
    [isOn ? 'origin' : 'replica'],
  );
}

// PostgreSQL opens only folders of its own major version. So a folder of an older one is exported with the older program
// and imported with the newer one, before a start. The old folder stays as it is until the new one is whole.

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
