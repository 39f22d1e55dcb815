import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openEmbedded } from '../../src/database/embedded.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-upkeep-'));
let database: Database;

beforeAll(async () => {
  database = await openEmbedded(folder);
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

const read = async (sql: string) =>
  Number((await database.sql.query<{ value: unknown }>(sql, sql))[0]!.value);
const sizeOf = () => read(`SELECT pg_relation_size('webhook_deliveries') AS value`);

/** Comes and goes, as deliveries and jobs do. */
async function churn(rows: number): Promise<void> {
  await database.sql.query(
    'test-come',
    `INSERT INTO webhook_deliveries (guid, event, received_at)
     SELECT repeat('x', 200) || g, 'push', now() FROM generate_series(1, $1::int) g`,
    [rows],
  );
  await database.sql.query('test-go', 'DELETE FROM webhook_deliveries');
}

test('what comes and goes does not let the embedded database grow', async () => {
  await churn(1000);
  const once = await sizeOf();
  for (let round = 0; round < 10; round++) {
    await database.keepUp();
    await churn(1000);
  }
  expect(await sizeOf()).toBeLessThan(2 * once);
});

test('the planner learns what is in a table that grew', async () => {
  await database.sql.query(
    'test-fill',
    `INSERT INTO webhook_deliveries (guid, event, received_at)
     SELECT repeat('x', 200) || g, 'push', now() FROM generate_series(1, 3000) g`,
  );
  await database.keepUp();
  expect(await read(`SELECT reltuples AS value FROM pg_class WHERE relname = 'webhook_deliveries'`)).toBe(
    3000,
  );
  expect(
    await read(`SELECT count(*) AS value FROM pg_stats WHERE tablename = 'webhook_deliveries'`),
  ).not.toBe(0);
});

test('the log that a start reads again after a crash stays short', async () => {
  await database.sql.query('test-go', 'DELETE FROM webhook_deliveries');
  const unread = `SELECT pg_current_wal_lsn() - redo_lsn AS value FROM pg_control_checkpoint()`;
  while ((await read(unread)) < 33 * 2 ** 20) await churn(3000);
  await database.keepUp();
  expect(await read(unread)).toBeLessThan(2 ** 20);
});
