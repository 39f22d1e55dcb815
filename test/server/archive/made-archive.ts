// A database with odd rows in every table, its export, and the verbs of what is tried with both.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { inject } from 'vitest';
import { exportDatabase } from '../../../src/server/archive/export-database.ts';
import { lastLine, sumOfLines } from '../../../src/server/archive/archive-file.ts';
import { type Import, importDatabase } from '../../../src/server/archive/import-database.ts';
import type { Config } from '../../../src/config.ts';
import { openConnection } from '../../../src/database/connect.ts';
import type { SqlConnection } from '../../../src/database/database.ts';
import { migrate } from '../../../src/database/migrate.ts';
import { seal } from '../../../src/database/secret-key.ts';
import { fillTables, readColumns } from '../../support/fill-tables.ts';
import { administer, databaseUrl, dropAll } from '../../support/postgres.ts';

export type Where = Config['database'];

const server = inject('postgresUrl');
const prefix = `holdfast_archive_${randomBytes(6).toString('hex')}`;
export const oldKey = 'the secret key of the database that is exported';
export const newKey = 'the secret key of the database that is filled';
export const secrets = {
  privateKey: 'a private key',
  webhookSecret: 'a webhook secret',
  clientSecret: 'a client secret',
};
export const made = { madeAt: '2026-03-01T09:00:00.000Z', version: '0.1.0' };

export let folder: string;
export let source: Where;
export let file: string;
let count = 0;

export const embedded = (): Where => ({ dataDir: join(folder, `data-${++count}`) });
async function postgres(): Promise<Where> {
  const name = `${prefix}_${++count}`;
  await administer(server, `CREATE DATABASE ${name}`);
  return { connectionString: databaseUrl(server, name) };
}
/** The other kind, where there is a PostgreSQL. */
export const another = async (): Promise<Where> => (server ? postgres() : embedded());

export async function on<Result>(
  where: Where,
  work: (connection: SqlConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await openConnection(where);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

export const take = (where: Where, more: Partial<Import> = {}) =>
  importDatabase(
    where,
    { file, keys: { secretKey: newKey, secretKeyPrevious: oldKey }, withoutApp: false, ...more },
    () => {},
  );
export const exportTo = async (where: Where, name: string): Promise<string> => {
  const path = join(folder, name);
  await exportDatabase(where, path, made, () => {});
  return path;
};
export const linesOf = async (path: string) =>
  gunzipSync(await readFile(path))
    .toString()
    .split('\n');

/** Texts and numbers that are easily bent. */
export const odd = [
  `U+2028 \u2028, quotes " ' \\\\, a tab \t, a line\nend, \u0001, é, ﷽, 🧊`,
  '9223372036854776000',
];

/** Makes a database with odd rows in every table, and exports it. */
export async function makeArchive(): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-archive-'));
  source = embedded();
  await on(source, async (connection) => {
    await migrate(connection);
    const columns = await readColumns(connection);
    for (const number of [1, 2, 3]) await fillTables(connection, number, columns);
    await connection.query('UPDATE freezes SET reason = $1, deleted_by = NULL, holds = $2', [
      odd[0],
      [odd[0], ''],
    ]);
    await connection.query('UPDATE pull_request_scopes SET number = $1::numeric WHERE repository_id = 2', [
      odd[1],
    ]);
    await connection.query(`UPDATE sessions SET id_hash = 'a' WHERE id_hash = '1'`);
    await connection.query(`UPDATE sessions SET id_hash = 'B' WHERE id_hash = '2'`);
    await connection.query(
      `UPDATE installations SET pace_per_minute = 0.1::float8 + 0.2::float8, deleted_at = 'infinity' WHERE id = 3`,
    );
    await connection.script('DELETE FROM unfinished_imports; DELETE FROM app_credentials WHERE id > 2');
    // The App, and the second one.
    for (const id of [1, 2])
      await connection.query(
        'UPDATE app_credentials SET private_key = $1, webhook_secret = $2, client_secret = $3 WHERE id = $4',
        [...Object.entries(secrets).map(([field, text]) => seal(oldKey, `${field} of App ${id}`, text)), id],
      );
    await connection.script('UPDATE repositories SET reconcile_requested_at = NULL');
    // Numbers that were given out and whose rows are gone.
    await connection.script(`SELECT setval('audit_events_id_seq', 41)`);
  });
  file = await exportTo(source, 'archive');
}
export async function removeArchive(): Promise<void> {
  if (server) await dropAll(server, prefix);
  await rm(folder, { recursive: true });
}

/** A file with other lines than the export. */
export async function written(name: string, change: (lines: string[]) => string[]): Promise<string> {
  const path = join(folder, name);
  const lines = change((await linesOf(file)).slice(0, -1));
  await writeFile(path, gzipSync(`${lines.join('\n')}\n`));
  return path;
}

/** Lines of a file with another end, so that they are whole. */
export const withSums = (lines: string[]): string[] => {
  const sum = sumOfLines();
  sum.add(lines.slice(0, -1));
  return [...lines.slice(0, -1), lastLine(sum.sha256())];
};
