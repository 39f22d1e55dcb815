import { Scanner } from '../scanner.ts';
import { instantOfTimestamp, isSameZone, takeTimestamp, type TimestampText } from './timestamp.ts';
import {
  type ClockTest,
  onWallClock,
  daysIn,
  isDateOfYear,
  isLeapYear,
  midnightOf,
  oneDay,
} from './wall-clock.ts';

/**
 * Reads `start/end[TZ]`; both ends belong to it. A zone at the end is that of both ends; without one each may have
 * an offset, and is UTC otherwise. `X` digits in the dates are filled in from today's date in the zone:
 * `XXXX-07-XXT14:00/XXXX-07-XXT19:00[Europe/Paris]` holds each day in July.
 *
 * An interval without `X` lies between two instants (what is set by daylight saving: see `toInstant`), one with `X`
 * is asked of the wall clock.
 * @throws ParseError
 */
export function parseInterval(text: string): ClockTest {
  const scanner: Scanner = new Scanner(text);
  const start = takeTimestamp(scanner);
  if (!scanner.take('/')) {
    scanner.fail('Invalid interval. Send start/end, such as 2026-12-24T18:00/2027-01-02T09:00[Europe/Paris]');
  }
  const end = takeTimestamp(scanner);
  if (!scanner.isAtEnd())
    scanner.fail('Invalid interval. Nothing may follow the end but its zone, in brackets');
  const zone = zoneOfBoth(scanner, start, end);
  return start.hasWildcard || end.hasWildcard
    ? repeated(scanner, start, end, zone ?? 'UTC')
    : once(scanner, start, end, zone);
}

function zoneOfBoth(scanner: Scanner, start: TimestampText, end: TimestampText): string | null {
  if (start.zone !== null && (end.zone === null || !isSameZone(start.zone, end.zone))) {
    scanner.fail('Invalid interval. Send one zone, at the end: it is that of both ends', start.zoneAt);
  }
  const withOffset = [start, end].find(({ offset }) => offset !== null);
  if (withOffset && end.zone !== null) {
    scanner.fail('Invalid interval. Send offsets or a zone for both ends, not both', withOffset.zoneAt);
  }
  if (withOffset && (start.hasWildcard || end.hasWildcard)) {
    scanner.fail(
      'Invalid interval. With X, send a zone in brackets at the end instead of offsets, such as [Europe/Paris] or [UTC]',
      withOffset.zoneAt,
    );
  }
  return end.zone;
}

function once(
  scanner: Scanner,
  startText: TimestampText,
  endText: TimestampText,
  zone: string | null,
): ClockTest {
  const start = instantOfTimestamp(startText, zone, 'start');
  const end = instantOfTimestamp(endText, zone, 'end');
  if (end <= start) scanner.fail('Invalid interval. Send an end that is after the start', endText.at);
  return {
    holds: (now) => start <= now && now <= end,
    nextChange: (now) => (now < start ? start : now <= end ? end + 1 : null),
  };
}

function repeated(scanner: Scanner, start: TimestampText, end: TimestampText, zone: string): ClockTest {
  const span = new WildcardSpan(start, end);
  const { hasDates, lasts } = span.everyYear();
  if (!hasDates) scanner.fail('Invalid interval. There is no day on which both dates exist', start.at);
  if (!lasts) {
    scanner.fail(
      "Invalid interval. It holds on no day from 2000 to 2399: today's date fills in X in both ends, so that it cannot go past midnight or the end of a month or year. Send two intervals with `or`, such as XXXX-12-20/XXXX-12-31T23:59:59.999 and XXXX-01-01/XXXX-01-05; for nights send a schedule such as `22:00-06:00`",
      start.at,
    );
  }
  return onWallClock(span, zone);
}

/** A date as digits, of which `X` are those of today, and a time of that day in milliseconds after midnight. */
type WildcardTime = { year: string; month: string; day: string; time: number };

/** What a span does in one year. */
type YearKind = {
  is: 'always' | 'never' | 'sometimes';
  /** On some day both of its dates exist. */
  hasDates: boolean;
  /** On some day it holds for longer than an instant. */
  lasts: boolean;
};

// The calendar repeats itself after 400 years, so that a date which none of these has does not come.
const firstYear = 2000;
const lastYear = 2399;

/**
 * Whether the wall clock lies between two times, both included, whose `X` digits are filled in from today's date.
 * On days for which one of the two dates does not exist it does not hold. Changes after 2399 are not looked for.
 */
class WildcardSpan implements ClockTest {
  readonly #start: FilledTime;
  readonly #end: FilledTime;
  readonly #kinds = new Map<number, YearKind>();

  constructor(start: WildcardTime, end: WildcardTime) {
    this.#start = filledTime(start);
    this.#end = filledTime(end);
  }

  /** Of all years looked at: whether both dates exist on some day, and whether it holds for more than an instant. */
  everyYear(): Pick<YearKind, 'hasDates' | 'lasts'> {
    const every = { hasDates: false, lasts: false };
    for (let year = firstYear; year <= lastYear && !every.lasts; year += 1) {
      const kind = this.#kindOf(year);
      every.hasDates ||= kind.hasDates;
      every.lasts ||= kind.lasts;
    }
    return every;
  }

  holds(wall: number): boolean {
    const date = new Date(wall);
    const part = this.#partOf(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
    return part !== null && part.start <= wall && wall <= part.end;
  }

  nextChange(wall: number): number | null {
    const answer = this.holds(wall);
    const thisYear = new Date(wall).getUTCFullYear();
    for (let year = thisYear; year <= lastYear; year += 1) {
      if (year > thisYear && this.#kindOf(year).is === (answer ? 'always' : 'never')) continue;
      for (const { midnight, month, day } of daysOf(year)) {
        if (midnight + oneDay <= wall) continue;
        const part = this.#partOf(year, month, day);
        if (!answer) {
          if (part && part.end > wall) return part.start;
          continue;
        }
        const since = Math.max(wall, midnight);
        if (!part || part.start > since) return since;
        if (part.end < midnight + oneDay - 1) return part.end + 1;
      }
    }
    return null;
  }

  /** In which part of a day it holds: milliseconds on the wall clock, both included. */
  #partOf(year: number, month: number, day: number): Part | null {
    const start = this.#start.on(year, month, day);
    const end = this.#end.on(year, month, day);
    return start === null || end === null ? null : partOfDay(midnightOf(year, month, day), start, end);
  }

  /**
   * Years are alike whose own length and whose filled-in years have the same length and order. There are few kinds,
   * so that centuries are searched as fast as a handful of years.
   */
  #kindOf(year: number): YearKind {
    let key = Number(isLeapYear(year));
    for (const filled of [this.#start.year(year), this.#end.year(year)]) {
      key = (key * 2 + Number(isLeapYear(filled))) * 3 + Math.sign(filled - year) + 1;
    }
    const known = this.#kinds.get(key);
    if (known) return known;
    const kind = this.#look(year);
    this.#kinds.set(key, kind);
    return kind;
  }

  #look(year: number): YearKind {
    let [full, empty, hasDates, lasts] = [true, true, false, false];
    for (const { midnight, month, day } of daysOf(year)) {
      const start = this.#start.on(year, month, day);
      const end = this.#end.on(year, month, day);
      const exist = start !== null && end !== null;
      const part = exist ? partOfDay(midnight, start, end) : null;
      hasDates ||= exist;
      if (part) empty = false;
      if (part?.start !== midnight || part.end !== midnight + oneDay - 1) full = false;
      lasts ||= part !== null && part.start < part.end;
    }
    return { is: full ? 'always' : empty ? 'never' : 'sometimes', hasDates, lasts };
  }
}

type Part = { start: number; end: number };

function partOfDay(midnight: number, start: number, end: number): Part | null {
  const part = { start: Math.max(start, midnight), end: Math.min(end, midnight + oneDay - 1) };
  return part.start <= part.end ? part : null;
}

type FilledTime = {
  year(thisYear: number): number;
  /** Milliseconds on the wall clock; null: there is no such date. */
  on(year: number, month: number, day: number): number | null;
};

function filledTime(text: WildcardTime): FilledTime {
  const filledYear = filledDigits(text.year);
  // Looked up hundreds of times a year.
  const months = Array.from({ length: 13 }, (_, month) => filledDigits(text.month)(month));
  const days = Array.from({ length: 32 }, (_, day) => filledDigits(text.day)(day));
  return {
    year: filledYear,
    on: (thisYear, thisMonth, today) => {
      const [year, month, day] = [filledYear(thisYear), months[thisMonth]!, days[today]!];
      return isDateOfYear(year, month, day) ? midnightOf(year, month, day) + text.time : null;
    },
  };
}

/** `20X5` with 1987: 2085. */
function filledDigits(text: string): (today: number) => number {
  const fixed = Number(text.replaceAll('X', '0'));
  const places = [...text].flatMap((digit, index) =>
    digit === 'X' ? [10 ** (text.length - 1 - index)] : [],
  );
  return (today) => {
    let filled = fixed;
    for (const place of places) filled += (Math.floor(today / place) % 10) * place;
    return filled;
  };
}

function* daysOf(year: number): Generator<{ midnight: number; month: number; day: number }> {
  let midnight = midnightOf(year, 1, 1);
  for (let month = 1; month <= 12; month += 1) {
    for (let day = 1; day <= daysIn(year, month); day += 1) {
      yield { midnight, month, day };
      midnight += oneDay;
    }
  }
}
