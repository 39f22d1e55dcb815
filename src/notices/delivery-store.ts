// The statements over deliveries. Those that are over are many: only open ones have `next_attempt_at`, and an index of
// their own, so nothing here reads others.
import type { SqlTx } from '../database/sql.ts';
import type { Verdict } from './judge-attempt.ts';

/** A delivery that this process sends now. @property attempts with this one. */
export type Claimed = { id: string; eventIds: bigint[]; type: string; attempts: number; createdAt: Date };

/**
 * Seconds for which a claim is good, by the database's clock. Longer than an attempt lasts, so that nothing is sent twice
 * at once; what a process that died has claimed is sent again afterwards.
 */
const claimLife = 30;
/**
 * The open deliveries of a webhook ($1). One waits behind an earlier one about the same thing that is under way, or will be
 * within seconds ($2 is now): while an address answers, it is told in order. After that nobody waits for it.
 */
const openDeliveries = `
  SELECT id, serial, next_attempt_at, claimed_until, coalesce(bool_or(
      attempts = 0 OR claimed_until > job_now() OR next_attempt_at <= $2::timestamptz + interval '10 seconds'
    ) OVER earlier, false) AS is_behind
  FROM outgoing_deliveries WHERE webhook_id = $1::uuid AND next_attempt_at IS NOT NULL
  WINDOW earlier AS (
    PARTITION BY coalesce(subject, id::text) ORDER BY serial ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;

const isDue = (row: string) =>
  `${row}.next_attempt_at <= $2::timestamptz AND (${row}.claimed_until IS NULL OR ${row}.claimed_until <= job_now())`;

// Materialized: it reads the open ones once, by their index, whatever the planner knows of the table.
const claim = `
  WITH webhook AS (
    SELECT xmin::text AS revision, is_enabled AS "isEnabled",
      CASE WHEN NOT is_enabled OR paused_until > $2::timestamptz THEN 0 WHEN kind = 'standard' THEN $3::int ELSE 1 END AS most
    FROM outgoing_webhooks WHERE id = $1::uuid
  ), opened AS MATERIALIZED (${openDeliveries}), due AS (
    SELECT id FROM opened WHERE NOT is_behind AND ${isDue('opened')} ORDER BY serial LIMIT (SELECT most FROM webhook)
  ), locked AS (
    SELECT id FROM outgoing_deliveries AS each WHERE id IN (SELECT id FROM due) AND ${isDue('each')}
    FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE outgoing_deliveries AS each SET attempts = attempts + 1, last_attempt_at = $2::timestamptz,
      claimed_until = job_now() + interval '${claimLife} seconds'
    FROM locked WHERE each.id = locked.id
    RETURNING each.id, each.serial, each.event_ids, each.type, each.attempts, each.created_at
  )
  SELECT revision, "isEnabled", id, event_ids AS "eventIds", type, attempts, created_at AS "createdAt"
  FROM webhook LEFT JOIN claimed ON true ORDER BY serial`;

/** What a webhook is sent now. @property revision changes with the webhook. */
type Claim = { revision: string; isEnabled: boolean; claimed: Claimed[] };

/**
 * Claims due deliveries of a webhook, the earliest first: at most so many, and for a chat one. None while it is disabled
 * or paused.
 * @returns null if it is deleted.
 */
export async function claimDue(
  sql: SqlTx,
  webhookId: string,
  now: Date,
  most: number,
): Promise<Claim | null> {
  const values = [webhookId, now, most];
  const rows = await sql.query<Omit<Claim, 'claimed'> & (Claimed | { id: null })>(
    'claim deliveries',
    claim,
    values,
  );
  if (!rows[0]) return null;
  const { revision, isEnabled } = rows[0];
  return { revision, isEnabled, claimed: rows.filter((row) => row.id !== null) as Claimed[] };
}

const settle = `
  UPDATE outgoing_deliveries AS each SET state = done.state, status = done.status, error = done.error,
    message_id = coalesce(done.message_id, each.message_id), next_attempt_at = done.next_attempt_at, claimed_until = NULL
  FROM jsonb_to_recordset($1::jsonb) AS done (id uuid, attempts int, state text, status int, error text, message_id text,
    next_attempt_at timestamptz)
  WHERE each.id = done.id AND each.attempts = done.attempts AND each.state = 'waiting'`;

const states = { delivered: 'delivered', retried: 'waiting', failed: 'failed' };

/** Saves what became of claimed deliveries, except of those that another process has claimed since. */
export async function settleAll(
  sql: SqlTx,
  judged: { delivery: Claimed; verdict: Verdict }[],
): Promise<void> {
  const rows = judged.map(({ delivery: { id, attempts }, verdict }) => {
    const { outcome, status, error, messageId, nextAttemptAt } = verdict;
    const state = states[outcome];
    return { id, attempts, state, status, error, message_id: messageId, next_attempt_at: nextAttemptAt };
  });
  await sql.query('settle deliveries', settle, [JSON.stringify(rows)]);
}

const next = `
  WITH opened AS MATERIALIZED (${openDeliveries})
  SELECT min(greatest(next_attempt_at, claimed_until, paused_until)) AS at
  FROM opened CROSS JOIN (SELECT paused_until FROM outgoing_webhooks WHERE id = $1::uuid) AS webhook
  WHERE NOT is_behind`;

/** When a webhook next has something to send; null: there is nothing. */
export async function nextAttempt(sql: SqlTx, webhookId: string, now: Date): Promise<Date | null> {
  const [row] = await sql.query<{ at: Date | null }>('next delivery', next, [webhookId, now]);
  return row!.at;
}

/** Sends nothing to a webhook before an instant. */
export async function pauseWebhook(sql: SqlTx, webhookId: string, until: Date): Promise<void> {
  await sql.query(
    'pause a webhook',
    'UPDATE outgoing_webhooks SET paused_until = greatest(paused_until, $2::timestamptz) WHERE id = $1::uuid',
    [webhookId, until],
  );
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
