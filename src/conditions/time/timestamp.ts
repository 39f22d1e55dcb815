import { toInstant } from '../../time/local-time.ts';
import { midnightOf } from './calendar.ts';
import type { Parsed } from './parsed.ts';
import { parsed } from './time-text.ts';
import { takeTimestamp, type TimestampText } from './timestamp-text.ts';

/**
 * Reads a date, or a date and time: `2021-04-05`, `2012-09-17T22:02:51`, `…Z`, `…-08:00`, `…[Europe/Paris]`.
 * Without a zone it is UTC. In a zone it is what the clock there shows: of a repeated hour the first, and for a
 * time that was skipped the first that exists. What is finer than a millisecond is cut off.
 * @returns milliseconds since the epoch.
 */
export const parseTimestamp = (text: string): Parsed<number> =>
  parsed(text, (from) => {
    const begins = from.at;
    if (from.take(/\d+\s*(?:day|hour|minute)/iy)) {
      from.fail('Invalid timestamp. Let a time ago end in `ago`, such as `7 days 18:00 ago`', begins);
    }
    const timestamp = takeTimestamp(from);
    if (!from.isAtEnd()) from.fail('Invalid timestamp. Send one alone: nothing may follow it');
    if (timestamp.hasWildcard) {
      from.fail(
        'Invalid timestamp. Send digits: X is for intervals, as in XXXX-12-24/XXXX-12-27',
        timestamp.at,
      );
    }
    return instantOf(timestamp, timestamp.zone, 'start');
  });

/**
 * @param timestamp one without wildcards.
 * @param zone that of the timestamp or of the interval around it; null: UTC, unless the timestamp has an offset.
 * @param role which instant is meant where the clock was set: see `toInstant`.
 * @returns milliseconds since the epoch.
 */
export function instantOf(timestamp: TimestampText, zone: string | null, role: 'start' | 'end'): number {
  const { year, month, day, time, offset } = timestamp;
  const wall = midnightOf(Number(year), Number(month), Number(day)) + time;
  if (zone === null) return wall - (offset ?? 0);
  return toInstant(new Date(wall).toISOString().slice(0, -1), zone, role).getTime();
}
