import type { ClockTest } from './clock-test.ts';
import type { Parsed } from './parsed.ts';
import { isSameZone, parsed, type TimeText } from './time-text.ts';
import { takeTimestamp, type TimestampText } from './timestamp-text.ts';
import { instantOf } from './timestamp.ts';
import { onWallClock } from './wall-clock.ts';
import { WildcardSpan } from './wildcard-span.ts';

/**
 * Reads `start/end[TZ]`; both ends belong to it. A zone at the end is that of both ends; without one each may have
 * an offset, and is UTC otherwise. `X` digits in the dates are filled in from today's date in the zone:
 * `XXXX-07-XXT14:00/XXXX-07-XXT19:00[Europe/Paris]` holds each day in July.
 *
 * An interval without `X` lies between two instants (what is set by daylight saving: see `toInstant`), one with `X`
 * is asked of the wall clock.
 */
export const parseInterval = (text: string): Parsed<ClockTest> =>
  parsed(text, (from) => {
    const start = takeTimestamp(from);
    if (!from.takeCharacter('/')) {
      from.fail('Invalid interval. Send start/end, such as 2026-12-24T18:00/2027-01-02T09:00[Europe/Paris]');
    }
    from.skipSpace();
    const end = takeTimestamp(from);
    if (!from.isAtEnd()) from.fail('Invalid interval. Nothing may follow the end but its zone, in brackets');
    const zone = zoneOfBoth(from, start, end);
    return start.hasWildcard || end.hasWildcard
      ? repeated(from, start, end, zone ?? 'UTC')
      : once(from, start, end, zone);
  });

function zoneOfBoth(from: TimeText, start: TimestampText, end: TimestampText): string | null {
  if (start.zone !== null && (end.zone === null || !isSameZone(start.zone, end.zone))) {
    from.fail('Invalid interval. Send one zone, at the end: it is that of both ends', start.zoneAt);
  }
  const withOffset = [start, end].find(({ offset }) => offset !== null);
  if (withOffset && end.zone !== null) {
    from.fail('Invalid interval. Send offsets or a zone for both ends, not both', withOffset.zoneAt);
  }
  if (withOffset && (start.hasWildcard || end.hasWildcard)) {
    from.fail(
      'Invalid interval. With X, send a zone in brackets at the end instead of offsets, such as [Europe/Paris] or [UTC]',
      withOffset.zoneAt,
    );
  }
  return end.zone;
}

function once(
  from: TimeText,
  startText: TimestampText,
  endText: TimestampText,
  zone: string | null,
): ClockTest {
  const start = instantOf(startText, zone, 'start');
  const end = instantOf(endText, zone, 'end');
  if (end <= start) from.fail('Invalid interval. Send an end that is after the start', endText.at);
  return {
    holds: (now) => start <= now && now <= end,
    nextChange: (now) => (now < start ? start : now <= end ? end + 1 : null),
  };
}

function repeated(from: TimeText, start: TimestampText, end: TimestampText, zone: string): ClockTest {
  const span = new WildcardSpan(start, end);
  const { hasDates, lasts } = span.everyYear();
  if (!hasDates) from.fail('Invalid interval. There is no day on which both dates exist', start.at);
  if (!lasts) {
    from.fail(
      "Invalid interval. It holds on no day from 2000 to 2399: today's date fills in X in both ends, so that it cannot go past midnight or the end of a month or year. Send two intervals with `or`, such as XXXX-12-20/XXXX-12-31T23:59:59.999 and XXXX-01-01/XXXX-01-05; for nights send a schedule such as `22:00-06:00`",
      start.at,
    );
  }
  return onWallClock(span, zone);
}
