import { describeLength, millisecondsOf, parseDuration } from '../time/duration.ts';
import {
  describeInstant,
  isDateText,
  isTimeZone,
  parseLocalTime,
  toInstant,
  toLocalTime,
} from '../time/local-time.ts';
import { later, type MomentReading, readMoment, type Ways } from '../time/moment.ts';
import { misused } from './stop.ts';
import type { World } from './world.ts';

/** How to write a time without doubt on the command line. */
export const ways: Ways = { utc: '--zone UTC', length: (text) => `--for ${text}` };

/** The options of every command that takes times. */
export type WindowOptions = { from?: string; until?: string; for?: string; zone?: string };

/** The start and the end: wall-clock times of a zone, as in the API, and instants in milliseconds. */
export type TimeWindow = {
  /** null: now. */
  start: string | null;
  /** null: until it is removed. */
  end: string | null;
  timezone: string;
  startsAt: number;
  endsAt: number | null;
};

/** Reads the window from the options. @throws Stop if something is empty or there twice; DoubtfulTime. */
export function readTimeWindow(
  options: WindowOptions,
  { now, zone }: Pick<World, 'now' | 'zone'>,
): TimeWindow {
  const timezone = readZone(options.zone, zone);
  if (options.until !== undefined && options.for !== undefined)
    throw misused('Write --for or --until, not both.');
  const at = now();
  const isNow = options.from === undefined || options.from.trim().toLowerCase() === 'now';
  const start = isNow ? null : readMoment(options.from!, { now: at, zone: timezone, ways });
  const startsAt = start?.at ?? at;
  const end = readEnd(options, { now: at, zone: timezone, after: start?.at, ways }, startsAt);
  if (end && end.at <= startsAt) {
    const [first, last] = [startsAt, end.at].map((each) => describeInstant(new Date(each), timezone));
    throw misused(`It would end at ${last}, before it begins at ${first}. Choose a later end.`);
  }
  return {
    start: start?.local ?? null,
    end: end?.local ?? null,
    timezone,
    startsAt,
    endsAt: end?.at ?? null,
  };
}

function readEnd(options: WindowOptions, reading: MomentReading, startsAt: number) {
  if (options.for !== undefined) return later(startsAt, readLength(options.for), reading);
  return options.until === undefined ? null : readMoment(options.until, { ...reading, isUntil: true });
}

/** A length of time. @throws Stop for any other text. */
export function readLength(text: string) {
  const length = parseDuration(text);
  if (!length) throw misused(`"${text}" is not a length of time. Write 30m, 2h, 1h30m, 3d or 1w.`);
  return length;
}

/** A length of time in milliseconds. @throws Stop for any other text. */
export const readMilliseconds = (text: string): number => millisecondsOf(readLength(text));

/** A time zone by its name, by default that of this machine. @throws Stop for an unknown name. */
function readZone(name: string | undefined, otherwise: string): string {
  const zone = name ?? otherwise;
  if (!isTimeZone(zone))
    throw misused(`"${zone}" is not a time zone. Write one such as Europe/Paris or UTC.`);
  return zone;
}

/** The window for people: both ends in their zone and in the reader's zone. */
export function describeWindow(
  { startsAt, endsAt, start, timezone }: TimeWindow,
  readersZone: string,
): string {
  const shown = (at: number) => describeMoment(at, timezone, readersZone);
  const from = start === null ? 'from now' : `from ${shown(startsAt)}`;
  if (endsAt === null) return `${from} until somebody removes it`;
  return `${from} until ${shown(endsAt)}, ${describeLength(endsAt - startsAt)}`;
}

/** A moment in its zone, and in the reader's zone if the clock there shows another time. */
export function describeMoment(at: number, zone: string, readersZone: string): string {
  const instant = new Date(at);
  const own = describeInstant(instant, zone);
  if (toLocalTime(instant, zone) === toLocalTime(instant, readersZone)) return own;
  return `${own} (${describeInstant(instant, readersZone)})`;
}

/**
 * A moment that is over, in milliseconds: a length of time before now, a day, or a wall-clock time.
 * @throws Stop if it is none of these.
 */
export function readPast(text: string, { now, zone }: Pick<World, 'now' | 'zone'>): number {
  const length = parseDuration(text);
  if (length) return now() - millisecondsOf(length);
  const written = text.trim().replace(' ', 'T');
  if (/^\d{4}-.*(?:Z|[+-]\d{2}:\d{2})$/.test(written) && !Number.isNaN(Date.parse(written)))
    return Date.parse(written);
  const local = parseLocalTime(isDateText(written) ? `${written}T00:00:00` : written);
  if (local.ok) return toInstant(local.value, zone, 'start').getTime();
  throw misused(`"${text}" is not understood. Write 7d, 2026-11-20 or 2026-11-20T18:00.`);
}
