import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Pace, takePlace } from '../../src/outbox/pace.ts';

/** Takes a place for each wish, after its pause and as soon as the pace allows; the times of all, from 0. */
function write(perMinute: number, pauses: number[]): number[] {
  let now = 0;
  let kept: Pace | null = null;
  return pauses.map((pause) => {
    now += pause;
    for (;;) {
      const { wait, pace } = takePlace(kept, perMinute, new Date(now));
      kept = pace;
      if (wait === 0) return now;
      now += wait;
    }
  });
}

/** The most within any minute, whichever way it is laid. */
const busiestMinute = (times: number[]): number =>
  Math.max(...times.map((start) => times.filter((time) => time >= start && time < start + 60_000).length));

test('no minute holds more than allowed, whenever writes are wished for', () => {
  const pause = fc.oneof(
    { weight: 15, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 90_000 }) },
  );
  const pauses = fc.array(pause, { minLength: 100, maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 75 }), pauses, (perMinute, wishes) => {
      const times = write(perMinute, wishes);
      expect(busiestMinute([...times, Infinity])).toBeLessThanOrEqual(perMinute);
    }),
    { numRuns: 40 },
  );
});

test('a quarter goes at once, and three hundred take four minutes at 75', () => {
  const times = write(75, Array<number>(300).fill(0));
  expect(times.filter((time) => time === 0)).toHaveLength(18);
  expect(times.at(-1)).toBeLessThan(5 * 60_000);
});

test('a replica whose clock is behind gains nothing by it', () => {
  const first = takePlace({ tokens: 0, countedAt: new Date(10_000) }, 75, new Date(4_000));
  expect(first.wait).toBeGreaterThan(0);
  expect(first.pace.countedAt).toEqual(new Date(10_000));
  expect(takePlace(first.pace, 75, new Date(10_000)).wait).toBeGreaterThan(0);
});
