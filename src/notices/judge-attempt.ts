import { createHash } from 'node:crypto';
import { CannotUnseal } from '../database/secret-key.ts';
import { second, minute, hour } from '../time/units.ts';

/** Milliseconds after each failed attempt. After the last one there is no other. */
const waits = [
  5 * second,
  ...[5, 30].map((count) => count * minute),
  ...[2, 5, 10, 14, 20, 24].map((count) => count * hour),
];
const longestRetryWait = 24 * hour;

/** What an address answered. @property error in words, if the status does not say enough. @property retryAfter milliseconds that it asks us to wait; absent or null: it does not. */
export type SentDelivery = { status: number; messageId?: string; retryAfter?: number | null; error?: string };

/** What came of an attempt. @property status null: there was no answer. */
export type DeliveryAttempt = SentDelivery | { status: null; error: string };

/**
 * What becomes of the delivery.
 * @property disables whether the webhook takes no more messages.
 * @property error for people; null once it is delivered. @property nextAttemptAt null: there is none.
 * @property pausedUntil when the address wants the next message of all; null: it did not say.
 */
export type AttemptVerdict = {
  outcome: 'delivered' | 'retried' | 'failed';
  disables: boolean;
  status: number | null;
  error: string | null;
  messageId: string | null;
  nextAttemptAt: Date | null;
  pausedUntil: Date | null;
};

const nothing = {
  disables: false,
  status: null,
  error: null,
  messageId: null,
  nextAttemptAt: null,
  pausedUntil: null,
};

/** Of a delivery that is not even tried. */
export const lost: AttemptVerdict = {
  ...nothing,
  outcome: 'failed',
  error: 'The audit log no longer has what it tells.',
};

/**
 * Judges an attempt.
 * @param attempts how many there were, with this one. Two deliveries that fail together are not tried again together.
 */
export function judgeAttempt(
  attempt: DeliveryAttempt,
  { id, attempts }: { id: string; attempts: number },
  now: number,
): AttemptVerdict {
  const { status } = attempt;
  const verdict = { ...nothing, status };
  if (status !== null && status >= 200 && status < 300)
    return { ...verdict, outcome: 'delivered', messageId: attempt.messageId ?? null };
  const failed = { ...verdict, error: attempt.error ?? (status === null ? null : inWords(status)) };
  const asked = Math.min(('retryAfter' in attempt && attempt.retryAfter) || 0, longestRetryWait);
  const pausedUntil = asked > 0 && (status === 429 || status === 503) ? new Date(now + asked) : null;
  const wait = status === 410 ? undefined : waits[attempts - 1];
  if (wait === undefined) return { ...failed, outcome: 'failed', disables: true };
  const nextAttemptAt = new Date(now + Math.max(wait * (1 + jitter(id, attempts) / 10), asked));
  return { ...failed, outcome: 'retried', nextAttemptAt, pausedUntil };
}

/** From 0 to 1, spread over deliveries and attempts, and always the same for one. */
const jitter = (id: string, attempts: number): number =>
  createHash('sha256').update(`${id} ${attempts}`).digest().readUInt32BE() / 2 ** 32;

function inWords(status: number): string {
  if (status === 410) return 'It answered 410: it wants no more messages.';
  if (status >= 300 && status < 400)
    return `It answered ${status}. Holdfast follows no redirects: change the address to the one that it redirects to.`;
  return `It answered ${status}.`;
}

/** @param header `Retry-After`: seconds, or a date. @returns milliseconds; null if it says nothing. */
export function readRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * second;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

const codes: Record<string, string> = {
  ENOTFOUND: 'The name of its host does not resolve.',
  EAI_AGAIN: 'The name of its host does not resolve.',
  ECONNREFUSED: 'It refused the connection.',
  ECONNRESET: 'It closed the connection.',
  EPIPE: 'It closed the connection.',
  UND_ERR_SOCKET: 'It closed the connection.',
  ETIMEDOUT: 'It cannot be reached.',
  EHOSTUNREACH: 'It cannot be reached.',
  ENETUNREACH: 'It cannot be reached.',
  UND_ERR_CONNECT_TIMEOUT: 'It cannot be reached.',
};

/** An error of the network, for people. Its own message can name addresses of our network, so only its code is told. */
export function describeFailure(error: unknown): string {
  if (error instanceof CannotUnseal)
    return 'Its address was encrypted with another SECRET_KEY. Set SECRET_KEY_PREVIOUS to that one, or create the webhook anew.';
  const { name, code } = error as { name?: string; code?: unknown };
  if (name === 'TimeoutError') return 'It did not answer within 15 seconds.';
  if (typeof code !== 'string') return 'It cannot be reached.';
  if (/CERT|SELF_SIGNED|UNABLE_TO|^ERR_TLS|^ERR_SSL|EPROTO/.test(code))
    return `Its certificate is not valid (${code}).`;
  return codes[code] ?? `It cannot be reached (${code}).`;
}
