import fc from 'fast-check';
import { TestClock } from 'pg-boss';
import { expect, test } from 'vitest';
import { Pace, Paces } from '../../src/freeze-status/pacing.ts';

/** Takes a place for each wish, after its pause and as soon as the pace allows; the times of all. */
async function write(clock: TestClock, pace: Pace, pauses: number[]): Promise<number[]> {
  const times: number[] = [];
  for (const pause of pauses) {
    await clock.setTime(clock.now() + pause);
    for (let wait = pace.take(); wait > 0; wait = pace.take()) await clock.setTime(clock.now() + wait);
    times.push(clock.now());
  }
  return times;
}

/** The most within any minute, whichever way it is laid. */
const busiestMinute = (times: number[]): number =>
  Math.max(...times.map((start) => times.filter((time) => time >= start && time < start + 60_000).length));

test('no minute holds more than allowed, whenever writes are wished for', async () => {
  const pause = fc.oneof(
    { weight: 15, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 90_000 }) },
  );
  const pauses = fc.array(pause, { minLength: 100, maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 75 }), pauses, async (perMinute, wishes) => {
      const clock = new TestClock(0);
      const times = await write(clock, new Pace(clock, perMinute), wishes);
      expect(busiestMinute([...times, Infinity])).toBeLessThanOrEqual(perMinute);
    }),
    { numRuns: 40 },
  );
});

test('a quarter goes at once, and three hundred take four minutes at 75', async () => {
  const clock = new TestClock(0);
  const times = await write(clock, new Pace(clock, 75), Array<number>(300).fill(0));
  expect(times.filter((time) => time === 0)).toHaveLength(18);
  expect(times.at(-1)).toBeLessThan(5 * 60_000);
});

test('installations have paces of their own', () => {
  const paces = new Paces(new TestClock(0), 1);
  expect(paces.of(1n).take()).toBe(0);
  expect(paces.of(1n).take()).toBeGreaterThan(0);
  expect(paces.of(2n).take()).toBe(0);
});
