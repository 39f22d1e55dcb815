import { expect, test } from 'vitest';
import { isFreshBy, readingOf, systemClock, wasSetSince } from '../../src/time/clock.ts';

test.each([
  ['a moment later', 1_000, 1_000, true],
  ['too late', 4_000, 4_000, false],
  ['the clock was set forth', 3_600_000, 1_000, false],
  ['the clock was ahead, and was set back', -3_600_000, 1_000, false],
  ['the clock drifts a little', 2_500, 1_000, true],
])('what was decided by a clock counts for 3 s: %s', (_what, shown, passed, expected) => {
  let [now, elapsed] = [1_000_000, 0];
  const clock = { ...systemClock, now: () => now, elapsed: () => elapsed };
  const before = readingOf(clock);
  now += shown;
  elapsed += passed;
  expect(isFreshBy(clock, before, 3_000)).toBe(expected);
  expect(wasSetSince(clock, before)).toBe(Math.abs(shown - passed) > 2_000);
});
