// The statements over deliveries. Those that are over are many: only open ones have `next_attempt_at`, and an index of
// their own, so nothing here reads others.
import { isOurTurn } from '../database/queue/queue.ts';
import type { SqlTx } from '../database/sql.ts';
import type { AttemptVerdict } from './judge-attempt.ts';

/** A delivery that this process sends now. @property attempts with this one. */
export type TakenDelivery = {
  id: string;
  eventIds: bigint[];
  type: string;
  attempts: number;
  createdAt: Date;
};

/**
 * The open deliveries of a webhook ($1). One waits behind an earlier one about the same thing that was not tried, or will
 * be tried again within seconds ($2 is now): while an address answers, it is told in order. After that nobody waits for it.
 */
const openDeliveries = `
  SELECT id, serial, next_attempt_at, coalesce(bool_or(
      attempts = 0 OR next_attempt_at <= $2::timestamptz + interval '10 seconds'
    ) OVER earlier, false) AS is_behind
  FROM outgoing_deliveries WHERE webhook_id = $1::uuid AND next_attempt_at IS NOT NULL
  WINDOW earlier AS (
    PARTITION BY coalesce(subject, id::text) ORDER BY serial ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;

// Materialized: it reads the open ones once, by their index, whatever the planner knows of the table. What another
// transaction adds to is taken once it has committed, and what a process of an earlier version claimed once that is over.
const take = `
  WITH webhook AS (
    SELECT xmin::text AS revision, is_enabled AS "isEnabled",
      CASE WHEN NOT is_enabled THEN 0 WHEN kind = 'standard' THEN $3::int ELSE 1 END AS most
    FROM outgoing_webhooks WHERE id = $1::uuid AND ${isOurTurn('$4')}
  ), opened AS MATERIALIZED (${openDeliveries}), due AS (
    SELECT id FROM opened WHERE NOT is_behind AND next_attempt_at <= $2::timestamptz
    ORDER BY serial LIMIT coalesce((SELECT most FROM webhook), 0)
  ), locked AS (
    SELECT id FROM outgoing_deliveries AS each
    WHERE id IN (SELECT id FROM due) AND each.next_attempt_at <= $2::timestamptz
      AND coalesce(each.claimed_until <= job_now(), true)
    FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE outgoing_deliveries AS each SET attempts = attempts + 1, last_attempt_at = $2::timestamptz
    FROM locked WHERE each.id = locked.id
    RETURNING each.id, each.serial, each.event_ids, each.type, each.attempts, each.created_at
  )
  SELECT revision, "isEnabled", (SELECT min(next_attempt_at) FROM opened WHERE NOT is_behind) AS next,
    id, event_ids AS "eventIds", type, attempts, created_at AS "createdAt"
  FROM webhook LEFT JOIN taken ON true ORDER BY serial`;

/**
 * What a webhook is sent now. @property revision changes with the webhook. @property next when the next one is due; null:
 * none is open.
 */
type Take = { revision: string; isEnabled: boolean; next: Date | null; deliveries: TakenDelivery[] };

/**
 * Takes due deliveries of a webhook, the earliest first: at most so many, and for a chat one. None while it is disabled.
 * @returns null if it is deleted, or its lane is another process's.
 */
export async function takeDue(
  sql: SqlTx,
  webhookId: string,
  turn: bigint,
  now: Date,
  most: number,
): Promise<Take | null> {
  const values = [webhookId, now, most, turn];
  const rows = await sql.query<Omit<Take, 'deliveries'> & (TakenDelivery | { id: null })>(
    'take deliveries',
    take,
    values,
  );
  if (!rows[0]) return null;
  const { revision, isEnabled, next } = rows[0];
  return {
    ...{ revision, isEnabled, next },
    deliveries: rows.filter((row) => row.id !== null) as TakenDelivery[],
  };
}

const settle = `
  UPDATE outgoing_deliveries AS each SET state = done.state, status = done.status, error = done.error,
    message_id = coalesce(done.message_id, each.message_id), next_attempt_at = done.next_attempt_at
  FROM jsonb_to_recordset($1::jsonb) AS done (id uuid, attempts int, state text, status int, error text, message_id text,
    next_attempt_at timestamptz)
  WHERE each.id = done.id AND each.attempts = done.attempts AND each.state = 'waiting' AND ${isOurTurn('$2')}`;

const states = { delivered: 'delivered', retried: 'waiting', failed: 'failed' };

/** Saves what became of deliveries, while the lane is ours. */
export async function settleAll(
  sql: SqlTx,
  turn: bigint,
  judged: { delivery: TakenDelivery; verdict: AttemptVerdict }[],
): Promise<void> {
  const rows = judged.map(({ delivery: { id, attempts }, verdict }) => {
    const { outcome, status, error, messageId, nextAttemptAt } = verdict;
    const state = states[outcome];
    return { id, attempts, state, status, error, message_id: messageId, next_attempt_at: nextAttemptAt };
  });
  await sql.query('settle deliveries', settle, [JSON.stringify(rows), turn]);
}

/** Gives up what a disabled webhook was still to be told. */
export async function giveUpOpen(sql: SqlTx, webhookId: string): Promise<void> {
  await sql.query(
    'give up deliveries',
    `UPDATE outgoing_deliveries SET state = 'failed', error = 'The webhook was disabled.', next_attempt_at = NULL
     WHERE webhook_id = $1::uuid AND next_attempt_at IS NOT NULL`,
    [webhookId],
  );
}

/** The webhooks with a due delivery. */
export async function webhooksWithDue(sql: SqlTx, now: Date): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'webhooks with due deliveries',
    'SELECT DISTINCT webhook_id AS id FROM outgoing_deliveries WHERE next_attempt_at <= $1::timestamptz',
    [now],
  );
  return rows.map(({ id }) => id);
}

const deletedAtOnce = 5000;

/** Deletes deliveries from before an instant, in batches. */
export async function forgetDeliveries(sql: SqlTx, before: Date): Promise<void> {
  let deleted: unknown[];
  do {
    deleted = await sql.query(
      'forget deliveries',
      `DELETE FROM outgoing_deliveries WHERE id = ANY (ARRAY(
         SELECT id FROM outgoing_deliveries WHERE created_at < $1::timestamptz
         ORDER BY created_at LIMIT ${deletedAtOnce})) RETURNING 1 AS one`,
      [before],
    );
  } while (deleted.length === deletedAtOnce);
}
