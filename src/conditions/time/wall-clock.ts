import { oneDay } from './calendar.ts';
import { type ClockTest, remembering } from './clock-test.ts';
import { nextOffsetChange, offsetAt } from './zone-offset.ts';

/**
 * A question to a clock on the wall. Its times are what that clock shows, as milliseconds since 1970-01-01 of a
 * clock without zone; `nextChange` supposes that nobody sets it.
 */
export type WallTest = ClockTest;

// More than the clocks of the world lie apart, so that no setting of the clock reaches further.
const reach = 2 * oneDay;

/** Asks the wall clock of a zone, which daylight saving sets forward and back. */
export const onWallClock = (test: WallTest, zone: string): ClockTest =>
  remembering({
    holds: (now) => test.holds(now + offsetAt(zone, now)),
    nextChange: (now) => nextChange(test, zone, now),
  });

/**
 * Between two settings of the clock, the next change is where the wall test has it. A setting can itself be the
 * change (09:00 is skipped, or 02:30 comes again), and else the wall test is asked again from there. Only settings
 * within reach of `at` or of the change count: the others leave the wall clock between the two.
 */
function nextChange(test: WallTest, zone: string, now: number): number | null {
  let at = now;
  let offset = offsetAt(zone, at);
  const answer = test.holds(at + offset);
  for (;;) {
    const wallChange = test.nextChange(at + offset);
    const due = wallChange === null ? Infinity : wallChange - offset;
    const isSet = nextOffsetChange(zone, offset, at, Math.min(due, at + reach));
    if (isSet !== null) at = isSet;
    else if (wallChange === null) return null;
    else if (due <= at + reach) return due;
    else at = Math.max(at + reach, wallChange - reach);
    offset = offsetAt(zone, at);
    if (test.holds(at + offset) !== answer) return at;
  }
}
