import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import { type Clock, nowOf, systemClock } from '../../time/clock.ts';
import type { Config } from '../../config.ts';
import { openConnection } from '../../database/connect.ts';
import type { SqlConnection } from '../../database/database.ts';
import { refuseUnfinishedImport } from '../../database/database-errors.ts';
import {
  appliedMigrations,
  lockMigrations,
  migrateWithin,
  readMigrations,
  unknownMigrations,
} from '../../database/migrate.ts';
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
  type ArchiveTable,
} from './archive-file.ts';
import {
  carriedTables,
  carriedTablesIn,
  countRows,
  insertRows,
  isThere,
  listedColumns,
  readRows,
  setSequences,
} from './contents.ts';
import { version } from '../../cli/version.ts';
import { lockDataDir } from '../../database/data-folder-lock.ts';
import { connectLocked, embeddedFolder, major, majorOf } from '../../database/embedded.ts';
import { exportFrom } from './export-database.ts';

export type Import = {
  file: string;
  /** Null leaves the App's credentials sealed as they are. */
  keys: SecretKeys | null;
  withoutApp: boolean;
};

const appTable = 'app_credentials';

/**
 * Fills an empty database from an archive, in one transaction: an import that is interrupted changes nothing.
 * The rows go into the tables of their own version, and then the migrations since change both: what a migration makes of
 * rows, it makes of those of an archive too.
 * @param onTable is called when the rows of a table are inserted.
 * @returns false if the database has the archive already, and nothing was changed.
 * @throws ArchiveRefused if the archive is not whole, or newer than this version, the App's credentials cannot be
 *   opened, or the database has other rows; UnfinishedImport; like `openConnection`.
 */
export async function importDatabase(
  where: Config['database'],
  { file, keys, withoutApp }: Import,
  onTable: (table: ArchiveTable) => void,
): Promise<boolean> {
  // The whole file first: a bad one opens no database.
  const apps: string[] = [];
  const archive = await readArchive(file, {
    begin: (header) => refuseNewer(file, header),
    take: ({ name }, rows) => void (name === appTable && apps.push(...rows)),
  });
  const resealed = keys && !withoutApp ? apps.flatMap((app) => openSealed(file, keys, app) ?? []) : [];
  const migrations = new Set(archive.header.migrations);
  const isOlder = (await readMigrations()).some(({ name }) => !migrations.has(name));
  const connection = await openConnection(where, isOlder);
  try {
    await connection.script(`SET TIME ZONE 'UTC'`);
    return await inTransaction(connection, async () => {
      await lockMigrations(connection);
      if (await isImported(connection, archive)) return false;
      await refuseUnfinishedImport(connection);
      await migrateWithin(connection, migrations);
      await refuseMigrated(connection, file, migrations);
      const tables = listedColumns(await carriedTablesIn(connection));
      // Nobody else can change them until the transaction ends.
      await connection.script(`LOCK TABLE ${tables} IN EXCLUSIVE MODE`);
      await refuseFilled(connection);
      await insertAll(connection, file, onTable);
      await connection.script(`ANALYZE ${tables}`);
      await compare(connection, file, archive);
      await setSequences(connection, archive.header.sequences);
      await migrateWithin(connection);
      if (withoutApp) await connection.script(`DELETE FROM ${appTable}`);
      for (const { appId, privateKey, webhookSecret, clientSecret } of resealed)
        await connection.query(
          `UPDATE ${appTable} SET private_key = $1, webhook_secret = $2, client_secret = $3 WHERE app_id = $4`,
          [privateKey, webhookSecret, clientSecret, appId],
        );
      await wake(connection, archive.header);
      await connection.query('INSERT INTO finished_imports (sha256) VALUES ($1)', [archive.sha256]);
      return true;
    });
  } finally {
    await connection.close();
  }
}

/** Runs statements as one transaction. */
async function inTransaction<Result>(
  connection: SqlConnection,
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

async function isImported(connection: SqlConnection, { sha256 }: Archive): Promise<boolean> {
  if (!(await isThere(connection, 'public.finished_imports'))) return false;
  const { rows } = await connection.query('SELECT FROM finished_imports WHERE sha256 = $1', [sha256]);
  return rows.length > 0;
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

/** @throws ArchiveRefused if migrations since the archive have run: those would not have seen its rows. */
async function refuseMigrated(
  connection: SqlConnection,
  file: string,
  migrations: ReadonlySet<string>,
): Promise<void> {
  const since = (await appliedMigrations(connection)).filter((name) => !migrations.has(name));
  if (since.length > 0)
    throw new ArchiveRefused(
      `The database is of a newer Holdfast than ${file}, as after a start of Holdfast on it: it has ${since[0]}. Import into a new database, before you start Holdfast on it.`,
    );
}

async function refuseFilled(connection: SqlConnection): Promise<void> {
  for (const table of await carriedTablesIn(connection))
    if ((await countRows(connection, table)) > 0)
      throw new ArchiveRefused(
        `The database is not empty: there are rows in ${table}. Import into a new database, before you start Holdfast on it.`,
      );
}

async function insertAll(
  connection: SqlConnection,
  file: string,
  onTable: (table: ArchiveTable) => void,
): Promise<void> {
  await checkReferences(connection, false);
  await readArchive(file, { take: (table, rows) => insertRows(connection, table, rows), end: onTable });
  await checkReferences(connection, true);
}

/** Compares the database with the archive. */
async function compare(connection: SqlConnection, file: string, { header, sums }: Archive): Promise<void> {
  for (const { name, columns } of header.tables) {
    const sum = sumOfLines();
    for await (const rows of readRows(connection, name, columns)) sum.add(rows);
    if (sum.sha256() !== sums.get(name))
      throw new ArchiveRefused(
        `The rows of ${name} are not the same in the database as in ${file}, so nothing was imported. Remove what changes rows in it, such as a trigger, and import again.`,
      );
  }
}

/** Sends the jobs that nothing else sends again, and requests a reconciliation of the repositories of all others. */
async function wake(connection: SqlConnection, { jobs, unsettled, madeAt }: Header): Promise<void> {
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

/**
 * Whether PostgreSQL looks up what each inserted row refers to, which takes a third of an import's time. Only a
 * superuser can turn it off, such as that of the embedded database. The sums at the end show that every row is there.
 */
async function checkReferences(connection: SqlConnection, isOn: boolean): Promise<void> {
  await connection.query(
    `SELECT set_config('session_replication_role', $1, true) WHERE current_setting('is_superuser') = 'on'`,
    [isOn ? 'origin' : 'replica'],
  );
}

// PostgreSQL opens only folders of its own major version. So a folder of an older one is exported with the older program
// and imported with the newer one, before a start. The old folder stays as it is until the new one is whole.

/**
 * Makes the embedded database one of the PostgreSQL that this version has, if it is older. A process that is killed
 * meanwhile loses nothing: the next one begins again.
 * @param beforeMove is called if it is older.
 * @throws DataDirInUse; UnfinishedImport.
 */
export async function renewFolder(
  dataDir: string,
  { clock, log, beforeMove }: { clock: Clock; log: Logger; beforeMove?: () => Promise<unknown> },
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

    await beforeMove?.();
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
