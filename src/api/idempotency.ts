import { createHash } from 'node:crypto';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { errorCodeOf } from '../database/database-errors.ts';
import { seal, unsealWithAny } from '../database/secret-key.ts';
import { type SqlTx, throughPrisma } from '../database/sql.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid } from '../errors.ts';

export type Answer = { status: number; body?: unknown; headers?: Record<string, string> };

/** An answer that contains a secret: it is kept encrypted with SECRET_KEY. */
type SecretAnswer = Answer & { hasSecret?: true };

/**
 * Saves an answer for replay. Call it first in the transaction of the change, so that both happen or neither. Waits if
 * another request with this key has an open transaction.
 * @throws if that request made the change: the transaction must then end without making it again.
 */
export type RememberAnswer = (tx: Tx | SqlTx, answer: SecretAnswer) => Promise<void>;

const hours = 3_600_000;
export const replayedFor = 24 * hours;

type OnceDeps = Pick<Deps, 'db' | 'clock' | 'config'>;
type KeyedRequest = { caller: string; request: string; key: string };

/**
 * Runs a POST at most once for an `Idempotency-Key`, and replays the first answer to the same request for 24 h. The
 * answer is part of the transaction, so a process that dies leaves nothing behind. Only successes are saved, so a client
 * may correct a refused request and send it again with its key.
 * @param where.request the method and path. @param body the parsed JSON.
 * @throws Refusal conflict if the first request still runs after 4 s; invalid for the same key with another body.
 */
export async function runOnce(
  deps: OnceDeps,
  where: KeyedRequest,
  body: unknown,
  run: (remember: RememberAnswer) => Promise<Answer>,
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
      saveRemembered(deps, 'query' in tx ? tx : throughPrisma(tx), { ...where, bodyHash, answer }),
    );
  } catch (error) {
    if (isLockTimeout(error)) throw inProgress();
    // Another request with this key was faster and made the change. That may be why this one was refused.
    const first = await findAnswer(deps, where, bodyHash);
    if (!first) throw error;
    return first;
  }
}

const badKey = (message: string) =>
  invalid([{ path: ['header', 'Idempotency-Key'], message, type: 'value_error' }]);

const inProgress = () =>
  conflict('Another request with this Idempotency-Key is in progress. Try again in a moment.');

/** The saved answer of a key; null if it has none. */
async function findAnswer(
  { db, clock, config }: OnceDeps,
  where: KeyedRequest,
  bodyHash: string,
): Promise<Answer | null> {
  const record = await db.idempotencyRecord.findUnique({ where: { caller_request_key: where } });
  if (!record || record.answeredAt <= expiry(nowOf(clock))) return null;
  if (record.bodyHash !== bodyHash) {
    throw badKey('This key was used with another body. Use a new key for a new request.');
  }
  const isSealed = !record.answer.startsWith('{');
  const text = isSealed ? unsealWithAny(config, purposeOf(where), record.answer) : record.answer;
  const answer = JSON.parse(text) as Answer;
  return { ...answer, headers: { ...answer.headers, 'Idempotent-Replayed': 'true' } };
}

/** An encrypted answer opens for nothing but its request. */
const purposeOf = (where: KeyedRequest): string => `answer to ${JSON.stringify(where)}`;

async function saveRemembered(
  { clock, config }: OnceDeps,
  tx: SqlTx,
  {
    bodyHash,
    answer: { hasSecret, ...answer },
    ...where
  }: KeyedRequest & { bodyHash: string; answer: SecretAnswer },
): Promise<void> {
  const { caller, request, key } = where;
  const text = JSON.stringify(answer);
  const now = nowOf(clock);
  // If another open transaction has the same key, PostgreSQL waits here until it ends, but not longer than this: a request has 5 s.
  await tx.query('wait-for-key', `SET LOCAL lock_timeout = '4s'`);
  const values = [
    caller,
    request,
    key,
    bodyHash,
    hasSecret && config.secretKey !== null ? seal(config.secretKey, purposeOf(where), text) : text,
    now,
    expiry(now),
  ];
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

/** PostgreSQL's code for a lock timeout. */
const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && (errorCodeOf(error) === '55P03' || /\b55P03\b/.test(error.message));
