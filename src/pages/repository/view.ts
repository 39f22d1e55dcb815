import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { type AuditEvent, auditEventTypes } from '../../events/append-event.ts';
import { isTimeZone } from '../../time/local-time.ts';
import { dayOf, type TimelineWindow, windowAround, zooms } from '../timeline/timeline-window.ts';

/** What the address of a repository's page asks to see. */
export type View = {
  window: TimelineWindow;
  /** A day of the window; null: today. */
  at: Temporal.PlainDate | null;
  /** The zone that was asked for, in Temporal's spelling; null: none, and the window is in UTC. */
  zone: string | null;
  /** The freeze that the list of ongoing and scheduled ones begins with; null: the earliest. */
  current: string | null;
  /** The past freeze that the list of those begins with; null: the newest. */
  past: string | null;
  /** Of the audit log: a cursor, and the one type to show. */
  log: string | null;
  event: AuditEvent['type'] | null;
};

/** The words of the address: all that a link may change. */
export type ViewQuery = Partial<
  Record<'zoom' | 'at' | 'zone' | 'current' | 'past' | 'log' | 'event', string>
>;

/** Dates that every part of us can hold: within these the window and the ones around it have four-digit years. */
const firstYear = 1900;
const lastYear = 9998;

/**
 * Reads the query of an address. What is wrong with it is told in sentences and counts as not asked.
 * @param query of a parameter given several times the first value.
 */
export function readView(query: ViewQuery, now: Date): { view: View; problems: string[] } {
  const problems: string[] = [];
  const given = (name: keyof ViewQuery) => query[name] || null;
  const read = <Value>(name: keyof ViewQuery, parse: (text: string) => Value | null, problem: string) => {
    const text = given(name);
    const value = text === null ? null : parse(text);
    if (text !== null && value === null) problems.push(problem);
    return value;
  };
  const zone = read(
    'zone',
    (text) => (isTimeZone(text) ? spellingOf(text) : null),
    'This is not a time zone. Send an IANA name such as Europe/Paris; until then this page is in UTC.',
  );
  const zoom = read('zoom', oneOf(zooms), 'zoom is week, month or quarter; this is a month.');
  const at = read(
    'at',
    readDay,
    `at is a date such as 2026-11-16, from ${firstYear} to ${lastYear}; this is today.`,
  );
  const past = read('past', (text) => (z.guid().safeParse(text).success ? text : null), noSuchFreeze);
  const current = given('current');
  const event = read('event', oneOf(auditEventTypes), 'There is no such type of event; these are all types.');
  const shownZone = zone ?? 'UTC';
  const window = windowAround(zoom ?? 'month', at ?? dayOf(now, shownZone), shownZone);
  return { view: { window, at, zone, current, past, log: given('log'), event }, problems };
}

export const noSuchCurrentFreeze =
  'The list of ongoing and scheduled freezes cannot begin there, so it begins with the earliest.';

export const noSuchFreeze = 'The list of past freezes cannot begin there, so it begins with the newest.';

const oneOf =
  <Value extends string>(values: readonly Value[]) =>
  (text: string): Value | null =>
    values.find((value) => value === text) ?? null;

function readDay(text: string): Temporal.PlainDate | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  try {
    const day = Temporal.PlainDate.from(text, { overflow: 'reject' });
    return isShowable(day) ? day : null;
  } catch {
    return null;
  }
}

/** Whether an address may name this day. */
export const isShowable = ({ year }: Temporal.PlainDate): boolean => year >= firstYear && year <= lastYear;

const spellingOf = (zone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId;

/**
 * The address, relative to the page, of the same view with some words changed; null takes one out.
 * @param part the id of the element to go to.
 */
export function linkTo(
  { window, at, zone, current, past, log, event }: View,
  change: Partial<Record<keyof ViewQuery, string | null>>,
  part: string,
): string {
  const shown = { zoom: window.zoom, at: at && at.toString(), zone, current, past, log, event };
  const words = Object.entries({ ...shown, ...change }).filter(([, value]) => value !== null);
  return `?${new URLSearchParams(words as [string, string][])}#${part}`;
}
