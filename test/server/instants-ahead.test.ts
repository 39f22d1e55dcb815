// What a wrong clock stored in the future, in every column that orders, paces, leases or puts off work.
import { afterAll, beforeAll, expect, test } from 'vitest';
import pino from 'pino';
import type { SqlConnection, Database } from '../../src/database/database.ts';
import { correctInstantsAhead, limits } from '../../src/server/instants-ahead.ts';
import { openTestDatabase } from '../support/database.ts';
import { fillTables, readColumns } from '../support/fill-tables.ts';
import { TestClock } from '../support/test-clock.ts';

const clock = new TestClock('2026-03-01T12:00:00Z');
const now = clock.now();
const margin = 60_000;
const logged: string[] = [];
const log = pino({ level: 'warn', base: null }, { write: (line: string) => void logged.push(line) });

let database: Database;
beforeAll(async () => {
  database = await clock.drive(await openTestDatabase());
  await database.prisma.$transaction(async (tx) => {
    const connection: SqlConnection = {
      script: (sql) => tx.$executeRawUnsafe(sql),
      query: async (sql) => ({ rows: await tx.$queryRawUnsafe(sql) }),
    };
    await fillTables(connection, 1, await readColumns(connection));
    await tx.$executeRaw`UPDATE deployments SET state = 'waiting'`;
    await tx.$executeRaw`UPDATE outgoing_deliveries SET attempts = 0`;
  });
});
afterAll(() => database.close());

const rows = Object.entries(limits).flatMap(([table, its]) =>
  its.filter(({ column }) => column !== 'review_pace').map(({ column, most }) => ({ table, column, most })),
);

/** Instants that order, pace and put off nothing of ours, by why they stay as they are. */
const others: Record<string, string[]> = {
  'people chose it, or it follows from what they chose': [
    ...['freezes.starts_at', 'freezes.ends_at', 'freezes.next_told_at', 'repositories.next_change_at'],
    ...['exemptions.expires_at', 'application_keys.expires_at', 'outgoing_webhooks.previous_secret_until'],
  ],
  'it says what happened, and nothing asks whether that is past': [
    ...['installations.suspended_at', 'installations.deleted_at', 'repositories.first_status_at'],
    ...['freezes.still_on_told_at', 'freezes.created_at', 'freezes.updated_at', 'freezes.deleted_at'],
    ...[
      'freeze_plans.over_at',
      'freeze_plans.created_at',
      'freeze_plans.updated_at',
      'freeze_plans.deleted_at',
    ],
    ...['freeze_waits.since', 'freeze_waits.until', 'freeze_waits.closed_at', 'freeze_reports.ended_at'],
    ...[
      'deployments.decided_at',
      'exemptions.head_seen_at',
      'exemptions.requested_at',
      'exemptions.decided_at',
    ],
    ...['exemptions.approved_at', 'exemptions.ended_at', 'exemptions.used_at', 'exemptions.announced_at'],
    ...['pull_request_scopes.pushed_at', 'merge_groups.requested_at', 'instant_holds.since'],
    ...['application_keys.created_at', 'application_keys.revoked_at', 'oidc_rules.created_at'],
    ...['audit_events.received_at', 'idempotency_records.answered_at', 'webhook_deliveries.received_at'],
    ...['app_credentials.created_at', 'outgoing_webhooks.created_at', 'outgoing_webhooks.disabled_at'],
    ...['outgoing_deliveries.created_at', 'outgoing_deliveries.last_attempt_at', 'calendar_feeds.created_at'],
    ...[
      'slack_apps.created_at',
      'slack_links.linked_at',
      'slack_tellings.began_at',
      'slack_tellings.ended_at',
    ],
    ...['slack_tellings.created_at', 'sessions.created_at', 'kept_answers.created_at'],
  ],
  'GitHub’s clock wrote it': [
    ...['deployments.requested_at', 'open_pull_requests.changed_at', 'open_pull_requests.head_since'],
    ...['open_pull_requests.leaking_since', 'head_statuses.written_at', 'written_statuses.at'],
  ],
  'it only ends what is kept': [
    ...[
      'sessions.expires_at',
      'kept_answers.expires_at',
      'used_sign_ins.expires_at',
      'slack_offers.expires_at',
    ],
    'freezes.report_due_at',
  ],
  'nothing reads it any more': ['deployments.claimed_until', 'outgoing_deliveries.claimed_until'],
};

test('every instant of the schema is corrected, or stays for a reason', async () => {
  const columns = await database.prisma.$queryRaw<{ name: string }[]>`
    SELECT table_name || '.' || column_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND data_type LIKE 'timestamp%' AND table_name NOT LIKE '\\_%'
      AND table_name <> 'test_clock'`;
  const known = [...rows.map(({ table, column }) => `${table}.${column}`), ...Object.values(others).flat()];
  expect(known.toSorted()).toEqual(columns.map(({ name }) => name).toSorted());
});

test.each([
  { countedAt: 8, refused: null, stays: false },
  { countedAt: 0, refused: 8, stays: false },
  { countedAt: 0, refused: 0, stays: true },
])('the pace of reviews, counted $countedAt h ahead and refused $refused h ahead', async (row) => {
  const at = (hours: number) => new Date(now + hours * 3_600_000).toISOString();
  const refused = row.refused === null ? null : { at: at(row.refused), perMinute: 20 };
  const pace = { perMinute: 180, tokens: 0, countedAt: at(row.countedAt), refused };
  await database.prisma.installation.updateMany({ data: { reviewPace: pace } });
  await correctInstantsAhead({ ...database, clock, log });
  const { reviewPace } = await database.prisma.installation.findFirstOrThrow();
  expect(reviewPace).toEqual(row.stays ? pace : null);
});

/** Stores an instant, corrects, and reads it. */
async function corrected({ table, column }: (typeof rows)[number], ahead: number): Promise<number | null> {
  await database.prisma.$executeRawUnsafe(`UPDATE ${table} SET ${column} = $1`, new Date(now + ahead));
  await correctInstantsAhead({ ...database, clock, log });
  const [row] = await database.prisma.$queryRawUnsafe<[{ at: Date | null }]>(
    `SELECT ${column} AS at FROM ${table}`,
  );
  return row.at && row.at.getTime() - now;
}

test.each(rows)('$table: $column', async (row) => {
  logged.length = 0;
  // As far ahead as replicas may differ, it stays.
  const believed = row.most === 0 ? margin : row.most;
  expect([await corrected(row, believed), logged]).toEqual([believed, []]);
  const after = await corrected(row, row.most + 8 * 3_600_000);
  expect(after ?? 0).toBeLessThanOrEqual(0);
  expect(logged.join()).toContain(`"${row.table}":1`);
});
