import { Temporal } from 'temporal-polyfill';

/** Milliseconds. */
export const oneDay = 86_400_000;

const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
export const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** @param month from 1, as everywhere here. */
export const daysIn = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : lengths[month - 1]!;

export const isDateOfYear = (year: number, month: number, day: number): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);

/**
 * A date of the Gregorian calendar, which exists, as milliseconds since 1970-01-01 on a clock without zone. The calendar
 * repeats itself after 400 years: `Date.UTC` itself takes the years 0 to 99 for 1900 to 1999.
 */
export const midnightOf = (year: number, month: number, day: number): number =>
  Date.UTC(year + 400, month - 1, day) - 146_097 * oneDay;

/** A test that only needs the clock. Times are milliseconds since the epoch. */
export type ClockTest = {
  holds(now: number): boolean;
  /** The first instant after `now` when `holds` gives another answer; null: never. */
  nextChange(now: number): number | null;
};

// More than the clocks of the world lie apart, so that no setting of the clock reaches further.
const reach = 2 * oneDay;

/**
 * Asks the wall clock of a zone, which daylight saving sets forward and back.
 * @param test its times are what that clock shows, as milliseconds since 1970-01-01 of a clock without zone;
 *   `nextChange` supposes that nobody sets it.
 */
export const onWallClock = (test: ClockTest, zone: string): ClockTest => ({
  holds: rememberLast((now) => test.holds(now + offsetAt(zone, now))),
  nextChange: rememberLast((now) => nextChange(test, zone, now)),
});

/**
 * Between two settings of the clock, the next change is where the wall test has it. A setting can itself be the
 * change (09:00 is skipped, or 02:30 comes again), and else the wall test is asked again from there. Only settings
 * within reach of `at` or of the change count: the others leave the wall clock between the two.
 */
function nextChange(test: ClockTest, zone: string, now: number): number | null {
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

/** How far the wall clock of a zone is ahead of UTC, in milliseconds. */
const offsetAt = (zone: string, now: number): number =>
  Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).offsetNanoseconds / 1_000_000;

/**
 * The first instant after `from`, `until` included, at which the wall clock of a zone is set; null: it is not set.
 * Offsets are compared a day apart: no zone sets its clock and takes it back within a day. Temporal's own search
 * for transitions is not used: it looks through years where days are asked for.
 * @param offset that at `from`.
 */
function nextOffsetChange(zone: string, offset: number, from: number, until: number): number | null {
  for (let low = from; low < until; low += oneDay) {
    const high = Math.min(low + oneDay, until);
    if (offsetAt(zone, high) !== offset) return firstOtherOffset(zone, offset, low, high);
  }
  return null;
}

function firstOtherOffset(zone: string, offset: number, low: number, high: number): number {
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    if (offsetAt(zone, middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}

/** Computes once for thousands of pull requests at one instant. */
function rememberLast<Result>(ask: (now: number) => Result): (now: number) => Result {
  let last: { now: number; answer: Result } | undefined;
  return (now) => {
    if (last?.now !== now) last = { now, answer: ask(now) };
    return last.answer;
  };
}
