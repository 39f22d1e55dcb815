import { resolve } from 'node:path';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { openConnection } from '../../database/connect.ts';
import type { Connection } from '../../database/database.ts';
import { migrate, unknownMigrations } from '../../database/migrate.ts';
import type { SqlTx } from '../../database/sql.ts';
import type { SecretKeys } from '../../database/secret-key.ts';
import { type Job, taskNames } from '../../queue/jobs.ts';
import { sendJobs } from '../../queue/queue.ts';
import { openApp, type Secrets } from '../setup/app-credentials-store.ts';
import { ArchiveRefused } from './archive-refused.ts';
import { carriedTables } from './contents.ts';
import { type Header, sumOfLines, type Table } from './header.ts';
import { beginImport, checkReferences, finishImport, insertNext, inTransaction } from './import-progress.ts';
import { type Archive, readArchive } from './read-archive.ts';
import { quoted, readRows, setSequences } from './rows.ts';

export type Import = {
  file: string;
  /** Null leaves the App's credentials sealed as they are. */
  keys: SecretKeys | null;
  /** Leaves the App's sealed credentials behind. */
  withoutApp: boolean;
};

/** The table of the App's sealed credentials. */
const appTable = 'app_credentials';

/**
 * Fills an empty database from an archive. Rows are kept a batch at a time, and an import that was interrupted goes on
 * where it stopped. Until all of it is there and is compared with the archive, no service starts on the database.
 * @param told is given each table when its rows are inserted.
 * @returns how many rows there are, and how many of them an earlier import had inserted; null if one had inserted all,
 *   and nothing was changed.
 * @throws ArchiveRefused where the archive is not whole, or newer than this version, the App's credentials cannot be
 *   opened, or the database has other rows; as `openConnection`.
 */
export async function importDatabase(
  where: Config['database'],
  { file, keys, withoutApp }: Import,
  told: (table: Table) => void,
): Promise<{ rows: number; before: number } | null> {
  // The whole file first: a bad one changes nothing.
  const apps: string[] = [];
  const archive = await readArchive(file, {
    begin: refuseNewer(file),
    take: ({ name }, rows) => void (name === appTable && apps.push(...rows)),
  });
  const resealed = apps[0] && keys && !withoutApp ? openSealed(file, keys, apps[0]) : null;
  const connection = await openConnection(where);
  try {
    await migrate(connection);
    await connection.script(`SET TIME ZONE 'UTC'`);
    const before = await beginImport(connection, resolve(file), archive.sha256);
    if (before === null) return null;
    const rows = await insertAfter(connection, before, file, told);
    await connection.script(`ANALYZE ${carriedTables.map(quoted).join(', ')}`);
    await inTransaction(connection, async () => {
      await compare(connection, file, archive);
      await setSequences(connection, archive.header.sequences);
      if (withoutApp) await connection.script(`DELETE FROM ${appTable}`);
      if (resealed) await reseal(connection, resealed);
      await wake(connection, archive.header);
      await finishImport(connection);
    });
    return { rows, before };
  } finally {
    await connection.close();
  }
}

const refuseNewer =
  (file: string) =>
  async ({ migrations, tables, jobs, version }: Header) => {
    const lacking = new Set([
      ...(await unknownMigrations(migrations)),
      ...tables
        .map(({ name }) => name)
        .filter((name) => !(carriedTables as readonly string[]).includes(name)),
      ...jobs.map(({ task }) => task).filter((task) => !(taskNames as string[]).includes(task)),
    ]);
    if (lacking.size > 0)
      throw new ArchiveRefused(
        `A newer Holdfast (${version}) wrote ${file}: this version lacks ${[...lacking].join(', ')}. Import it with that version.`,
      );
  };

/** Inserts the rows that are not there yet. @returns how many rows the archive has. */
async function insertAfter(
  connection: Connection,
  before: number,
  file: string,
  told: (table: Table) => void,
): Promise<number> {
  let read = 0;
  await checkReferences(connection, false);
  await readArchive(file, {
    async take(table, rows) {
      const missing = rows.slice(Math.max(0, before - read));
      read += rows.length;
      if (missing.length > 0) await insertNext(connection, table, missing, read - missing.length);
    },
    end: told,
  });
  await checkReferences(connection, true);
  return read;
}

/** Holds what the database has now against the archive, and keeps it as it is until the transaction ends. */
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

/** Has Holdfast go on with what waited: it sends the jobs that nothing else sends, and asks for the repositories of others. */
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

/** @param row of the App, as JSON. @returns its secrets sealed anew; null where SECRET_KEY opens them as they are. */
function openSealed(file: string, keys: SecretKeys, row: string): Secrets | null {
  const { app_id, private_key, webhook_secret, client_secret } = JSON.parse(row);
  const sealed = { privateKey: private_key, webhookSecret: webhook_secret, clientSecret: client_secret };
  try {
    return openApp({ appId: BigInt(app_id), ...sealed }, keys).resealed;
  } catch {
    throw new ArchiveRefused(
      `The App’s credentials in ${file} are encrypted, and ${keys.secretKey === null ? 'SECRET_KEY is not set' : 'not with SECRET_KEY'}. ` +
        'Set SECRET_KEY to the key for the new database, and SECRET_KEY_PREVIOUS to the one that was in use where it was exported ' +
        '(on the embedded database without SECRET_KEY it is in DATA_DIR/secret-key). ' +
        'Or leave the credentials behind with --no-app, and set APP_ID, PRIVATE_KEY and WEBHOOK_SECRET.',
    );
  }
}

async function reseal(
  connection: Connection,
  { privateKey, webhookSecret, clientSecret }: Secrets,
): Promise<void> {
  await connection.query(`UPDATE ${appTable} SET private_key = $1, webhook_secret = $2, client_secret = $3`, [
    privateKey,
    webhookSecret,
    clientSecret,
  ]);
}
