// Deliveries are kept for 30 days, and those that are over are many. Nothing that sends reads them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobs } from '../../src/database/queue/jobs.ts';
import type { SqlTx } from '../../src/database/sql.ts';
import {
  forgetDeliveries,
  giveUpOpen,
  settleAll,
  takeDue,
  webhooksWithDue,
} from '../../src/notices/delivery-store.ts';
import { type Acme, startAcme } from '../support/acme.ts';
import { closeIdleDatabases } from '../support/database.ts';
import { addWebhook } from '../support/outgoing.ts';
import { type Plan, rowsRead } from '../support/rows-read.ts';

const old = 200_000;
const open = 20;
let acme: Acme;
let webhook: string;
beforeAll(async () => {
  await closeIdleDatabases();
  acme = await startAcme();
  const { db, clock } = acme.app.deps;
  await db.$executeRawUnsafe('ALTER TABLE outgoing_deliveries SET (autovacuum_enabled = false)');
  webhook = (await addWebhook(acme, 'http://127.0.0.1:1/hook')).id;
  const now = new Date(clock.now());
  const insert = (state: string, count: number, next: Date | null) => db.$executeRaw`
    INSERT INTO outgoing_deliveries (id, webhook_id, event_ids, type, subject, state, attempts, created_at, next_attempt_at)
    SELECT gen_random_uuid(), ${webhook}::uuid, ARRAY[n], 'freeze.started', 'freeze ' || n % 100, ${state}, 1,
      ${now}::timestamptz - n * interval '10 seconds', ${next}::timestamptz FROM generate_series(1, ${count}::int) n`;
  await insert('delivered', old, null);
  await insert('waiting', open, now);
});
afterAll(() => closeIdleDatabases());
afterAll(() => acme.close());

/** The most rows of each statement that `work` sends, by its name. Nothing is kept. */
async function reads(work: (sql: SqlTx) => Promise<unknown>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const undo = new Error('nothing is kept');
  const { sql } = acme.app.deps;
  const inside = sql.transaction(async (tx) => {
    const query: SqlTx['query'] = async (name, text, values) => {
      const [row] = await tx.query(`explain ${name}`, `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      counts[name] = rowsRead((row!['QUERY PLAN'] as [{ Plan: Plan }])[0].Plan);
      return [];
    };
    await work({ query }).catch(() => {});
    throw undo;
  });
  await inside.catch((error: unknown) => expect(error).toBe(undo));
  return counts;
}

test.each([
  ['before the database knows the table', []],
  ['afterwards', ['ANALYZE outgoing_deliveries']],
])('%s, what sends reads only what is open', async (_, statements) => {
  const { db, clock } = acme.app.deps;
  for (const statement of statements) await db.$executeRawUnsafe(statement);
  const now = new Date(clock.now());
  const { id } = await db.outgoingDelivery.findFirstOrThrow({ where: { state: 'waiting' } });
  const delivery = { id, eventIds: [], type: 'freeze.started', attempts: 1, createdAt: now };
  const nothing = {
    disables: false,
    status: 204,
    error: null,
    messageId: null,
    nextAttemptAt: null,
    pausedUntil: null,
  };
  const verdict = { ...nothing, outcome: 'delivered' as const };
  await acme.app.deps.queue.send([jobs.sendMessages(1n, webhook, new Date(now.getTime() + 3_600_000))]);
  const { id: turn } = await db.job.findFirstOrThrow({ where: { key: webhook } });
  for (const work of [
    (sql: SqlTx) => takeDue(sql, webhook, turn, now, 32),
    (sql: SqlTx) => settleAll(sql, turn, [{ delivery, verdict }]),
    (sql: SqlTx) => giveUpOpen(sql, webhook),
    (sql: SqlTx) => webhooksWithDue(sql, now),
    (sql: SqlTx) => forgetDeliveries(sql, new Date(now.getTime() - 30 * 86_400_000)),
  ]) {
    const counts = await reads(work);
    expect(Object.keys(counts)).toHaveLength(1);
    for (const count of Object.values(counts)) expect(count, JSON.stringify(counts)).toBeLessThan(6 * open);
  }
});
