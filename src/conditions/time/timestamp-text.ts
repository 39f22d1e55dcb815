import { isDate } from './calendar.ts';
import { takeZone, type TimeText } from './time-text.ts';

/** A timestamp as it was written. */
export type TimestampText = {
  /** Four, two and two digits; `X` (in this case always) for a digit that today's date gives. */
  year: string;
  month: string;
  day: string;
  hasWildcard: boolean;
  /** Milliseconds after midnight. */
  time: number;
  /** Milliseconds by which the clock meant is ahead of UTC: 0 for `Z`. */
  offset: number | null;
  /** The name in brackets. */
  zone: string | null;
  /** Where the timestamp begins in the text, and where its offset or zone. */
  at: number;
  zoneAt: number;
};

const examples = '2026-03-01, 2026-03-01T10:00:00Z, 2026-03-01T10:00+02:00 or 2026-03-01T10:00[Europe/Paris]';

/** Steps over one timestamp, with space behind it. A date that does not exist fails only without wildcards. */
export function takeTimestamp(from: TimeText): TimestampText {
  const { at } = from;
  const date = from.take(/([\dX]{4})-([\dX]{2})-([\dX]{2})(?![\dX])/iy);
  if (!date) return from.fail(`Invalid timestamp. Send one such as ${examples}`);
  const [year, month, day] = date.slice(1).map((digits) => digits.toUpperCase()) as [string, string, string];
  const hasWildcard = date[0].toUpperCase().includes('X');
  if (!hasWildcard && (year === '0000' || !isDate(Number(year), Number(month), Number(day)))) {
    from.fail('Invalid timestamp. There is no such date; send one that exists', at);
  }
  const time = takeTime(from);
  from.skipSpace();
  const zoneAt = from.at;
  const offset = takeOffset(from);
  const zone = takeZone(from);
  if (offset !== null && zone !== null) {
    from.fail('Invalid timestamp. Send an offset or a zone in brackets, not both', zoneAt);
  }
  return { year, month, day, hasWildcard, time, offset, zone, at, zoneAt };
}

function takeTime(from: TimeText): number {
  const begins = from.at;
  const time = from.take(/(?:T|\s+)([\dX]{2}):([\dX]{2})(?::([\dX]{2})(?:\.([\dX]{1,9}))?)?(?![\dX:.])/iy);
  if (!time) {
    if (!from.take(/T|\s+[\dX]/iy)) return 0;
    return from.fail('Invalid timestamp. Send the time as 10:00, 10:00:00 or 10:00:00.000', begins);
  }
  if (/x/i.test(time[0])) {
    from.fail(
      'Invalid timestamp. X stands for digits of the date, not of the time. Send the time in digits; for several times of a day, several intervals with `or`',
      begins + time[0].search(/x/i),
    );
  }
  const [hours, minutes, seconds] = [time[1], time[2], time[3] ?? '0'].map(Number) as [
    number,
    number,
    number,
  ];
  if (hours > 23 || minutes > 59 || seconds > 59) {
    from.fail('Invalid timestamp. There is no such time; send 00:00:00 to 23:59:59', begins + 1);
  }
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number((time[4] ?? '').padEnd(3, '0').slice(0, 3));
}

function takeOffset(from: TimeText): number | null {
  const begins = from.at;
  if (from.take(/Z/iy)) return 0;
  const offset = from.take(/([+-])(\d{2}):?(\d{2})?(?!\d)/y);
  if (!offset) return null;
  const [hours, minutes] = [Number(offset[2]), Number(offset[3] ?? 0)];
  if (hours > 23 || minutes > 59) from.fail('Invalid timezone. Send an offset such as +02:00', begins);
  return (offset[1] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
