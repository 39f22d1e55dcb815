import { createHash } from 'node:crypto';
import { cutText } from '../../cut-text.ts';
import { compileNameGlob } from '../../conditions/patterns/compile-name-glob.ts';
import { SourceUnreadable, type SourceWindow } from './source-window.ts';
import { calendarObjects, shownLine } from './calendar-objects.ts';
import { contentLines } from './content-lines.ts';
import { calendarEvent, occurrencesOf, type Series, type SeriesOccurrence, seriesOf } from './series.ts';
import { day } from '../../time/units.ts';
import { type EventTime, writeWall } from './wall-clock.ts';
import { type Zones, zonesOf } from './zones.ts';

/** A calendar and what is asked of it. @property titles globs; null for all events. @property timezone the plan's. */
export type CalendarQuestion = {
  bytes: Uint8Array;
  charset: string | null;
  titles: string[] | null;
  timezone: string;
  now: Date;
};

/** @property names the title of each window's event, by its key. @property matchNothing the titles that no event has. @property warnings in sentences. */
export type SourceEvents = {
  windows: SourceWindow[];
  names: Map<string, string>;
  matchNothing: string[];
  warnings: string[];
};

/** Events that ended longer ago are left out. */
const daysBack = 31;
const daysAhead = 2 * 366;
const mostWindows = 10_000;
/** Characters of a title that are shown. */
const longestName = 200;
// What freezes can have.
const earliest = Date.parse('1900-01-01T00:00:00Z');

/**
 * The events of a calendar (RFC 5545) that have one of these titles, from a month ago to two years ahead: recurring ones
 * one by one, without those that were cancelled, and without those that take no time.
 * @throws SourceUnreadable
 */
export function readEvents({ bytes, charset, titles, timezone, now }: CalendarQuestion): SourceEvents {
  const objects = calendarObjects(contentLines(bytes, charset));
  const zones = zonesOf(objects.zones, timezone, now);
  const events = objects.events.map(calendarEvent);
  const tests = titles?.map(compileNameGlob) ?? [() => true];
  const isWanted = ({ title }: { title: string }) => tests.some((test) => test(title));
  const [from, to] = [now.getTime() - daysBack * day, now.getTime() + daysAhead * day];
  const wanted = new Set(events.filter(isWanted).map(({ uid }) => uid));
  const backwards = new Set<string>();
  const windows = new Map<string, SourceWindow>();
  const names = new Map<string, string>();
  // What nobody wants may be written, and repeat, as it likes.
  for (const series of seriesOf(
    events.filter(({ uid }) => wanted.has(uid)),
    zones,
  )) {
    if (![series.main ?? [], series.changes].flat().some(isWanted)) continue;
    for (const occurrence of occurrencesOf(series, zones, from, to)) {
      const { event, start, end } = occurrence;
      if (event.isCancelled || !isWanted(event)) continue;
      if (instantAt(zones, end) < instantAt(zones, start))
        backwards.add(event.title ? `\`${shownLine(event.title)}\`` : `line ${event.component.at}`);
      const window = windowOf(occurrence, series, zones, { from, to });
      if (window && !windows.has(window.key)) {
        windows.set(window.key, window);
        names.set(window.key, cutText(event.title, longestName));
      }
      if (windows.size > mostWindows)
        throw new SourceUnreadable(
          `has more than ${mostWindows} events within two years. Choose fewer with \`titles\``,
        );
    }
  }
  return {
    windows: [...windows.values()],
    names,
    matchNothing: titles?.filter((_, index) => !events.some(({ title }) => tests[index]!(title))) ?? [],
    warnings: [...zones.warnings(), ...warningsOfBackwards([...backwards])],
  };
}

const instantAt = (zones: Zones, { wall, zone }: EventTime, edge: 'start' | 'other' = 'other') =>
  (zone ?? zones.plan).instantOf(wall, edge);

const mostTitles = 3;

function warningsOfBackwards(events: string[]): string[] {
  if (events.length === 0) return [];
  const more = events.length - mostTitles;
  const named = events.slice(0, mostTitles);
  return [
    `The calendar has events that end before they begin, so they are no freezes: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
  ];
}

/** Null for what takes no time, and for what is not between two instants. */
function windowOf(
  { event, start, end, which }: SeriesOccurrence,
  { own }: Series,
  zones: Zones,
  { from, to }: { from: number; to: number },
): SourceWindow | null {
  if (start.zone === end.zone && end.wall <= start.wall) return null;
  const [startsAt, endsAt] = [instantAt(zones, start, 'start'), instantAt(zones, end)].map((instant) =>
    Math.max(earliest, instant),
  ) as [number, number];
  if (endsAt <= startsAt || endsAt <= from || startsAt >= to) return null;
  const isOfDays = start.zone === null && end.zone === null;
  const timeOf = (instant: number, { wall }: EventTime) =>
    isOfDays ? writeWall(wall) : `${writeWall(instant)}Z`;
  const window = { start: timeOf(startsAt, start), end: timeOf(endsAt, end) };
  const name = [event.uid ?? `${event.title} ${window.start}`, which, ...(own === null ? [] : [own])];
  const key = createHash('sha256').update(JSON.stringify(name)).digest('base64url').slice(0, 22);
  return { key, ...window };
}
