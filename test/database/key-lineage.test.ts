import { readdirSync, readFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import { expect, test, vi } from 'vitest';

vi.setConfig({ testTimeout: 60_000 });

const folders = readdirSync('prisma/migrations').filter((name) => !name.endsWith('.toml'));
const lineage = folders.findIndex((name) => name.endsWith('_key_lineage'));
const sqlOf = (names: string[]) =>
  names.map((name) => readFileSync(`prisma/migrations/${name}/migration.sql`, 'utf8')).join('\n');

const id = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`;

test('keys whose maker has ended end with the upgrade, and others stay as they are', async () => {
  const db = await PGlite.create();
  await db.exec(sqlOf(folders.slice(0, lineage)));
  await db.query(
    `INSERT INTO accounts (id, login, login_key, type, seen_at) VALUES (1, 'acme', 'acme', 'Organization', now())`,
  );
  const end = '2027-01-01T00:00:00.000Z';
  const ada = { type: 'user', id: 1, name: 'ada' };
  const by = (digit: number) => ({ type: 'application', id: id(digit), name: 'key' });
  const add = (digit: number, maker: object, expires: string | null, revokedBy: object | null) =>
    db.query(
      `INSERT INTO application_keys (id, account_id, name, scope, secret_hash, created_at, created_by, expires_at, revoked_at, revoked_by)
       VALUES ($1, 1, 'key', 'admin', $2, now(), $3, $4, $5, $6)`,
      [id(digit), `hash ${digit}`, maker, expires, revokedBy && '2026-03-01T00:00:00Z', revokedBy],
    );
  await add(1, ada, end, null);
  await add(2, by(1), null, null);
  await add(3, by(2), '2026-12-01T00:00:00.000Z', null);
  await add(4, ada, null, ada);
  await add(5, by(4), null, null);
  await add(6, by(5), end, null);
  await add(7, ada, null, null);
  await add(8, by(7), null, null);
  await db.exec(sqlOf(folders.slice(lineage)));

  const { rows } = await db.query<{
    id: string;
    expires_at: Date | null;
    revoked_at: Date | null;
    revoked_by: unknown;
  }>('SELECT id, expires_at, revoked_at, revoked_by FROM application_keys ORDER BY id');
  expect(
    rows.map(({ expires_at, revoked_at }) => [expires_at?.toISOString() ?? null, revoked_at !== null]),
  ).toEqual([
    [end, false],
    [end, false],
    ['2026-12-01T00:00:00.000Z', false],
    [null, true],
    [null, true],
    [end, true],
    [null, false],
    [null, false],
  ]);
  expect(rows[3]!.revoked_at).toEqual(new Date('2026-03-01T00:00:00Z'));
  expect(rows[5]!.revoked_by).toEqual(ada);
  const events = await db.query<{ metadata: object }>(`SELECT metadata FROM audit_events ORDER BY id`);
  const told = events.rows.map(({ metadata }) => metadata as Record<string, unknown>);
  expect(told.map((each) => each['key_id']).toSorted()).toEqual([id(5), id(6)]);
  for (const each of told)
    expect(each).toMatchObject({
      key_name: 'key',
      revoked_by: ada,
      revoked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  await db.close();
});
