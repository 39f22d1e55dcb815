import { Scanner } from '../scanner.ts';
import { instantOf, isSameZone, takeTimestamp, type TimestampText } from './timestamp.ts';
import { type ClockTest, onWallClock } from './wall-clock.ts';
import { WildcardSpan } from './wildcard-span.ts';

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
  const start = instantOf(startText, zone, 'start');
  const end = instantOf(endText, zone, 'end');
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
