import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openTestDatabase } from '../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('values come back as they went, on both databases', async () => {
  const at = new Date('2026-03-01T09:00:00.123Z');
  const [row] = await database.sql.query(
    'test-values',
    `SELECT $1::int8 AS great, $2::timestamptz AS at, $3::text[] AS texts, $4::jsonb AS json, $5::boolean AS yes,
      $6::numeric AS number, $7::text AS nothing, $8::int8[] AS ids, $9::uuid[] AS uuids, $10::timestamptz[] AS times`,
    [
      9_007_199_254_740_993n,
      at,
      ['a', '{"b",}', ''],
      JSON.stringify({ a: [1] }),
      true,
      '9223372036854776000',
      null,
      [1n, 2n],
      ['00000000-0000-4000-8000-000000000001'],
      [at],
    ],
  );
  expect(row).toEqual({
    great: 9_007_199_254_740_993n,
    at,
    texts: ['a', '{"b",}', ''],
    json: { a: [1] },
    yes: true,
    number: '9223372036854776000',
    nothing: null,
    ids: [1n, 2n],
    uuids: ['00000000-0000-4000-8000-000000000001'],
    times: [at],
  });
});

test('a transaction commits whole, or not at all', async () => {
  const { sql } = database;
  await sql.query('test-table', 'CREATE TABLE kept (id int8)');

  await sql.transaction(
    async (tx) => void (await tx.query('test-insert', 'INSERT INTO kept VALUES ($1)', [1n])),
  );
  await expect(
    sql.transaction(async (tx) => {
      await tx.query('test-insert', 'INSERT INTO kept VALUES ($1)', [2n]);
      throw new Error('changed my mind');
    }),
  ).rejects.toThrow('changed my mind');
  await expect(
    sql.transaction(async (tx) => void (await tx.query('test-wrong', 'SELECT nothing FROM nowhere'))),
  ).rejects.toMatchObject({ code: '42P01' });
  expect(await sql.query('test-read', 'SELECT id FROM kept')).toEqual([{ id: 1n }]);
});
