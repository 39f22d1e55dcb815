import { isTimeZone, toInstant } from '../../time/local-time.ts';
import { Scanner } from '../scanner.ts';
import { isDateOfYear, midnightOf, oneDay } from './wall-clock.ts';

/**
 * Reads a date, or a date and time: `2021-04-05`, `2012-09-17T22:02:51`, `…Z`, `…-08:00`, `…[Europe/Paris]`.
 * Without a zone it is UTC. In a zone it is what the clock there shows: of a repeated hour the first, and for a
 * time that was skipped the first that exists. What is finer than a millisecond is cut off.
 * @returns milliseconds since the epoch.
 * @throws ParseError
 */
export function parseTimestamp(text: string): number {
  const scanner: Scanner = new Scanner(text);
  const begins = scanner.at;
  if (scanner.match(/\d+\s*(?:day|hour|minute)/iy)) {
    scanner.fail('Invalid timestamp. Let a time ago end in `ago`, such as `7 days 18:00 ago`', begins);
  }
  const timestamp = takeTimestamp(scanner);
  if (!scanner.isAtEnd()) scanner.fail('Invalid timestamp. Send one alone: nothing may follow it');
  if (timestamp.hasWildcard) {
    scanner.fail(
      'Invalid timestamp. Send digits: X is for intervals, as in XXXX-12-24/XXXX-12-27',
      timestamp.at,
    );
  }
  return instantOfTimestamp(timestamp, timestamp.zone, 'start');
}

/**
 * @param timestamp one without wildcards.
 * @param zone that of the timestamp or of the interval around it; null: UTC, unless the timestamp has an offset.
 * @param role which instant is meant where the clock was set: see `toInstant`.
 * @returns milliseconds since the epoch.
 */
export function instantOfTimestamp(
  timestamp: TimestampText,
  zone: string | null,
  role: 'start' | 'end',
): number {
  const { year, month, day, time, offset } = timestamp;
  const wall = midnightOf(Number(year), Number(month), Number(day)) + time;
  if (zone === null) return wall - (offset ?? 0);
  return toInstant(new Date(wall).toISOString().slice(0, -1), zone, role).getTime();
}

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
export function takeTimestamp(scanner: Scanner): TimestampText {
  const { at } = scanner;
  const date = scanner.match(/([\dX]{4})-([\dX]{2})-([\dX]{2})(?![\dX])/iy);
  if (!date) return scanner.fail(`Invalid timestamp. Send one such as ${examples}`);
  const [year, month, day] = date.slice(1).map((digits) => digits.toUpperCase()) as [string, string, string];
  const hasWildcard = date[0].toUpperCase().includes('X');
  if (!hasWildcard && (year === '0000' || !isDateOfYear(Number(year), Number(month), Number(day)))) {
    scanner.fail('Invalid timestamp. There is no such date; send one that exists', at);
  }
  const time = takeTime(scanner);
  scanner.skipSpace();
  const zoneAt = scanner.at;
  const offset = takeOffset(scanner);
  const zone = takeZone(scanner);
  if (offset !== null && zone !== null) {
    scanner.fail('Invalid timestamp. Send an offset or a zone in brackets, not both', zoneAt);
  }
  return { year, month, day, hasWildcard, time, offset, zone, at, zoneAt };
}

function takeTime(scanner: Scanner): number {
  const begins = scanner.at;
  const time = scanner.match(
    /(?:T|\s+)([\dX]{2}):([\dX]{2})(?::([\dX]{2})(?:\.([\dX]{1,9}))?)?(?![\dX:.])/iy,
  );
  if (!time) {
    if (!scanner.match(/T|\s+[\dX]/iy)) return 0;
    return scanner.fail('Invalid timestamp. Send the time as 10:00, 10:00:00 or 10:00:00.000', begins);
  }
  if (/x/i.test(time[0])) {
    scanner.fail(
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
    scanner.fail('Invalid timestamp. There is no such time; send 00:00:00 to 23:59:59', begins + 1);
  }
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number((time[4] ?? '').padEnd(3, '0').slice(0, 3));
}

function takeOffset(scanner: Scanner): number | null {
  const begins = scanner.at;
  if (scanner.match(/Z/iy)) return 0;
  const offset = scanner.match(/([+-])(\d{2}):?(\d{2})?(?!\d)/y);
  if (!offset) return null;
  const [hours, minutes] = [Number(offset[2]), Number(offset[3] ?? 0)];
  if (hours > 23 || minutes > 59) scanner.fail('Invalid timezone. Send an offset such as +02:00', begins);
  return (offset[1] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** Steps over `[Europe/Paris]`, with space in front and behind. Null: there is no bracket here. */
export function takeZone(scanner: Scanner): string | null {
  scanner.skipSpace();
  const opens = scanner.at;
  if (!scanner.match(/\[/y)) return null;
  const name = scanner.match(/([^[\]]*)\]/y)?.[1];
  if (name === undefined)
    return scanner.fail('Invalid timezone. Close the bracket, as in [Europe/Paris]', opens);
  if (!isTimeZone(name)) {
    scanner.fail('Invalid timezone. Send an IANA name, such as [Europe/Paris] or [UTC]', opens + 1);
  }
  scanner.skipSpace();
  return name;
}

/** Names of zones are compared without case; two names of one zone count as two zones. */
export const isSameZone = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

const oneMinute = 60_000;
const longestAgo = 36_500 * oneDay;
const agoForm =
  'Send days, hours and minutes in this order, such as `7 days ago` or `1 day 2 hours 30 minutes ago`';

/**
 * Reads how long ago: `7 days ago`, `1 day 2 hours 30 minutes ago`, `7 days 18:02 ago`.
 * @returns milliseconds; null when the text does not end in the word `ago`, so is no time ago at all.
 * @throws ParseError
 */
export function parseAgo(text: string): number | null {
  const trimmed = text.trimEnd();
  if (!/\bago$/i.test(trimmed)) return null;
  const scanner: Scanner = new Scanner(text);
  const begins = scanner.at;
  const days = takeCount(scanner, /(\d+)\s*days?\b\s*/iy);
  const clock = scanner.match(/(\d+):([0-5]\d)(?!\d)\s*/y);
  const hours = clock ? Number(clock[1]) : takeCount(scanner, /(\d+)\s*hours?\b\s*/iy);
  const minutes = clock ? Number(clock[2]) : takeCount(scanner, /(\d+)\s*minutes?\b\s*/iy);
  const isEmpty = days === null && hours === null && minutes === null;
  if (isEmpty || scanner.at !== trimmed.length - 'ago'.length) scanner.fail(`Invalid timestamp. ${agoForm}`);
  const ago = (days ?? 0) * oneDay + ((hours ?? 0) * 60 + (minutes ?? 0)) * oneMinute;
  if (ago > longestAgo) scanner.fail('Invalid timestamp. Send at most 36500 days', begins);
  return ago;
}

function takeCount(scanner: Scanner, expression: RegExp): number | null {
  const match = scanner.match(expression);
  return match ? Number(match[1]) : null;
}
