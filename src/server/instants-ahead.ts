import type { Deps } from '../deps.ts';
import { waitingInstants } from '../statuses/write-store.ts';
import { mostAhead, nowOf } from '../time/clock.ts';
import { minute, hour } from '../time/units.ts';

/**
 * An instant that is stored, and how far ahead of now it can be.
 * @property most milliseconds. Further ahead, a clock that was wrong wrote it, and nobody believes it.
 * @property instead SQL for what it becomes then; $1 is now. @property of only these rows.
 * @property by whose clock it is: this service's, or the database's.
 * @property measured SQL for what is ahead, if not only the column itself.
 */
type Limit = {
  column: string;
  most: number;
  instead: string;
  of?: string;
  by?: 'database';
  measured?: string;
};

const longAgo = `'epoch'::timestamptz`;

/**
 * What orders, paces, leases and puts off work, by table. What people choose, such as the end of a freeze, and what is by
 * GitHub's clock, stays as it is.
 */
export const limits: Record<string, Limit[]> = {
  accounts: [{ column: 'seen_at', most: 0, instead: '$1' }],
  installations: [
    // The longest that GitHub's limits last.
    { column: 'paused_until', most: hour, instead: 'NULL' },
    { column: 'reads_paused_until', most: hour, instead: 'NULL' },
    { column: 'comments_paused_until', most: hour, instead: 'NULL' },
    { column: 'lease_until', most: minute, instead: 'NULL' },
    { column: 'pace_counted_at', most: 0, instead: '$1' },
    { column: 'pace_refused_at', most: 0, instead: '$1' },
    // The pace of reviews begins anew.
    {
      column: 'review_pace',
      measured: `greatest((review_pace->>'countedAt')::timestamptz, (review_pace->'refused'->>'at')::timestamptz)`,
      most: 0,
      instead: 'NULL',
    },
  ],
  repositories: [
    { column: 'seen_at', most: 0, instead: '$1' },
    { column: 'reconciled_at', most: 0, instead: 'NULL' },
    // So it is looked at again at once.
    {
      column: 'reconcile_requested_at',
      measured: 'greatest(reconcile_requested_at, reconciled_at)',
      most: 0,
      instead: longAgo,
    },
    { column: 'deployments_checked_at', most: 0, instead: longAgo },
  ],
  instant_holds: [
    { column: 'lease_until', most: minute, instead: 'NULL' },
    { column: 'checked_at', most: 0, instead: 'NULL' },
  ],
  deployments: [{ column: 'checked_at', most: 0, instead: '$1', of: `state = 'waiting'` }],
  ...waitingInstants,
  open_pull_requests: [{ column: 'merge_state_due_at', most: hour, instead: '$1' }],
  freeze_plans: [
    { column: 'kept_at', most: 0, instead: longAgo },
    { column: 'source_due_at', most: 15 * minute, instead: '$1' },
  ],
  // The longest that a receiver can ask us to wait.
  outgoing_webhooks: [{ column: 'paused_until', most: 24 * hour, instead: 'NULL' }],
  outgoing_deliveries: [
    {
      column: 'next_attempt_at',
      // The first attempt is at once, and between two are 24 hours and a tenth at most.
      measured: `next_attempt_at - CASE WHEN attempts = 0 THEN interval '0' ELSE interval '27 hours' END`,
      most: minute,
      instead: '$1',
    },
  ],
  delivery_scans: [
    { column: 'scanned_until', most: 0, instead: longAgo },
    { column: 'refused_at', most: 0, instead: 'NULL' },
  ],
  application_keys: [{ column: 'last_used_at', most: 0, instead: '$1' }],
  known_credentials: [{ column: 'good_at', most: 0, instead: longAgo }],
  minute_counts: [{ column: 'minute', most: 0, instead: longAgo }],
  comment_answers: [{ column: 'taken_at', most: 0, instead: '$1' }],
  slack_requests: [{ column: 'received_at', most: 0, instead: '$1' }],
  jobs: [
    { column: 'due_at', most: minute, instead: '$1', of: 'is_taken', by: 'database' },
    { column: 'not_before', most: 24 * hour, instead: 'NULL' },
  ],
};

const isAhead = ({ column, measured = column, most, of = 'true', by }: Limit): string =>
  `${of} AND ${measured} > ${by === 'database' ? 'greatest($1, job_now())' : '$1'} + interval '${most + mostAhead} milliseconds'`;

const corrected = ([table, columns]: [string, Limit[]]): string => `
  ${table}_ahead AS (
    UPDATE ${table} SET ${columns
      .map(
        (each) => `${each.column} = CASE WHEN ${isAhead(each)} THEN ${each.instead} ELSE ${each.column} END`,
      )
      .join(', ')}
    WHERE ${columns.map((each) => `(${isAhead(each)})`).join(' OR ')} RETURNING 1)`;

const tables = Object.entries(limits);

const correctAll = `WITH ${tables.map(corrected).join(',')}
  ${tables.map(([table]) => `SELECT '${table}' AS "table", count(*)::int AS rows FROM ${table}_ahead`).join(' UNION ALL ')}`
  // Every use of the parameter has its type.
  .replaceAll('$1', '$1::timestamptz');

/**
 * Corrects what a clock that was wrong stored in the future: nothing that was stored moves the present, or puts off work
 * for longer than work is ever put off.
 */
export async function correctInstantsAhead({
  sql,
  clock,
  log,
}: Pick<Deps, 'sql' | 'clock' | 'log'>): Promise<void> {
  const counts = await sql.query<{ table: string; rows: number }>('instants ahead', correctAll, [
    nowOf(clock),
  ]);
  const found = counts.filter(({ rows }) => rows > 0);
  if (found.length === 0) return;
  const rows = Object.fromEntries(found.map(({ table, rows }) => [table, rows]));
  log.warn({ rows }, 'a clock was wrong: what it stored in the future does not count');
}
