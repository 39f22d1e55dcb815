// What migrations make of rows, an import of an older version's export makes of its rows too.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectEmbedded } from '../../../src/database/embedded.ts';
import type { SqlConnection } from '../../../src/database/database.ts';
import { migrate, readMigrations } from '../../../src/database/migrate.ts';
import { carriedTablesIn, columnsOfTable, readRows } from '../../../src/server/archive/contents.ts';
import { fillTables, readColumns } from '../../support/fill-tables.ts';
import {
  another,
  embedded,
  exportTo,
  makeArchive,
  on,
  removeArchive,
  take,
  type Where,
} from './made-archive.ts';

/** The last migration of 1.0.0, which has the first exports. */
const until = '20261122035340_initial';
const all = (await readMigrations()).map(({ name }) => name);

/** Rows that migrations since have changed, or that they set a column from. */
const rows = `
  UPDATE accounts SET login = 'acme' || id, login_key = 'acme' || id;
  UPDATE repositories SET two_person_exemptions = id = 1, longest_open_end_hours = CASE id WHEN 2 THEN 48 END;
  UPDATE freezes SET deleted_at = NULL, starts_at = '2026-01-01', ends_at = '2026-01-02';
  UPDATE freezes SET starts_at = now() + interval '2 days', ends_at = NULL WHERE repository_id = 2;
  UPDATE freezes SET starts_at = now() - interval '2 days', ends_at = now() + interval '1 day' WHERE repository_id = 3;
  UPDATE freeze_plans SET reason = 'We buy Initech', name = 'We buy Initech', public_reason = 'Maintenance';
  INSERT INTO audit_events (id, received_at, account_id, type, outcome, trigger, metadata) VALUES
    (10, now(), 1, 'scheduled_freeze.create', 'success', 'api', '{"created_by": {"type": "user", "id": 1, "name": "Ada"}}')`;

async function made(): Promise<Where> {
  const where = embedded() as { dataDir: string };
  const connection = await connectEmbedded(where.dataDir, true);
  await migrate(connection, undefined, new Set(all.filter((name) => name <= until)));
  const columns = await readColumns(connection);
  for (const number of [1, 2, 3]) await fillTables(connection, number, columns);
  await connection.script(`${rows}; DELETE FROM app_credentials`);
  await connection.close();
  return where;
}

/** What is in the tables, and which jobs migrations sent. */
async function contents(connection: SqlConnection): Promise<Record<string, unknown[]>> {
  await connection.script(`BEGIN; SET LOCAL TIME ZONE 'UTC'`);
  const found: Record<string, unknown[]> = {};
  for (const table of await carriedTablesIn(connection)) {
    found[table] = [];
    for await (const rows of readRows(connection, table, await columnsOfTable(connection, table)))
      found[table].push(...rows.map((row) => JSON.parse(row)));
  }
  const { rows } = await connection.query(
    `SELECT task, data FROM jobs WHERE task NOT IN ('1', '2', '3') ORDER BY 1`,
  );
  await connection.script('COMMIT');
  return { ...found, jobs: rows };
}

let where: Where;
let file: string;
beforeAll(async () => {
  await makeArchive();
  where = await made();
  file = await exportTo(where, 'of-1.0.0');
});
afterAll(removeArchive);

test('a database that migrations since have changed is refused, and stays empty', async () => {
  const there = embedded();
  await on(there, (connection) => migrate(connection));
  await expect(take(there, { file })).rejects.toThrow(
    /is of a newer Holdfast than .*of-1\.0\.0.* Import into a new database/,
  );
  const { rows } = await on(there, (connection) => connection.query('SELECT FROM unfinished_imports'));
  expect(rows).toEqual([]);
});

test('the same comes of it as of an upgrade in place', async () => {
  const there = await another();
  await take(there, { file });
  const imported = await on(there, contents);
  const upgraded = await on(where, async (connection) => {
    await migrate(connection);
    return contents(connection);
  });
  expect(imported).toEqual(upgraded);

  const told = imported['freezes']!.map((freeze) => (freeze as { next_told_at: unknown }).next_told_at);
  expect(told).toEqual([null, expect.any(String), expect.any(String)]);
  expect(imported['repositories']![0]).toMatchObject({ settings: { two_person_exemptions: true } });
  expect(imported['freeze_plans']![0]).toMatchObject({ name: 'Maintenance' });
  expect(imported['jobs']).toContainEqual(expect.objectContaining({ task: 'fill-actor-keys' }));
});
