import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { html } from 'hono/html';
import { type AuditEvent, auditEventTypes } from '../../events/append-event.ts';
import { isTimeZone } from '../../time/local-time.ts';
import { dayOf } from '../calendar/calendar-window.ts';
import { type TimelineWindow, windowAround, zooms } from '../timeline/timeline-window.ts';
import type { Html } from '../layout.ts';
import type { Times } from '../text.ts';

/** What the URL of a repository's page asks for. */
export type View = {
  window: TimelineWindow;
  /** A day of the window; null for today. */
  at: Temporal.PlainDate | null;
  /** The requested zone, in Temporal's spelling; null if none, and the window is in the reader's zone. */
  zone: string | null;
  /** The first freeze of the list of ongoing and scheduled freezes; null for the earliest. */
  current: string | null;
  /** The first freeze of the list of past freezes; null for the newest. */
  past: string | null;
  /** The cursor of the audit log, and the event type to show. */
  log: string | null;
  event: AuditEvent['type'] | null;
};

/** The query parameters that a link may change. */
type ViewQuery = Partial<Record<'zoom' | 'at' | 'zone' | 'current' | 'past' | 'log' | 'event', string>>;

/** Within these years, the window and its neighbors have four-digit years, which every part of the code can handle. */
const firstYear = 1900;
const lastYear = 9998;

/**
 * Reads the query of a URL. Ignores invalid parameters and describes them in sentences.
 * @param query the first value of each parameter.
 */
export function readView(query: ViewQuery, { now, zone: own }: Times): { view: View; problems: string[] } {
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
    'This is not a time zone. Use an IANA name such as Europe/Paris.',
  );
  const zoom = read('zoom', oneOf(zooms), 'zoom must be week, month or quarter. This page shows a month.');
  const at = read(
    'at',
    readDay,
    `at must be a date such as 2026-11-16, from ${firstYear} to ${lastYear}. This page shows today.`,
  );
  const past = read('past', (text) => (z.guid().safeParse(text).success ? text : null), noSuchFreeze);
  const current = given('current');
  const event = read(
    'event',
    oneOf(auditEventTypes),
    'This event type does not exist. This page shows all types.',
  );
  const shownZone = zone ?? own;
  const window = windowAround(zoom ?? 'month', at ?? dayOf(now, shownZone), shownZone);
  return { view: { window, at, zone, current, past, log: given('log'), event }, problems };
}

export const noSuchCurrentFreeze =
  'This page of ongoing and scheduled freezes does not exist. The list starts with the earliest freeze.';

export const noSuchFreeze =
  'This page of past freezes does not exist. The list starts with the newest freeze.';

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

/** Whether a URL may name this day. */
export const isShowable = ({ year }: Temporal.PlainDate): boolean => year >= firstYear && year <= lastYear;

const spellingOf = (zone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).timeZoneId;

/**
 * The relative URL of the same view with some parameters changed. Null removes a parameter.
 * @param part the id of the element to scroll to.
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

/**
 * The choice of the page's time zone: UTC, a zone of its freezes, or (local-times.js) the browser's zone. It applies to
 * the days of the timeline and to every time on the page.
 */
export function zoneChoice({ window, at, zone, current, past, event }: View, zones: Iterable<string>): Html {
  const others = [...new Set([...zones, window.zone])].filter((each) => each !== 'UTC');
  return html`<form class="choice" method="get">
    ${kept({ zoom: window.zoom, at: at && at.toString(), current, past, event })}
    <label for="zone">Time zone</label>
    <select id="zone" name="zone">
      ${option('', 'Your own', zone === null)}
      ${['UTC', ...others.toSorted()].map((each) => option(each, each, each === zone))}
    </select>
    <button type="submit" class="quiet">Show</button>
  </form>`;
}

/** The query parameters that a form of the page keeps. */
export const kept = (words: Record<string, string | null>): Html[] =>
  Object.entries(words).flatMap(([name, value]) =>
    value === null ? [] : [html`<input type="hidden" name="${name}" value="${value}" />`],
  );

export const option = (value: string, name: string, isChosen: boolean): Html =>
  html`<option value="${value}" ${isChosen ? html`selected` : ''}>${name}</option>`;
