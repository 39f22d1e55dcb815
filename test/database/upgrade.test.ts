// Each migration after the first, on a database with rows in every table: it keeps them, and the version before, which
// may still run beside the new one, goes on reading and writing.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SqlConnection } from '../../src/database/database.ts';
import { isBreaking, migrate } from '../../src/database/migrate.ts';
import { heldDuring } from '../support/held-tables.ts';
import { type Column, fillTables, readColumns, tablesOf } from '../support/fill-tables.ts';

/**
 * Columns that the version before no longer used when a migration took them away, as `table.column`. Versions before
 * that one still use them, so the migration's name says that it is breaking.
 */
const givenUp: string[] = [];

/**
 * What migrations did to all rows of a large table before there was a rule against it, each in a moment: few of these rows
 * are in the index, or the table was new. A migration that has to do so now builds the index beside others
 * (`CREATE INDEX CONCURRENTLY`), or sends a job that changes some rows at a time (`src/events/fill-actor-keys.ts`).
 */
const heldOnce: Record<string, string[]> = {
  '20261123024000_sha_lookups': ['indexes head_statuses', 'indexes open_pull_requests'],
  '20261123085410_waiting_order': ['indexes head_statuses'],
  '20261124050000_announced_requests': ['indexes comment_answers'],
  '20261125190100_told_boundaries': ['indexes freezes', 'rewrites outgoing_deliveries'],
  '20261125190201_claimed_deliveries': ['indexes outgoing_deliveries'],
  '20261126122632_deployments_by_request': ['indexes deployments'],
  '20261126123127_shares_of_the_pace': ['indexes head_statuses'],
};

const migrations = (await readdir('prisma/migrations', { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();
let folder: string;
let pglite: PGlite;
let connection: SqlConnection;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-upgrade-'));
  pglite = await PGlite.create();
  connection = { script: (sql) => pglite.exec(sql), query: (sql, values) => pglite.query(sql, values) };
  await add(migrations[0]!);
  await apply();
});
afterAll(async () => {
  await pglite.close();
  await rm(folder, { recursive: true });
});

async function add(name: string, sql?: string): Promise<void> {
  if (sql === undefined) return cp(`prisma/migrations/${name}`, join(folder, name), { recursive: true });
  await mkdir(join(folder, name));
  await writeFile(join(folder, name, 'migration.sql'), sql);
}

const apply = () => migrate(connection, pathToFileURL(`${folder}/`));

/** The reads of the former version. */
async function read(columns: Column[]): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const [table, its] of tablesOf(columns)) {
    const names = its.map(({ column }) => `"${column}"::text`).join(', ');
    tables[table] = (await pglite.query(`SELECT ${names} FROM "${table}" ORDER BY ${names}`)).rows;
  }
  return tables;
}

let filled = 0;

/** Makes a change on rows; @throws where rows are lost, or the version before can no longer read or write. */
async function upgrade(change: () => Promise<unknown>, unused: string[] = []): Promise<void> {
  const columns = await readColumns(connection);
  await fillTables(connection, ++filled, columns);
  await fillTables(connection, ++filled, columns);
  const used = columns.filter(({ table, column }) => !unused.includes(`${table}.${column}`));
  const before = await read(used);
  await change();
  // A migration may send jobs.
  const { jobs } = before;
  expect(await read(used)).toEqual({ ...before, ...(jobs && { jobs: expect.arrayContaining(jobs) }) });
  await fillTables(connection, ++filled, used);
}

test('every table has rows that belong together', async () => {
  const columns = await readColumns(connection);
  expect(tablesOf(columns).length).toBeGreaterThan(15);
  await fillTables(connection, ++filled, columns);
  const { rows } = await pglite.query(
    `SELECT 1 FROM written_statuses JOIN head_statuses USING (repository_id, sha)
     JOIN repositories r ON r.id = repository_id JOIN installations i ON i.id = r.installation_id
     JOIN accounts a ON a.id = i.account_id`,
  );
  expect(rows).toHaveLength(1);
});

test.each(migrations.slice(1))('%s keeps what there is', async (name) => {
  await add(name);
  const isBeside = (await readFile(`prisma/migrations/${name}/migration.sql`, 'utf8')).includes(
    'CONCURRENTLY',
  );
  let held: string[] = [];
  const change = async () => void (held = await heldDuring(connection, apply, isBeside));
  await upgrade(change, isBreaking(name) ? givenUp : []);
  expect(held, 'freezes wait while a migration does this').toEqual(heldOnce[name] ?? []);
});

describe('what a migration may do', () => {
  test('add a table, a column with a default, and an index', async () => {
    await add(
      '99990101000000_good',
      `CREATE TABLE notes (id BIGINT PRIMARY KEY, text TEXT NOT NULL);
       ALTER TABLE freezes ADD COLUMN note TEXT NOT NULL DEFAULT '';
       CREATE INDEX freezes_note_idx ON freezes (note);`,
    );
    await upgrade(apply);
    expect((await pglite.query('SELECT note FROM freezes')).rows).toHaveLength(filled);
  });

  test.each([
    [`UPDATE audit_events SET outcome = outcome || ''`, 'changes rows of audit_events'],
    ['ALTER TABLE head_statuses ALTER COLUMN state TYPE VARCHAR(64)', 'rewrites head_statuses'],
    ['ALTER TABLE jobs ADD COLUMN serial BIGSERIAL', 'rewrites jobs'],
    ['CREATE INDEX ON audit_events (outcome)', 'indexes audit_events'],
    ['ALTER TABLE freezes ADD CHECK (reason IS NOT NULL)', 'checks freezes'],
    ['ALTER TABLE audit_events ALTER COLUMN repository SET NOT NULL', 'checks audit_events'],
    ['ALTER TABLE audit_events ADD COLUMN note TEXT', null],
    [`ALTER TABLE audit_events ADD COLUMN note TEXT NOT NULL DEFAULT ''`, null],
  ])('not hold a large table: %s', async (sql, held) => {
    await pglite.exec('BEGIN');
    try {
      expect(await heldDuring(connection, () => pglite.exec(sql))).toEqual(held === null ? [] : [held]);
    } finally {
      await pglite.exec('ROLLBACK');
    }
  });

  test.each([
    ['take a column away', 'ALTER TABLE freezes DROP COLUMN reason'],
    ['take a table away', 'DROP TABLE merge_groups'],
    ['lose rows', 'DELETE FROM audit_events'],
    ['change rows', `UPDATE accounts SET login = upper('a' || login)`],
    ['ask for a value that rows lack', 'ALTER TABLE freezes ADD COLUMN needed TEXT NOT NULL'],
    [
      'ask for a value that the version before does not write',
      `ALTER TABLE freezes ADD COLUMN needed TEXT NOT NULL DEFAULT ''; ALTER TABLE freezes ALTER COLUMN needed DROP DEFAULT`,
    ],
  ])('not %s', async (_what, sql) => {
    await pglite.exec('BEGIN');
    try {
      await expect(upgrade(() => pglite.exec(sql))).rejects.toThrow();
    } finally {
      await pglite.exec('ROLLBACK');
    }
  });
});
