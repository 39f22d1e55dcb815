import type { Config } from '../config.ts';
import { openConnection } from '../database/connect.ts';
import type { Connection } from '../database/database.ts';
import { migrate, unknownMigrations } from '../database/migrate.ts';
import type { SecretKeys } from '../derive-key.ts';
import { openApp, type Secrets } from '../setup/app-credentials-store.ts';
import { ArchiveRefused } from './archive-refused.ts';
import { type Header, sumOfLines, type Table } from './header.ts';
import { readArchive } from './read-archive.ts';
import { countRows, insertRows, readRows, setSequences } from './rows.ts';
import { carried } from './tables.ts';

export type Import = {
  file: string;
  keys: SecretKeys;
  /** Leaves the App's sealed credentials behind. */
  withoutApp: boolean;
};

/** The table of the App's sealed credentials. */
const appTable = 'app_credentials';

/**
 * Fills an empty database from an archive, in one transaction: all of it is there, or nothing. So an import that was
 * interrupted begins again, and nothing comes twice.
 * @param told is given each table when its rows are inserted and are those of the archive.
 * @throws ArchiveRefused where the archive is not whole, or newer than this version, the App's credentials cannot be
 *   opened, or the database is not empty; as `openConnection`.
 */
export async function importDatabase(
  where: Config['database'],
  { file, keys, withoutApp }: Import,
  told: (table: Table) => void,
): Promise<void> {
  const takes = ({ name }: Table) => !(withoutApp && name === appTable);
  let resealed: Secrets | null = null;
  // The whole file first: a bad one changes nothing.
  const openKept = ({ name }: Table, rows: string[]) => {
    if (name === appTable && !withoutApp) resealed = openSealed(file, keys, rows[0]!);
  };
  await readArchive(file, openKept, refuseNewer(file));
  const connection = await openConnection(where);
  try {
    await migrate(connection);
    await connection.script(`BEGIN; SET LOCAL TIME ZONE 'UTC'`);
    await connection.script(`LOCK TABLE ${carried.join(', ')} IN EXCLUSIVE MODE`);
    await refuseFilled(connection);
    const { tables, sequences, unsettled, madeAt } = await insertAll(connection, file, takes, told);
    await setSequences(connection, sequences);
    if (resealed) await reseal(connection, resealed);
    await connection.query(
      `UPDATE repositories SET reconcile_requested_at = coalesce(reconcile_requested_at, $2::timestamptz)
       WHERE id = ANY ($1::bigint[])`,
      [unsettled, madeAt],
    );
    await connection.script('COMMIT');
    await connection.script(`ANALYZE ${tables.map(({ name }) => name).join(', ')}`);
  } catch (error) {
    await connection.script('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    await connection.close();
  }
}

const refuseNewer = (file: string) => async (header: Header) => {
  const foreign = await unknownMigrations(header.migrations);
  if (foreign.length > 0)
    throw new ArchiveRefused(
      `A newer Holdfast (${header.version}) wrote ${file}: this version lacks ${foreign.join(', ')}. Import it with that version.`,
    );
};

async function refuseFilled(connection: Connection): Promise<void> {
  for (const table of carried)
    if ((await countRows(connection, table)) > 0)
      throw new ArchiveRefused(
        `The database is not empty: there are rows in ${table}. Import into a new database, before you start Holdfast on it.`,
      );
}

/** Inserts the rows and holds what the database then has against the archive. */
async function insertAll(
  connection: Connection,
  file: string,
  takes: (table: Table) => boolean,
  told: (table: Table) => void,
): Promise<Header> {
  const sums = new Map<string, ReturnType<typeof sumOfLines>>();
  const header = await readArchive(file, async (table, rows) => {
    if (!takes(table)) return;
    const sum = sums.get(table.name) ?? sumOfLines();
    sums.set(table.name, sum);
    sum.add(rows);
    await insertRows(connection, table.name, table.columns, rows);
  });
  for (const table of header.tables.filter(takes)) {
    const sum = sumOfLines();
    for await (const rows of readRows(connection, table.name, table.columns)) sum.add(rows);
    if (sum.sha256() !== (sums.get(table.name) ?? sumOfLines()).sha256())
      throw new ArchiveRefused(
        `The rows of ${table.name} are not the same in the database as in ${file}. Nothing was kept; report this.`,
      );
    told(table);
  }
  return header;
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
