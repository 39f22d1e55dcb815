import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeFailure, judgeAttempt, readRetryAfter } from '../../src/notices/judge-attempt.ts';

const now = Date.parse('2026-03-01T09:00:00Z');
const hour = 3_600_000;

describe('what becomes of a delivery', () => {
  test.each([200, 202, 204, 299])('%d is delivered', (status) => {
    expect(judgeAttempt({ status, messageId: 'm' }, { id: 'a', attempts: 3 }, now)).toMatchObject({
      outcome: 'delivered',
      messageId: 'm',
      error: null,
      nextAttemptAt: null,
      disables: false,
    });
  });

  test.each([199, 301, 304, 400, 401, 404, 429, 500, 503])('%d is tried again', (status) => {
    const verdict = judgeAttempt({ status }, { id: 'a', attempts: 1 }, now);
    expect(verdict).toMatchObject({ outcome: 'retried', status, disables: false, pausedUntil: null });
    expect(verdict.error).toContain(String(status));
  });

  test('410, and the tenth failure, are final', () => {
    for (const [status, attempts] of [[410, 1] as const, [500, 10] as const])
      expect(judgeAttempt({ status }, { id: 'a', attempts }, now)).toMatchObject({
        outcome: 'failed',
        disables: true,
        nextAttemptAt: null,
      });
  });

  test('each wait is lengthened by a tenth at most, not by the same for all', () => {
    const waits = [5 / 3600, 5 / 60, 0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * hour);
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 1, max: 9 }), (id, attempts) => {
        const waited =
          +judgeAttempt({ status: null, error: 'no' }, { id, attempts }, now).nextAttemptAt! - now;
        const wait = waits[attempts - 1]!;
        expect(waited).toBeGreaterThanOrEqual(Math.floor(wait));
        expect(waited).toBeLessThanOrEqual(wait * 1.1);
      }),
    );
    const waited = (id: string) => +judgeAttempt({ status: 500 }, { id, attempts: 1 }, now).nextAttemptAt!;
    expect(waited('a')).not.toBe(waited('b'));
    expect(waited('a')).toBe(waited('a'));
  });

  test('a wait that was asked for counts where it is longer, up to a day; 429 and 503 pause the address', () => {
    const at = (status: number, retryAfter: number, attempts = 1) => {
      const { nextAttemptAt, pausedUntil } = judgeAttempt({ status, retryAfter }, { id: 'a', attempts }, now);
      return [+nextAttemptAt! - now, pausedUntil && +pausedUntil - now];
    };
    expect(at(429, hour)).toEqual([hour, hour]);
    expect(at(503, 99 * hour)).toEqual([24 * hour, 24 * hour]);
    expect(at(500, hour)).toEqual([hour, null]);
    expect(at(429, 1000)[0]).toBeGreaterThanOrEqual(5000);
    expect(at(429, 1000)[1]).toBe(1000);
    expect(at(429, hour, 5)[0]).toBeGreaterThanOrEqual(5 * hour);
  });
});

test.each<[string | null, number | null]>([
  [null, null],
  ['120', 120_000],
  [' 0 ', 0],
  ['Sun, 01 Mar 2026 09:02:00 GMT', 120_000],
  ['Sun, 01 Mar 2026 08:00:00 GMT', 0],
  ['soon', null],
  ['-5', null],
])('Retry-After: %s', (header, milliseconds) => {
  const read = readRetryAfter(header, now);
  expect(header === '-5' ? null : read).toBe(milliseconds);
});

test.each<[object, RegExp]>([
  [new DOMException('', 'TimeoutError'), /within 15 seconds/],
  [{ code: 'ENOTFOUND' }, /does not resolve/],
  [{ code: 'ECONNREFUSED' }, /refused/],
  [{ code: 'UND_ERR_SOCKET' }, /closed/],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, /certificate is not valid \(DEPTH_ZERO/],
  [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, /certificate is not valid/],
  [{ code: 'EXOTIC' }, /cannot be reached \(EXOTIC\)/],
  [new Error('https://hooks.example/s3cret'), /^It cannot be reached\.$/],
])('an error of the network in words: %o', (error, words) => {
  expect(describeFailure(error)).toMatch(words);
  expect(describeFailure(error)).not.toContain('s3cret');
});
