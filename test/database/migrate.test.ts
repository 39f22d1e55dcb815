import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { diffMigrationsToSchema } from '../../prisma/schema-engine.ts';
import type { SqlConnection } from '../../src/database/database.ts';
import { appliedMigrations, migrate } from '../../src/database/migrate.ts';
import { fillTables, readColumns } from '../support/fill-tables.ts';

const initial = readdirSync('prisma/migrations').find((name) => name.endsWith('_initial'))!;
let pglite: PGlite;
let connection: SqlConnection;
beforeAll(async () => {
  pglite = await PGlite.create();
  connection = { script: (sql) => pglite.exec(sql), query: (sql, values) => pglite.query(sql, values) };
});
afterAll(() => pglite.close());

test('the migrations make what the schema says', async () => {
  expect(await diffMigrationsToSchema()).toBeNull();
});

describe('migrate', () => {
  test('applies what is missing, once, and records it as Prisma does', async () => {
    expect(await migrate(connection)).toContain(initial);
    expect(await migrate(connection)).toEqual([]);
    const { rows } = await connection.query('SELECT * FROM "_prisma_migrations" ORDER BY migration_name');
    expect(rows[0]).toMatchObject({
      migration_name: initial,
      applied_steps_count: 1,
      logs: null,
      rolled_back_at: null,
    });
    expect(rows[0]!['checksum']).toMatch(/^[0-9a-f]{64}$/);
    expect(rows[0]!['finished_at']).toBeInstanceOf(Date);
  });

  const record = (name: string) =>
    connection.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, finished_at, migration_name) VALUES (gen_random_uuid(), 'x', now(), $1)`,
      [name],
    );

  test('accepts a database to which a newer version only added something', async () => {
    await record('29990101000000_later');
    expect(await migrate(connection)).toEqual([]);
    await connection.query(`UPDATE "_prisma_migrations" SET rolled_back_at = now() WHERE checksum = 'x'`);
  });

  test('refuses a database from which a newer version removed something', async () => {
    await record('29990101000000_later_breaking');
    await expect(migrate(connection)).rejects.toThrow(/newer Holdfast \(29990101000000_later_breaking\)/);
    await connection.query(`UPDATE "_prisma_migrations" SET rolled_back_at = now() WHERE checksum = 'x'`);
    expect(await migrate(connection)).toEqual([]);
  });

  test.each([
    [`checksum = 'y'`, /changed after it was applied/],
    ['finished_at = NULL', /did not finish/],
  ])('refuses a migration with %s', async (change, message) => {
    await pglite.exec('BEGIN');
    await pglite.exec(`UPDATE "_prisma_migrations" SET ${change} WHERE migration_name = '${initial}'`);
    await expect(migrate(connection)).rejects.toThrow(message);
    await expect(appliedMigrations(connection)).rejects.toThrow(message);
    await pglite.exec('ROLLBACK');
    expect(await migrate(connection)).toEqual([]);
  });

  test('that an older version stops by a deadlock is tried again, and no other', async () => {
    const folder = pathToFileURL(`${mkdtempSync(join(tmpdir(), 'holdfast-migrations-'))}/`);
    const tried: string[] = [];
    const failing = (name: string, code: string) => {
      mkdirSync(new URL(name, folder));
      writeFileSync(new URL(`${name}/migration.sql`, folder), `CREATE TABLE of_${code} (id int)`);
      const script = async (sql: string) => {
        const isFirst = sql.includes(`of_${code}`) && tried.push(code) === 1;
        if (isFirst) throw Object.assign(new Error('it failed'), { code });
        return pglite.exec(sql);
      };
      return migrate({ ...connection, script }, folder);
    };
    expect(await failing('29990102000000_again', '40P01')).toEqual(['29990102000000_again']);
    expect(tried.splice(0)).toEqual(['40P01', '40P01']);
    await expect(failing('29990103000000_once', '42601')).rejects.toThrow('29990103000000_once failed');
    expect(tried).toEqual(['42601']);
  });

  test('a database that has the former text of a file is fine', async () => {
    const record = (sql: string) =>
      pglite.exec(
        `UPDATE "_prisma_migrations" SET ${sql} WHERE migration_name = '20261125161500_audit_actors'`,
      );
    const { rows } = await pglite.query<{ checksum: string }>(
      `SELECT checksum FROM "_prisma_migrations" WHERE migration_name = '20261125161500_audit_actors'`,
    );
    await record(`checksum = 'f6022d467411366d1f396216905a78778a1507890de349623274b5c4a8c8897f'`);
    expect(await migrate(connection)).toEqual([]);
    await record(`checksum = '${rows[0]!.checksum}'`);
  });

  test('an index that was not finished is built again, beside readers and writers', async () => {
    const name = '20261126210001_events_by_actor';
    const index = 'audit_events_account_id_actor_key_id_idx';
    await pglite.exec(`
      DELETE FROM "_prisma_migrations" WHERE migration_name = '${name}';
      UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${index}'::regclass`);
    const scripts: string[] = [];
    const script = (sql: string) => (scripts.push(sql), pglite.exec(sql));
    expect(await migrate({ ...connection, script })).toEqual([name]);
    const { rows } = await pglite.query(
      `SELECT indisvalid FROM pg_index WHERE indexrelid = '${index}'::regclass`,
    );
    expect(rows).toEqual([{ indisvalid: true }]);
    expect(scripts.filter((sql) => sql.includes('BEGIN'))).toEqual([]);
  });

  test.each([
    ['tables of a program without migrations', 'CREATE TABLE invoices (id int)', 'invoices'],
    [
      'migrations of another program',
      `CREATE TABLE invoices (id int); CREATE TABLE _prisma_migrations (migration_name text, checksum text,
       finished_at timestamptz, rolled_back_at timestamptz);
       INSERT INTO _prisma_migrations VALUES ('20200101000000_init', 'x', now(), NULL)`,
      '_prisma_migrations',
    ],
  ])('refuses a database with %s, and leaves it as it is', async (_, sql, named) => {
    const foreign = await PGlite.create();
    await foreign.exec(sql);
    const there = {
      script: (text: string) => foreign.exec(text),
      query: (text: string, values?: unknown[]) => foreign.query<Record<string, unknown>>(text, values),
    };
    await expect(migrate(there)).rejects.toThrow(
      `The database has tables of another program, such as ${named}: give Holdfast an empty database of its own.`,
    );
    const { rows } = await foreign.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
    expect(rows.length).toBe(named === 'invoices' ? 1 : 2);
    await foreign.close();
  });

  test('that fails leaves nothing of the migration behind', async () => {
    const other = await PGlite.create();
    await other.exec(`CREATE TYPE "Product" AS ENUM ('x')`);
    const broken = {
      script: (sql: string) => other.exec(sql),
      query: (sql: string, values?: unknown[]) => other.query<Record<string, unknown>>(sql, values),
    };
    await expect(migrate(broken)).rejects.toThrow(`${initial} failed`);
    const { rows } = await other.query(
      `SELECT 1 FROM information_schema.tables WHERE table_name = 'accounts'`,
    );
    expect(rows).toEqual([]);
    await other.exec('DROP TYPE "Product"');
    expect(await migrate(broken)).toContain(initial);
    await other.close();
  });

  test('names plans after their public reason, where nobody gave another name than their reason', async () => {
    const [name] = readdirSync('prisma/migrations').filter((each) => each.includes('plans_named_after'));
    const sql = readFileSync(`prisma/migrations/${name}/migration.sql`, 'utf8');
    const long = `We buy ${'Initech '.repeat(20)}`;
    const plans: [name: string, reason: string, publicReason: string | null, after: string][] = [
      ['We buy it', 'We buy it', 'Maintenance', 'Maintenance'],
      ['We buy it', 'We buy it', null, 'We buy it'],
      ['We buy it', 'We buy it', ' Main\ttenance\nof it', 'Main tenance'],
      ['We buy it', 'We buy it', '', 'Freeze'],
      ['We buy it', 'We buy it', 'x'.repeat(90), `${'x'.repeat(79)}…`],
      ['We buy it', 'We  buy\nit', 'Maintenance', 'Maintenance'],
      ['We buy', '\nWe buy\nit', 'Maintenance', 'Maintenance'],
      [`${long.slice(0, 79)}…`, long, 'Maintenance', 'Maintenance'],
      [long.slice(0, 80), long, 'Maintenance', 'Maintenance'],
      [long.trim(), `${long}\nsoon`, 'Maintenance', 'Maintenance'],
      ['Year end', 'We buy it', 'Maintenance', 'Year end'],
      ['We', 'We buy it', 'Maintenance', 'We'],
      // The reason changed since.
      ['We sold it', 'Books', 'Maintenance', 'Maintenance'],
    ];
    await pglite.exec('BEGIN; SET LOCAL session_replication_role = replica');
    const columns = (await readColumns(connection)).filter(({ table }) =>
      ['freeze_plans', 'audit_events'].includes(table),
    );
    for (const [index, [name, reason, publicReason]] of plans.entries()) {
      await fillTables(connection, index, columns);
      await pglite.exec('SET LOCAL session_replication_role = replica');
      await connection.query(
        'UPDATE freeze_plans SET name = $1, reason = $2, public_reason = $3 WHERE account_id = $4',
        [name, reason, publicReason, index],
      );
    }
    const metadata = {
      freeze_plan_id: `00000000-0000-4000-8000-${String(plans.length - 1).padStart(12, '0')}`,
      freeze_plan_attributes_before: { reason: 'We sold it' },
    };
    await connection.query(
      `UPDATE audit_events SET type = 'freeze_plan.update', metadata = $1 WHERE account_id = $2`,
      [JSON.stringify(metadata), plans.length - 1],
    );
    // Twice is the same as once.
    for (let times = 0; times < 2; times++) {
      await pglite.exec(sql);
      const { rows } = await connection.query('SELECT name FROM freeze_plans ORDER BY account_id');
      expect(rows.map((row) => row['name'])).toEqual(plans.map((plan) => plan[3]));
    }
    await pglite.exec('ROLLBACK');
  });

  test.skipIf(!inject('postgresUrl'))(
    'is safe when several processes start at once (PostgreSQL)',
    async () => {
      const server = new pg.Client({ connectionString: inject('postgresUrl') });
      await server.connect();
      const name = `holdfast_migrate_${randomBytes(6).toString('hex')}`;
      await server.query(`CREATE DATABASE ${name}`);
      const url = new URL(inject('postgresUrl'));
      url.pathname = `/${name}`;
      const clients = await Promise.all(
        [1, 2, 3].map(async () => {
          const client = new pg.Client({ connectionString: url.href });
          await client.connect();
          return client;
        }),
      );
      try {
        const applied = await Promise.all(
          clients.map((client) =>
            migrate({
              script: (sql) => client.query(sql),
              query: (sql, values) => client.query(sql, values),
            }),
          ),
        );
        expect(applied.filter((names) => names.includes(initial))).toHaveLength(1);
        expect(applied.filter((names) => names.length === 0)).toHaveLength(2);
      } finally {
        await Promise.all(clients.map((client) => client.end()));
        await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
        await server.end();
      }
    },
  );
});
