import { type ParsedDuration, millisecondsOf, parseDuration } from './duration.ts';
import {
  clockChangeAt,
  describeInstant,
  latestTime,
  parseLocalTime,
  toInstant,
  toLocalTime,
} from './local-time.ts';
import { day } from './units.ts';

/** A written time has passed, can mean two moments, or is not understood. The message says what was understood. */
export class DoubtfulTime extends Error {}

/** An instant in milliseconds, and its wall-clock time: `2026-03-01T10:00:00`. */
export type Moment = { at: number; local: string };

/**
 * The time and the zone of the reader.
 * @property after the moment before it, if there is one.
 * @property isUntil the word before it is `until`, so it is a time of day or a date, and no length.
 * @property ways how people can write the time without doubt.
 */
export type MomentReading = { now: number; zone: string; after?: number; isUntil?: boolean; ways: Ways };

/** @property utc the zone UTC; @property length a length of time instead of a moment. */
export type Ways = { utc: string; length(text: string): string };

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/**
 * Reads `now`, `2h`, `18:00`, `tomorrow 08:00`, `fri 18:00` or `2026-03-06T18:00` as people write it in a zone.
 * @throws DoubtfulTime for a time that has passed, can mean two moments, or is not understood.
 */
export function readMoment(text: string, reading: MomentReading): Moment {
  const { now, zone, after, isUntil, ways } = reading;
  const words = text.trim().toLowerCase().replace(/\s+/g, ' ');
  if (words === 'now') return { at: now, local: toLocalTime(new Date(now), zone) };
  const length = parseDuration(words.replace(/^(?:in |\+)/, ''));
  if (length) {
    if (isUntil && /^\d/.test(words)) throw lengthAfterUntil(words, text, ways);
    if (after !== undefined)
      throw new DoubtfulTime(
        `"${text}" may count from now or from the start. Write ${ways.length(text)}, or a date.`,
      );
    return later(now, length, reading);
  }
  const local = readDate(words, text, reading) ?? readDay(words, text, reading);
  if (local === null) {
    throw new DoubtfulTime(
      `"${text}" is not understood. Write 2h, 18:00, tomorrow 08:00, fri 18:00 or 2026-03-06T18:00.`,
    );
  }
  const at = resolve(local, reading, text);
  if (at < now) throw past(text, at, reading);
  return { at, local };
}

/** `18h` is a time of day in French, and a length in English. */
function lengthAfterUntil(words: string, text: string, ways: Ways): DoubtfulTime {
  const [, hour] = /^(\d{1,2}) ?h$/.exec(words) ?? [];
  if (hour === undefined || Number(hour) > 23)
    return new DoubtfulTime(
      `"${text}" is a length of time, and until takes a time. Write ${ways.length(text)}.`,
    );
  const hours = `${Number(hour)} hour${Number(hour) === 1 ? '' : 's'}`;
  return new DoubtfulTime(
    `"${text}" may be ${hour}:00 or ${hours} from now. Write ${hour}:00, or ${ways.length(text)}.`,
  );
}

/** The moment that much later, on the next full minute. @throws DoubtfulTime if its wall-clock time comes twice. */
export function later(
  from: number,
  length: ParsedDuration,
  reading: Pick<MomentReading, 'zone' | 'ways'>,
): Moment {
  const { days, milliseconds } = length;
  const { zone } = reading;
  const [date, time] = toLocalTime(new Date(from), zone).split('T') as [string, string];
  if (from + millisecondsOf(length) >= latestTime)
    throw new DoubtfulTime('That is after the year 9999. Write a shorter time, or no end.');
  const begun = days === 0 ? from : toInstant(`${addDays(date, days)}T${time}`, zone, 'end').getTime();
  const at = Math.ceil((begun + milliseconds) / 60_000) * 60_000;
  const local = toLocalTime(new Date(at), zone);
  return { at: resolve(local, reading, local), local };
}

/** A date with a time, with an offset or without; null for anything else. */
function readDate(words: string, text: string, { zone }: MomentReading): string | null {
  const written = words.toUpperCase().replace(/^(\d{4}-\d{2}-\d{2}) (?=\d)/, '$1T');
  if (/^\d{4}-\d{2}-\d{2}$/.test(written))
    throw new DoubtfulTime(`"${text}" has no time. Write ${text} 18:00.`);
  if (/^\d{1,2}[./-]\d{1,2}([./-]\d{2,4})?\b/.test(words) || /^\d{4}[./]/.test(words))
    throw new DoubtfulTime(`"${text}" may be read in several ways. Write the date as 2026-03-06.`);
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/.test(written)) {
    const at = Date.parse(written);
    if (Number.isNaN(at))
      throw new DoubtfulTime(`"${text}" is not an instant. Write one such as 2026-03-06T18:00:00Z.`);
    return toLocalTime(new Date(at), zone);
  }
  if (!/^\d{4}-\d{2}-\d{2}T/.test(written)) return null;
  const parsed = parseLocalTime(written);
  if (!parsed.ok)
    throw new DoubtfulTime(`"${text}" is not a date with a time. Write one such as 2026-03-06T18:00.`);
  return parsed.value;
}

/** A day by its name with a time, or only a time; null for anything else. */
function readDay(words: string, text: string, reading: MomentReading): string | null {
  const { now, zone, after } = reading;
  const found = /^(?:(?<day>[a-z]+)\b)?(?: ?(?:at )?(?<time>\d.*))?$/.exec(words)?.groups;
  const named = found?.['day'];
  const isWeekday = named !== undefined && weekdayOf(named) !== -1;
  if (!found || (named !== undefined && !isWeekday && named !== 'today' && named !== 'tomorrow')) return null;
  if (found['time'] === undefined) throw new DoubtfulTime(`"${text}" has no time. Write "${text} 18:00".`);
  const time = readTime(found['time']);
  if (time === null) return null;
  const dateAt = (at: number) => toLocalTime(new Date(at), zone).slice(0, 10);
  if (named === 'today') return `${dateAt(now)}T${time}`;
  if (named === 'tomorrow') return `${addDays(dateAt(now), 1)}T${time}`;
  // After a start, it is the first such time after it. Otherwise it is the next one, perhaps today's.
  const base = dateAt(after ?? now);
  const ahead = isWeekday ? (weekdayOf(named) - new Date(base).getUTCDay() + 7) % 7 : 0;
  const local = `${addDays(base, ahead)}T${time}`;
  if (after === undefined || resolve(local, reading, text) > after) return local;
  return `${addDays(base, ahead + (isWeekday ? 7 : 1))}T${time}`;
}

/** `8:00`, `18:00:30` or `6:30pm`, as `HH:MM:SS`; null for anything else. A lone `8` can mean two times. */
function readTime(text: string): string | null {
  const found = /^(\d{1,2})(?::(\d{2}))?(?::(\d{2}))? ?(am|pm)?$/.exec(text);
  if (!found) return null;
  const [, hours, minutes, seconds = '00', half] = found;
  if (minutes === undefined && half === undefined) return null;
  const isHalf = half !== undefined && (Number(hours) < 1 || Number(hours) > 12);
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half === 'pm' ? 12 : 0);
  if (isHalf || hour > 23 || Number(minutes ?? 0) > 59 || Number(seconds) > 59) return null;
  return `${String(hour).padStart(2, '0')}:${minutes ?? '00'}:${seconds}`;
}

const weekdayOf = (word: string): number =>
  word.length < 3 ? -1 : weekdays.findIndex((name) => name.startsWith(word));

const addDays = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * day).toISOString().slice(0, 10);

/** The one instant of a wall-clock time. @throws DoubtfulTime if clocks skip it or show it twice. */
function resolve(local: string, { zone, ways }: Pick<MomentReading, 'zone' | 'ways'>, text: string): number {
  const change = clockChangeAt(local, zone);
  if (change === null) return toInstant(local, zone, 'start').getTime();
  const why = change === 'skipped' ? 'does not exist' : 'comes twice';
  throw new DoubtfulTime(
    `"${text}" is ${local.replace('T', ' ')}, which ${why} in ${zone} when the clocks change. Choose another time, or ${ways.utc}.`,
  );
}

const past = (text: string, at: number, { now, zone }: MomentReading) =>
  new DoubtfulTime(
    `"${text}" is ${describeInstant(new Date(at), zone)}, which is past: it is ${describeInstant(new Date(now), zone)} now. Write a later time, with its date.`,
  );
