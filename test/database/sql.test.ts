import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
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
  const twoInTheLastTurn = (text: string) =>
    sql.transaction(async (tx) => {
      tx.atCommit(tx.query('test-insert', 'INSERT INTO kept VALUES ($1)', [4n]));
      tx.atCommit(tx.query(text, text));
      return 'done';
    });
  await expect(twoInTheLastTurn('SELECT nothing FROM nowhere')).rejects.toMatchObject({ code: '42P01' });
  expect(await sql.query('test-read', 'SELECT id FROM kept')).toEqual([{ id: 1n }]);
  const unsent = sql.transaction(async (tx) => {
    tx.atCommit(tx.query('test-insert', 'INSERT INTO kept VALUES ($1)', [4n]));
    tx.atCommit(Promise.reject(new Error('it was never sent')));
  });
  await expect(unsent).rejects.toThrow('it was never sent');
  expect(await sql.query('test-read', 'SELECT id FROM kept')).toEqual([{ id: 1n }]);
  expect(await twoInTheLastTurn('DELETE FROM kept WHERE id = 4')).toBe('done');
  expect(await sql.query('test-read', 'SELECT id FROM kept')).toEqual([{ id: 1n }]);
});

describe.skipIf(!inject('postgresUrl'))('connections that break (PostgreSQL)', () => {
  const end = (pid: number) => database.sql.query('test-end', 'SELECT pg_terminate_backend($1, 5000)', [pid]);
  const pidOf = async (tx: Pick<Database['sql'], 'query'>) =>
    (await tx.query<{ pid: number }>('test-pid', 'SELECT pg_backend_pid() AS pid'))[0]!.pid;

  test('inside a transaction: it fails, and the next one works', async () => {
    const broken = database.sql.transaction(async (tx) => {
      // Nothing is asked of it when it breaks.
      await end(await pidOf(tx));
      await tx.query('test-insert', 'INSERT INTO kept VALUES ($1)', [3n]);
    });
    await expect(broken).rejects.toThrow();
    await database.sql.transaction((tx) => pidOf(tx));
    expect(await database.sql.query('test-read', 'SELECT id FROM kept')).toEqual([{ id: 1n }]);
  });

  test('of shared reads: each is replaced, and its questions are asked again', async () => {
    const read = (text: string) => database.sql.read<{ pid: number }>(text, text);
    const pids = async () =>
      new Set((await Promise.all([1, 2, 3, 4].map(() => read(pid)))).map(([row]) => row!.pid));
    const pid = 'SELECT pg_backend_pid() AS pid';
    const before = await pids();
    expect(before.size).toBe(2);
    const { waiting } = await database.sql.transaction(async (tx) => {
      await tx.query('test-lock', 'SELECT pg_advisory_xact_lock(1)');
      const locked = 'SELECT pg_backend_pid() AS pid, pg_advisory_xact_lock_shared(1)';
      const asked = [1, 2].map(() => read(locked));
      for (const each of before) await end(each);
      return { waiting: asked };
    });
    for (const [row] of await Promise.all(waiting)) expect(before.has(row!.pid)).toBe(false);
    const after = await pids();
    expect(after.size).toBe(2);
    expect([...after].some((each) => before.has(each))).toBe(false);
  });

  test('reads that share a connection get their own answers, even if one fails', async () => {
    const asked = Array.from({ length: 40 }, (_, index) =>
      index % 4 === 3
        ? database.sql.read('test-fails', 'SELECT 1 / $1::int AS one', [0])
        : database.sql.read('test-echo', 'SELECT $1::int AS index', [index]),
    );
    const answers = await Promise.allSettled(asked);
    answers.forEach((answer, index) => {
      if (index % 4 === 3) expect(answer).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
      else expect(answer).toMatchObject({ status: 'fulfilled', value: [{ index }] });
    });
  });
});
