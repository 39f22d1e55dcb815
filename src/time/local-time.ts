import { Temporal } from 'temporal-polyfill';

export type ParsedTime<Value> = { ok: true; value: Value } | { ok: false; message: string };

const timeShape = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$/;
const dateOnly = /^\d{4}-\d{2}-\d{2}$/;
const withDesignator = /^\d{4}-?\d{2}-?\d{2}[Tt ][\d:.,]+ ?([zZ]|[+-]\d{2}(:?\d{2})?|\[[^[\]]*\])+$/;
const exampleOfTime = 'such as 2026-03-01T10:00:00, with the zone in `timezone`';

/**
 * Reads a wall-clock time: ISO 8601 date and time without a designator.
 * @returns the same text, with seconds, and a fraction (up to nanoseconds) only if it was sent.
 */
export function parseLocalTime(text: string): ParsedTime<string> {
  if (dateOnly.test(text))
    return refuse(`This is a date without a time. Send a wall-clock time ${exampleOfTime}.`);
  if (withDesignator.test(text)) {
    return refuse(`This time has a zone designator. Send the wall-clock time without it, ${exampleOfTime}.`);
  }
  const isInRange = timeShape.test(text) && !text.startsWith('0000') && text.slice(17, 19) !== '60';
  if (!isInRange) return refuse(`This is not a wall-clock time. Send one ${exampleOfTime}.`);
  try {
    Temporal.PlainDateTime.from(text, { overflow: 'reject' });
  } catch {
    return refuse(`There is no such date or time. Send one that exists, ${exampleOfTime}.`);
  }
  return { ok: true, value: text.length === 16 ? `${text}:00` : text };
}

/** Whether this is a date that exists, such as `2026-12-24`. */
export const isDateText = (text: string): boolean =>
  text.length === 10 && parseLocalTime(`${text}T00:00:00`).ok;

/** Whether two texts that `parseLocalTime` returned name the same wall-clock time. */
export const isSameLocalTime = (one: string, other: string): boolean =>
  Temporal.PlainDateTime.from(one).equals(other);

const refuse = (message: string) => ({ ok: false, message }) as const;

/**
 * Whether this is the name of an IANA time zone, also a link such as `US/Eastern`, in any case. An offset is not. This
 * asks Temporal, which also computes the instants: `Intl` knows names (`ACT`) that Temporal refuses.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(name) || name.length > 100) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

// The range that JavaScript, PostgreSQL and ISO texts hold without signs or eras. A freeze that begins before it has
// begun. A freeze that ends after it never ends for readers of today.
const earliest = Date.parse('1900-01-01T00:00:00Z');
export const latestTime = Date.parse('9999-12-31T00:00:00Z');

/** What the clock of a zone does with a wall-clock time: it skips it, or shows it twice; null: neither. */
export const clockChangeAt = (localTime: string, timezone: string): 'skipped' | 'doubled' | null =>
  readIn(localTime, timezone).change;

function readIn(localTime: string, timezone: string) {
  const plain = Temporal.PlainDateTime.from(localTime);
  const earlier = plain.toZonedDateTime(timezone, { disambiguation: 'earlier' });
  const later = plain.toZonedDateTime(timezone, { disambiguation: 'later' });
  const isOne = earlier.epochMilliseconds === later.epochMilliseconds;
  const isDoubled = later.toPlainDateTime().equals(plain);
  return { earlier, later, change: isOne ? null : isDoubled ? ('doubled' as const) : ('skipped' as const) };
}

/**
 * The instant of a wall-clock time in a zone. Daylight saving never makes a freeze shorter than asked. In a repeated
 * hour, a start takes the first and an end the second. A skipped time moves past the gap: a start to the end of the gap
 * (the first moment that exists), an end as far past the gap as it was in it.
 * @param localTime a result of `parseLocalTime`.
 */
export function toInstant(localTime: string, timezone: string, role: 'start' | 'end'): Date {
  const { earlier, later, change } = readIn(localTime, timezone);
  // In a gap, `earlier` is before the jump of the clock and `later` after it, so the jump is in between.
  const start = change === 'skipped' ? (earlier.getTimeZoneTransition('next') ?? later) : earlier;
  const { epochMilliseconds } = role === 'end' ? later : start;
  return new Date(Math.min(latestTime, Math.max(earliest, epochMilliseconds)));
}

/** The wall clock in a zone, to the second. */
export function toLocalTime(instant: Date, timezone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime())
    .toZonedDateTimeISO(timezone)
    .toPlainDateTime()
    .toString({ smallestUnit: 'second' });
}

/** An instant for people: `2026-03-01 11:00 Europe/Paris`, with seconds only if they are not zero. */
export function describeInstant(instant: Date, timezone: string): string {
  const [date, time] = toLocalTime(instant, timezone).split('T') as [string, string];
  return `${date} ${time.endsWith(':00') ? time.slice(0, 5) : time} ${timezone}`;
}

/** `Tue 24 Nov, 08:00`, and `Tue 24 Nov 2027, 08:00` where the year is not the present one. @param now gives that year. */
export function dayAndTime(at: Date, timeZone: string, now: Date): string {
  return localDayAndTime(toLocalTime(at, timeZone), toLocalTime(now, timeZone));
}

/** The same for a wall-clock time. @param today the wall-clock time now. */
export function localDayAndTime(localTime: string, today: string): string {
  const parts = dayFormat.formatToParts(new Date(`${localTime.slice(0, 10)}T00:00:00Z`));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)?.value ?? '';
  const year = localTime.slice(0, 4) === today.slice(0, 4) ? '' : ` ${localTime.slice(0, 4)}`;
  return `${part('weekday')} ${part('day')} ${part('month')}${year}, ${localTime.slice(11, 16)}`;
}

/** Writes days, not instants, so it needs no zone. */
const dayFormat = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

/** The name of a zone for people: `New York` for `America/New_York`. */
export const cityOf = (zone: string): string => zone.split('/').at(-1)!.replaceAll('_', ' ');

/** GitHub's times are whole seconds, so we compare our instants with them in seconds. */
export const inSeconds = (instant: Date): number => Math.floor(instant.getTime() / 1000);
