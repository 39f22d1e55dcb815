import { createHash } from 'node:crypto';
import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid } from '../errors.ts';

export type Answer = { status: number; body?: unknown; headers?: Record<string, string> };

/** Saves an answer for replay; with the transaction of the change, so that both happen or neither. */
export type Remember = (tx: Tx, answer: Answer) => Promise<void>;

const hours = 3_600_000;
export const replayedFor = 24 * hours;
/** A request whose process died is taken over after this; none that lives takes so long. */
const abandonedAfter = 60_000;

/**
 * Runs a POST at most once for an `Idempotency-Key`: the first answer is replayed to the same request for 24 h.
 * Only successes are kept, so a client may mend a refused request and send it again under its key.
 * @param request method and path; @param body the parsed JSON.
 * @throws Refusal conflict while the first one still runs; invalid for the same key with another body.
 */
export async function runOnce(
  deps: Pick<Deps, 'db' | 'clock'>,
  where: { caller: string; request: string; key: string },
  body: unknown,
  run: (remember: Remember) => Promise<Answer>,
): Promise<Answer> {
  if (!/^[\x20-\x7e]{1,255}$/.test(where.key)) {
    throw badKey('Send 1 to 255 printable ASCII characters, such as a UUID.');
  }
  const bodyHash = createHash('sha256')
    .update(JSON.stringify(body) ?? '')
    .digest('hex');
  const startedAt = nowOf(deps.clock);
  const earlier = await begin(deps, where, bodyHash, startedAt);
  if (earlier) return { ...earlier, headers: { ...earlier.headers, 'Idempotent-Replayed': 'true' } };
  // Only while the key is still ours: a request that was given up for dead must not act after all.
  const ours = { ...where, startedAt, completedAt: null };
  const remember: Remember = async (tx, answer) => {
    const { count } = await tx.idempotencyRecord.updateMany({
      where: ours,
      data: { status: answer.status, answer: JSON.stringify(answer), completedAt: nowOf(deps.clock) },
    });
    if (count === 0) throw inProgress();
  };
  try {
    return await run(remember);
  } catch (error) {
    await deps.db.idempotencyRecord.deleteMany({ where: ours });
    throw error;
  }
}

const inProgress = () =>
  conflict('Another request with this Idempotency-Key is in progress. Try again in a moment.');

const badKey = (message: string) =>
  invalid([{ path: ['header', 'Idempotency-Key'], message, type: 'value_error' }]);

/** Takes the key, or returns the answer that it already has. */
async function begin(
  deps: Pick<Deps, 'db' | 'clock'>,
  where: { caller: string; request: string; key: string },
  bodyHash: string,
  now: Date,
): Promise<Answer | null> {
  const expired = new Date(now.getTime() - replayedFor);
  await deps.db.idempotencyRecord.deleteMany({ where: { ...where, startedAt: { lte: expired } } });
  const data = [{ ...where, bodyHash, startedAt: now }];
  const { count } = await deps.db.idempotencyRecord.createMany({ data, skipDuplicates: true });
  if (count === 1) return null;
  const record = await deps.db.idempotencyRecord.findUnique({ where: { caller_request_key: where } });
  if (record && record.bodyHash !== bodyHash) {
    throw badKey('This key was used with another body. Use a new key for a new request.');
  }
  if (record?.answer) return JSON.parse(record.answer) as Answer;
  const abandoned = new Date(now.getTime() - abandonedAfter);
  const takenOver = await deps.db.idempotencyRecord.updateMany({
    where: { ...where, completedAt: null, startedAt: { lte: abandoned } },
    data: { startedAt: now },
  });
  if (takenOver.count === 1) return null;
  throw inProgress();
}
