import { createHash } from 'node:crypto';
import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import { type SqlTx, throughPrisma } from '../database/sql.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid } from '../errors.ts';

export type Answer = { status: number; body?: unknown; headers?: Record<string, string> };

/**
 * Saves an answer for replay, as the first statement of the transaction that makes the change: both happen, or
 * neither. Waits for another request with this key whose transaction is open.
 * @throws where that one made the change: then the transaction must end without making it again.
 */
export type Remember = (tx: Tx | SqlTx, answer: Answer) => Promise<void>;

const hours = 3_600_000;
export const replayedFor = 24 * hours;

type Place = { caller: string; request: string; key: string };

/**
 * Runs a POST at most once for an `Idempotency-Key`: the first answer is replayed to the same request for 24 h. A
 * request whose process dies leaves nothing, because its answer is part of its transaction. Only successes are kept, so
 * a client may mend a refused request and send it again under its key.
 * @param where.request method and path; @param body the parsed JSON.
 * @throws Refusal conflict while the first one still runs after 10 s; invalid for the same key with another body.
 */
export async function runOnce(
  deps: Pick<Deps, 'db' | 'clock'>,
  where: Place,
  body: unknown,
  run: (remember: Remember) => Promise<Answer>,
): Promise<Answer> {
  if (!/^[\x20-\x7e]{1,255}$/.test(where.key)) {
    throw badKey('Send 1 to 255 printable ASCII characters, such as a UUID.');
  }
  const bodyHash = createHash('sha256')
    .update(JSON.stringify(body) ?? '')
    .digest('hex');
  const earlier = await findAnswer(deps, where, bodyHash);
  if (earlier) return earlier;
  try {
    return await run((tx, answer) =>
      save(deps, 'query' in tx ? tx : throughPrisma(tx), { ...where, bodyHash, answer }),
    );
  } catch (error) {
    if (isLockTimeout(error)) throw inProgress();
    // Another request with this key was faster. It made the change, which may be why this one was refused.
    const first = await findAnswer(deps, where, bodyHash);
    if (!first) throw error;
    return first;
  }
}

const badKey = (message: string) =>
  invalid([{ path: ['header', 'Idempotency-Key'], message, type: 'value_error' }]);

const inProgress = () =>
  conflict('Another request with this Idempotency-Key is in progress. Try again in a moment.');

/** The answer that a key already has; null for none. */
async function findAnswer(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  where: Place,
  bodyHash: string,
): Promise<Answer | null> {
  const record = await db.idempotencyRecord.findUnique({ where: { caller_request_key: where } });
  if (!record || record.answeredAt <= expiry(nowOf(clock))) return null;
  if (record.bodyHash !== bodyHash) {
    throw badKey('This key was used with another body. Use a new key for a new request.');
  }
  const answer = JSON.parse(record.answer) as Answer;
  return { ...answer, headers: { ...answer.headers, 'Idempotent-Replayed': 'true' } };
}

async function save(
  { clock }: Pick<Deps, 'clock'>,
  tx: SqlTx,
  { caller, request, key, bodyHash, answer }: Place & { bodyHash: string; answer: Answer },
): Promise<void> {
  const now = nowOf(clock);
  // The same key in another open transaction: PostgreSQL waits here until that one ends, or this long.
  await tx.query('wait-for-key', `SET LOCAL lock_timeout = '10s'`);
  const values = [caller, request, key, bodyHash, JSON.stringify(answer), now, expiry(now)];
  const saved = await tx.query('save-answer', saveAnswer, values);
  await tx.query('wait-no-more', 'SET LOCAL lock_timeout TO DEFAULT');
  if (saved.length === 0) throw inProgress();
}

const saveAnswer = `
  INSERT INTO idempotency_records AS known (caller, request, key, body_hash, answer, answered_at)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (caller, request, key) DO UPDATE SET
    body_hash = excluded.body_hash, answer = excluded.answer, answered_at = excluded.answered_at
  WHERE known.answered_at <= $7
  RETURNING true`;

const expiry = (now: Date): Date => new Date(now.getTime() - replayedFor);

/** PostgreSQL's code for a lock that was not free in time. */
const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && (('code' in error && error.code === '55P03') || /\b55P03\b/.test(error.message));
