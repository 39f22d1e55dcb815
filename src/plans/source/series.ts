import ICAL from 'ical.js';
import { type Component, type Property, unreadable } from './calendar-objects.ts';
import { datesOf, readRule } from './event-rule.ts';
import { decodeOctets } from './content-lines.ts';
import { day } from '../../time/units.ts';
import { dateOf, type EventTime, midnight, writtenTime } from './wall-clock.ts';
import type { Zones } from './zones.ts';

/** An event of a calendar, or what it says of one occurrence of an event, or of all from one on. */
export type SeriesEvent = {
  component: Component;
  uid: string | null;
  sequence: number;
  title: string;
  isCancelled: boolean;
};

/**
 * An event, and what the calendar says of its occurrences: that may stand there alone.
 * @property own what tells it from the other events of its UID; null for the first one.
 */
export type Series = { main: SeriesEvent | null; changes: SeriesEvent[]; own: string | null };

/** @property which one of its event it is: a day or an instant; null if the event has no other. */
export type SeriesOccurrence = {
  event: SeriesEvent;
  start: EventTime;
  end: EventTime;
  which: string | null;
};

/** @property length from start to end by the wall clock. @property endZone null if it ends with a day. */
type Times = { start: EventTime; length: number; endZone: EventTime['zone'] };
/** What a calendar says of an occurrence. @property times null if it is cancelled without any. */
type SeriesChange = { event: SeriesEvent; of: EventTime; isRange: boolean; times: Times | null };

const wordOf = ({ properties }: Component, name: string): string =>
  String(properties.get(name)?.[0]?.values[0] ?? '').trim();

export const calendarEvent = (component: Component): SeriesEvent => ({
  component,
  uid: wordOf(component, 'UID') || null,
  sequence: wholeNumberOf(wordOf(component, 'SEQUENCE')),
  title: titleOf(component),
  isCancelled: [wordOf(component, 'STATUS'), wordOf(component.calendar, 'METHOD')].some((word) =>
    /^cancel/i.test(word),
  ),
});

/** What is no number is no other version. */
const wholeNumberOf = (text: string): number => (/^-?\d+$/.test(text) ? Number(text) : 0);

/** Files of vCalendar 1.0, and of programs that still write so, have `ENCODING=QUOTED-PRINTABLE`. */
function titleOf(component: Component): string {
  const [title] = component.properties.get('SUMMARY') ?? [];
  if (!/^quoted-printable$/i.test(title?.params.encoding ?? '')) return wordOf(component, 'SUMMARY');
  return wordOf(component, 'SUMMARY').replaceAll(/(?:=[\dA-F]{2})+/gi, (octets) =>
    decodeOctets(Buffer.from(octets.replaceAll('=', ''), 'hex'), title!.params.charset ?? 'utf-8'),
  );
}

const isChange = ({ component }: SeriesEvent): boolean => component.properties.has('RECURRENCE-ID');

/**
 * The events of a calendar with what changes them. The second and later event of one UID is an event of its own, known by
 * its start, and by all its times where another one starts so; unless SEQUENCE makes it another version: then the highest
 * one counts. What changes an occurrence belongs to the event that has it.
 */
export function seriesOf(events: SeriesEvent[], zones: Zones): Series[] {
  return [...Map.groupBy(events, ({ uid }) => uid)].flatMap(([uid, same]) => {
    const mains = same.filter((each) => !isChange(each));
    if (uid === null) return same.map((main) => ({ main, changes: [], own: null }));
    const version = mains.reduce((most, { sequence }) => Math.max(most, sequence), -Infinity);
    const newest = mains.filter(({ sequence }) => sequence === version);
    const [first = null, ...others] = [...Map.groupBy(newest, timesAsWritten).values()].map(
      ([main]) => main!,
    );
    const names = new Set<string>(first ? [startAsWritten(first)] : []);
    const series: Series[] = [{ main: first, changes: [], own: null }];
    for (const main of others) {
      const own = names.has(startAsWritten(main)) ? timesAsWritten(main) : startAsWritten(main);
      names.add(own);
      series.push({ main, changes: [], own });
    }
    for (const change of same.filter(isChange)) {
      const owner = others.length === 0 ? undefined : series.find(({ main }) => has(main!, change, zones));
      (owner ?? series[0]!).changes.push(change);
    }
    return series;
  });
}

const startAsWritten = ({ component }: SeriesEvent): string => wordOf(component, 'DTSTART');

const timesAsWritten = ({ component }: SeriesEvent): string =>
  ['DTSTART', 'DTEND', 'DURATION']
    .map((name) => `${component.properties.get(name)?.[0]?.params.tzid ?? ''} ${wordOf(component, name)}`)
    .join(' ');

/** Whether an event has the occurrence that another one changes. */
function has(main: SeriesEvent, change: SeriesEvent, zones: Zones): boolean {
  const times = timesOfSeries(main, zones);
  if (!times) return false;
  const of = timeIn(zones, change, single(change, 'RECURRENCE-ID')!, times.start);
  const name = times.start.zone === null ? dateOf(of.wall) : nameOfSeries(of);
  const at = (of.zone ?? zones.plan).instantOf(of.wall, 'other');
  for (const { start } of startsOf(main, times, zones, at - day, at + day))
    if (namesOf(start).includes(name)) return true;
  return false;
}

/**
 * The occurrences of an event that may be between two instants, in no order.
 * @throws SourceUnreadable
 */
export function* occurrencesOf(
  series: Series,
  zones: Zones,
  from: number,
  to: number,
): Generator<SeriesOccurrence> {
  const { main } = series;
  const times = main && timesOfSeries(main, zones);
  const changes = changesOf(series, zones, times?.start);
  for (const { event, of, times } of changes.values())
    if (times) yield { event, ...occurrenceAt(times), which: nameOfSeries(of) };
  if (!main || !times) return;
  const instantOf = ({ wall, zone }: EventTime) => (zone ?? zones.plan).instantOf(wall, 'other');
  const ranges = [...changes.values()]
    .filter(({ isRange }) => isRange)
    .toSorted((one, other) => instantOf(one.of) - instantOf(other.of));
  const isAlone = !['RRULE', 'RDATE'].some((name) => main.component.properties.has(name));
  for (const each of startsOf(main, times, zones, from, to)) {
    if (namesOf(each.start).some((name) => changes.has(name))) continue;
    const range = ranges.findLast(({ of }) => instantOf(of) <= instantOf(each.start));
    if (!range)
      yield { event: main, ...occurrenceAt(each), which: isAlone ? null : nameOfSeries(each.start) };
    else if (range.times) {
      const { start } = range.times;
      const moved = { wall: each.start.wall + start.wall - range.of.wall, zone: start.zone };
      yield {
        event: range.event,
        ...occurrenceAt({ ...range.times, start: moved }),
        which: nameOfSeries(each.start),
      };
    }
  }
}

const occurrenceAt = ({ start, length, endZone }: Times) => ({
  start,
  end: { wall: start.wall + length, zone: endZone },
});

const nameOfSeries = ({ wall, zone }: EventTime): string =>
  zone === null ? dateOf(wall) : new Date(zone.instantOf(wall, 'other')).toISOString();

/** A calendar may name an occurrence by its day too. */
const namesOf = (time: EventTime): string[] =>
  time.zone === null ? [nameOfSeries(time)] : [nameOfSeries(time), dateOf(time.wall)];

/** What the calendar says of occurrences, by their names: of versions, the highest one. @param start of the event. */
function changesOf(
  { changes }: Series,
  zones: Zones,
  start: EventTime | undefined,
): Map<string, SeriesChange> {
  const known = new Map<string, SeriesChange>();
  for (const event of changes) {
    const id = single(event, 'RECURRENCE-ID')!;
    const of = timeIn(zones, event, id, start);
    const name = start?.zone === null ? dateOf(of.wall) : nameOfSeries(of);
    if ((known.get(name)?.event.sequence ?? -Infinity) > event.sequence) continue;
    const isRange = /^THISANDFUTURE$/i.test(id.params.range ?? '');
    // The same day or time in the zone of the event, so that the others move as this one does.
    const inZone =
      of.zone && start?.zone
        ? { wall: start.zone.wallAt(of.zone.instantOf(of.wall, 'other')), zone: start.zone }
        : of;
    known.set(name, { event, of: inZone, isRange, times: timesOfSeries(event, zones) });
  }
  return known;
}

function single({ component }: SeriesEvent, name: string): Property | undefined {
  const [first, second] = component.properties.get(name) ?? [];
  if (second) throw unreadable(second.line, `it is a duplicate ${name}`);
  return first;
}

const timeIn = (
  zones: Zones,
  { component }: SeriesEvent,
  property: Property,
  beside?: EventTime,
): EventTime => zones.timeOf(writtenTime(property, property.values[0]), component.calendar, beside);

/** Null for what has no start and may have none. */
function timesOfSeries(event: SeriesEvent, zones: Zones): Times | null {
  const { component } = event;
  const [first, last, lasting] = ['DTSTART', 'DTEND', 'DURATION'].map((name) => single(event, name));
  if (!first) {
    // RFC 5545, 3.6.1: needed where the calendar has no method.
    if (event.isCancelled || component.calendar.properties.has('METHOD')) return null;
    throw unreadable({ at: component.at, text: 'BEGIN:VEVENT' }, 'it has no DTSTART');
  }
  const start = timeIn(zones, event, first);
  if (last) {
    const end = timeIn(zones, event, last, start);
    const isOneDay = start.zone === null && end.zone === null && start.wall === end.wall;
    return { start, length: isOneDay ? day : end.wall - start.wall, endZone: end.zone };
  }
  const usual = start.zone === null ? day : 0;
  return timesFor(start, lasting ? lengthOf(lasting, lasting.values[0]) || usual : usual, zones);
}

/** A part of a day ends by the clock of the plan. */
const timesFor = (start: EventTime, length: number, zones: Zones): Times => ({
  start,
  length,
  endZone: start.zone === null && length % day !== 0 ? zones.plan : start.zone,
});

function lengthOf({ line }: Property, text: unknown): number {
  try {
    return ICAL.Duration.fromString(String(text).toUpperCase()).toSeconds() * 1000;
  } catch {
    throw unreadable(line, 'there is no such length');
  }
}

/** The starts of an event by its rules and dates, without those that it excludes. */
function* startsOf(
  event: SeriesEvent,
  times: Times,
  zones: Zones,
  from: number,
  to: number,
): Generator<Times> {
  const { properties } = event.component;
  const earliest = from - Math.max(0, times.length) - 2 * day;
  const ofRules = function* (name: string): Generator<number> {
    for (const property of properties.get(name) ?? []) {
      const rule = readRule(property);
      const until = rule.until && zones.timeOf(rule.until, event.component.calendar, times.start);
      for (const wall of datesOf(rule, times.start.wall, earliest, to + 2 * day)) {
        if (until && isAfter({ wall, zone: times.start.zone }, until)) break;
        yield wall;
      }
    }
  };
  const { start, length, endZone } = times;
  const at = (wall: number): Times => ({ start: { wall, zone: start.zone }, length, endZone });
  const excluded = new Set([
    ...listedEvents(event, 'EXDATE').map(([property, text]) => {
      const time = zones.timeOf(writtenTime(property, text), event.component.calendar, start);
      return start.zone === null ? dateOf(time.wall) : nameOfSeries(time);
    }),
    ...[...ofRules('EXRULE')].map((wall) => nameOfSeries(at(wall).start)),
  ]);
  const seen = new Set<string>();
  const all = function* (): Generator<Times> {
    for (const [property, text] of listedEvents(event, 'RDATE'))
      yield extra(event, property, text, times, zones);
    yield times;
    for (const wall of ofRules('RRULE')) yield at(wall);
  };
  for (const each of all()) {
    const names = namesOf(each.start);
    if (seen.has(names[0]!) || names.some((name) => excluded.has(name))) continue;
    seen.add(names[0]!);
    yield each;
  }
}

const listedEvents = ({ component }: SeriesEvent, name: string): [Property, unknown][] =>
  (component.properties.get(name) ?? []).flatMap((property) =>
    property.values.map((value): [Property, unknown] => [property, value]),
  );

/** The times of a date of RDATE, or of a period, which has its own length. */
function extra(event: SeriesEvent, property: Property, value: unknown, times: Times, zones: Zones): Times {
  const [text, until] = [value].flat();
  const timeOf = (each: unknown, beside: EventTime) =>
    zones.timeOf(writtenTime(property, each), event.component.calendar, beside);
  const said = timeOf(text, times.start);
  const start = asThe(times.start, said);
  if (until === undefined)
    return { ...times, start, endZone: times.endZone === times.start.zone ? start.zone : times.endZone };
  if (/^[+-]?P/i.test(String(until))) return timesFor(start, lengthOf(property, until), zones);
  const end = timeOf(until, start);
  return { start, length: end.wall - start.wall, endZone: end.zone };
}

/** Of whole days there are more whole days, and a day beside a time is that time of the day. */
function asThe({ wall, zone }: EventTime, said: EventTime): EventTime {
  if (zone === null) return { wall: midnight(said.wall), zone };
  return said.zone === null ? { wall: said.wall + wall - midnight(wall), zone } : said;
}

function isAfter(time: EventTime, until: EventTime): boolean {
  if (time.zone === null || until.zone === null) return midnight(time.wall) > midnight(until.wall);
  return time.zone.instantOf(time.wall, 'other') > until.zone.instantOf(until.wall, 'other');
}
