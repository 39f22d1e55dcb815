// PGlite with statements that are prepared once answers as PGlite does.
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { PreparedPglite } from '../../src/database/prepared-pglite.ts';

describe.skipIf(inject('postgresUrl'))('prepared statements', () => {
  let pglite: PreparedPglite;
  let plain: PGlite;
  beforeAll(async () => {
    pglite = new PreparedPglite();
    plain = await PGlite.create();
    await pglite.waitReady;
    for (const each of [pglite, plain])
      await each.exec('CREATE TABLE rows (id int8 PRIMARY KEY, name text, at timestamptz DEFAULT now())');
  });
  afterAll(async () => {
    await pglite.close();
    await plain.close();
  });

  const bothOf = async (text: string, values?: unknown[], options?: Parameters<PGlite['query']>[2]) => {
    const [one, other] = [
      await pglite.query(text, values, options),
      await plain.query(text, values as unknown[], options),
    ];
    expect(one.rows).toEqual(other.rows);
    expect(one.affectedRows).toBe(other.affectedRows);
    expect(one.fields.map(({ name, dataTypeID }) => ({ name, dataTypeID }))).toEqual(
      other.fields.map(({ name, dataTypeID }) => ({ name, dataTypeID })),
    );
    return one;
  };

  test.each<[string, unknown[]]>([
    ['SELECT 1 AS one, NULL AS nothing', []],
    [
      'SELECT $1::int8 AS id, $2::numeric AS number, $3::bool AS yes',
      [9_007_199_254_740_993n, '1.50', false],
    ],
    [
      'SELECT $1::jsonb AS json, $2::text[] AS texts, $3::int8[] AS ids',
      [{ a: [1] }, ['a', '{"b",}'], [1, 2]],
    ],
    ['SELECT $1::timestamptz AS at, $2::date AS date', [new Date('2026-03-01T09:00:00.123Z'), '2026-03-01']],
    [
      'SELECT $1::bytea AS bytes, $2::uuid AS uuid',
      [Buffer.from([0, 255]), '00000000-0000-4000-8000-000000000001'],
    ],
    [`INSERT INTO rows (id, name) VALUES ($1, 'a'), ($2, NULL)`, [1, 2]],
    ['UPDATE rows SET name = $1 WHERE id > $2 RETURNING id, name', ['b', 0]],
    ['SELECT id, name FROM rows ORDER BY id', []],
    ['DELETE FROM rows WHERE id = ANY ($1::int8[])', [[1, 2, 3]]],
    ['SELECT id FROM rows', []],
    // Longer than PGlite gives at once.
    [`SELECT n, repeat('ü', $1) AS text, '' AS empty FROM generate_series(1, 40) n`, [20_000]],
  ])('%s', async (text, values) => {
    await bothOf(text, values);
    if (text.startsWith('SELECT')) await bothOf(text, values, { rowMode: 'array' });
  });

  test('parsers of the caller come first', async () => {
    const parsers = { 20: (text: string) => `int8 ${text}` };
    const { rows } = await bothOf('SELECT 7::int8 AS id', [], { parsers });
    expect(rows).toEqual([{ id: 'int8 7' }]);
  });

  test('a failure is thrown, and later statements work', async () => {
    const insert = 'INSERT INTO rows (id) VALUES ($1)';
    await pglite.query(insert, [10]);
    await expect(pglite.query(insert, [10])).rejects.toMatchObject({ code: '23505' });
    await expect(pglite.query('SELECT nothing FROM nowhere')).rejects.toMatchObject({ code: '42P01' });
    await expect(pglite.query('SELECT $1::int8 AS id', ['ten'])).rejects.toMatchObject({ code: '22P02' });
    const third = 'SELECT 1 / (3 - n) AS share FROM generate_series(1, 3) n';
    await expect(pglite.query(third), 'after two rows').rejects.toMatchObject({ code: '22012' });
    await pglite.query(insert, [11]);
    const failing = pglite.transaction(async (tx) => {
      await tx.query(insert, [12]);
      await tx.query(insert, [10]);
    });
    await expect(failing).rejects.toMatchObject({ code: '23505' });
    const { rows } = await pglite.query<{ id: number }>('SELECT id FROM rows ORDER BY id');
    expect(rows).toEqual([{ id: 10 }, { id: 11 }]);
  });

  test('a transaction that has ended takes no more', async () => {
    let kept: { query(text: string): Promise<unknown> };
    await pglite.transaction(async (tx) => {
      kept = tx;
      await tx.query('SELECT 1 AS one');
    });
    await expect(kept!.query('SELECT 1 AS one')).rejects.toThrow('Transaction is closed');
  });

  test('if a table changes, the statement is prepared again', async () => {
    const all = 'SELECT * FROM rows WHERE id = $1';
    await pglite.query(all, [10]);
    await pglite.exec('ALTER TABLE rows ADD COLUMN more text');
    await expect(pglite.query(all, [10])).rejects.toMatchObject({ code: '0A000' });
    expect((await pglite.query(all, [10])).fields.map(({ name }) => name)).toContain('more');
  });

  test('only some are kept, however many come', async () => {
    for (let count = 0; count < 450; count++) {
      const { rows } = await pglite.query(`SELECT ${count} AS count`);
      expect(rows).toEqual([{ count }]);
    }
    const { rows } = await pglite.query<{ kept: number }>(
      'SELECT count(*)::int AS kept FROM pg_prepared_statements',
    );
    expect(rows[0]!.kept).toBeLessThanOrEqual(201);
  });

  test('a notification arrives with the statement that sends it', async () => {
    const heard: string[] = [];
    const stop = await pglite.listen('told', (payload) => void heard.push(payload));
    await pglite.query(`SELECT pg_notify('told', $1)`, ['first']);
    await pglite.transaction((tx) => tx.query(`SELECT pg_notify('told', $1)`, ['second']));
    await stop();
    expect(heard).toEqual(['first', 'second']);
  });

  test('between statements without end the event loop turns, also in a transaction and for many at once', async () => {
    const one = 'SELECT 1 AS one';
    await pglite.query(one);
    const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
      let turns = 0;
      const turn = () => {
        turns++;
        next = setImmediate(turn);
      };
      let next = setImmediate(turn);
      await work();
      clearImmediate(next);
      return turns;
    };
    const statements = 20;
    const oneByOne = (run: () => Promise<unknown>) => async () => {
      for (let count = 0; count < statements; count++) await run();
    };
    const ways = [
      oneByOne(() => pglite.query(one)),
      () => pglite.transaction((tx) => oneByOne(() => tx.query(one))()),
      () => Promise.all(Array.from({ length: statements }, () => pglite.query(one))),
    ];
    // Of the clock that it asks, so that a statement takes as long on every machine.
    let [now, each] = [performance.now(), 0];
    vi.spyOn(performance, 'now').mockImplementation(() => (now += each));
    onTestFinished(() => void vi.restoreAllMocks());
    for (const way of ways) {
      // Longer than the time after which the loop has a turn.
      each = 5;
      expect(await turnsDuring(way)).toBeGreaterThanOrEqual(statements - 2);
      // A turn of the loop costs little, but short statements are many.
      each = 0;
      expect(await turnsDuring(way)).toBeLessThan(statements / 4);
    }
  });
});
