// Each migration after the first, on a database with rows in every table: it keeps them, and the version before, which
// may still run beside the new one, goes on reading and writing.
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Columns that the version before no longer used when a migration took them away, as `table.column`. */
const givenUp: string[] = [];

const migrations = (await readdir('prisma/migrations', { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();
let folder: string;
let pglite: PGlite;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-upgrade-'));
  pglite = await PGlite.create();
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

const apply = () =>
  migrate(
    { script: (sql) => pglite.exec(sql), query: (sql, values) => pglite.query(sql, values) },
    pathToFileURL(`${folder}/`),
  );

type Column = { table: string; column: string; type: string; label: string | null };

async function readColumns(): Promise<Column[]> {
  const { rows } = await pglite.query<Column>(`
    SELECT table_name AS table, column_name AS column, coalesce(e.typname, ltrim(udt_name, '_')) AS type,
      (SELECT enumlabel FROM pg_enum WHERE enumtypid = e.oid ORDER BY enumsortorder LIMIT 1) AS label
    FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    LEFT JOIN pg_type e ON e.typname = ltrim(udt_name, '_') AND e.typtype = 'e'
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> '_prisma_migrations'
      AND is_generated = 'NEVER'
    ORDER BY table_name, ordinal_position`);
  return rows;
}

const tablesOf = (columns: Column[]) => [...Map.groupBy(columns, ({ table }) => table)];

/** The same number in every column of a kind, so that what refers to another row finds it. */
const valueOf = (number: number, { type, label }: Column): string =>
  label ??
  {
    uuid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    jsonb: `{"number": ${number}}`,
    timestamptz: `2026-03-01T09:00:${String(number).padStart(2, '0')}.123Z`,
    bool: 'true',
    bytea: `\\x${String(number).padStart(4, '0')}`,
  }[type] ??
  String(number);

/** A row in each table with all of its columns. */
async function fill(number: number, columns: Column[]): Promise<void> {
  const arrays = new Set(
    (
      await pglite.query<{ name: string }>(
        `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE data_type = 'ARRAY'`,
      )
    ).rows.map(({ name }) => name),
  );
  await pglite.exec(`SET session_replication_role = replica`);
  for (const [table, its] of tablesOf(columns)) {
    const values = its.map((column) => {
      const value = valueOf(number, column);
      return arrays.has(`${table}.${column.column}`) ? `{"${value}"}` : value;
    });
    await pglite.exec(
      `INSERT INTO "${table}" (${its.map(({ column }) => `"${column}"`).join(', ')})
       VALUES (${values.map((value) => `'${value}'`).join(', ')})`,
    );
  }
  await pglite.exec(`SET session_replication_role = origin`);
}

/** What the version before reads. */
async function read(columns: Column[]): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const [table, its] of tablesOf(columns)) {
    const names = its.map(({ column }) => `"${column}"::text`).join(', ');
    tables[table] = (await pglite.query(`SELECT ${names} FROM "${table}" ORDER BY 1, 2`)).rows;
  }
  return tables;
}

let filled = 0;

/** Makes a change on rows; @throws where rows are lost, or the version before can no longer read or write. */
async function upgrade(change: () => Promise<unknown>): Promise<void> {
  const columns = await readColumns();
  await fill(++filled, columns);
  await fill(++filled, columns);
  const used = columns.filter(({ table, column }) => !givenUp.includes(`${table}.${column}`));
  const before = await read(used);
  await change();
  expect(await read(used)).toEqual(before);
  await fill(++filled, used);
}

test('every table has rows that belong together', async () => {
  const columns = await readColumns();
  expect(tablesOf(columns).length).toBeGreaterThan(15);
  await fill(++filled, columns);
  const { rows } = await pglite.query(
    `SELECT 1 FROM written_statuses JOIN head_statuses USING (repository_id, sha)
     JOIN repositories r ON r.id = repository_id JOIN installations i ON i.id = r.installation_id
     JOIN accounts a ON a.id = i.account_id`,
  );
  expect(rows).toHaveLength(1);
});

test.each(migrations.slice(1))('%s keeps what there is', async (name) => {
  await add(name);
  await upgrade(apply);
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
