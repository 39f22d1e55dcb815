import ICAL from 'ical.js';
import { cutCharacters } from '../../cut-text.ts';
import { SourceUnreadable } from './source-window.ts';
import type { ContentLine } from './content-lines.ts';

/** A property that we read. @property values as jCal (RFC 7265) has them. */
export type Property = { line: ContentLine; params: Record<string, string>; values: unknown[] };

/** A component that we read, with those inside it. @property calendar the VCALENDAR that it belongs to. */
export type Component = {
  kind: string;
  at: number;
  properties: Map<string, Property[]>;
  inner: Component[];
  calendar: Component;
};

const mostSourceEvents = 5000;
const mostZones = 20;
const mostDates = 1000;

const ofObservance = ['DTSTART', 'TZOFFSETFROM', 'TZOFFSETTO', 'RRULE', 'RDATE'];
/** The properties that we read of each kind of component. Everything else may look as it likes. */
const readLine: Record<string, string[]> = {
  VCALENDAR: ['METHOD', 'X-WR-TIMEZONE'],
  VEVENT: [
    ...['UID', 'SUMMARY', 'STATUS', 'SEQUENCE', 'DTSTART', 'DTEND', 'DURATION', 'RECURRENCE-ID'],
    ...['RRULE', 'EXRULE', 'RDATE', 'EXDATE'],
  ],
  VTIMEZONE: ['TZID', 'X-LIC-LOCATION'],
  STANDARD: ofObservance,
  DAYLIGHT: ofObservance,
};
/** Where each kind stands. Events of other places, such as inside of an alarm, are none. */
const parentOf: Record<string, string> = {
  VEVENT: 'VCALENDAR',
  VTIMEZONE: 'VCALENDAR',
  STANDARD: 'VTIMEZONE',
  DAYLIGHT: 'VTIMEZONE',
};
const times = ['DTSTART', 'DTEND', 'RECURRENCE-ID', 'EXDATE', 'RDATE'];
const rules = ['RRULE', 'EXRULE'];

const written = /^\d{8}(?:T\d{6}Z?)?(?:\/(?:\d{8}T\d{6}Z?|[+-]?P[\dDHMSTW]+))?$/;

/** What cannot be read, with its line. */
export const unreadable = ({ at, text }: ContentLine, why = ''): SourceUnreadable =>
  new SourceUnreadable(
    `has an event that cannot be read: line ${at}, \`${shownLine(text)}\`${why && `, ${why}`}`,
  );

/** A text of a calendar, or one that quotes it, in a sentence of ours: whole characters that the database can keep. */
export const shownLine = (text: string): string =>
  cutCharacters(text.replaceAll(/[\p{C}`]/gu, ' ').trim(), 80);

/**
 * The events and zones of a calendar. Names are read in any case of letters, and a property without a value is absent.
 * @throws SourceUnreadable for what we read and cannot, and for more than any calendar of freezes needs.
 */
export function calendarObjects(lines: ContentLine[]): { events: Component[]; zones: Component[] } {
  const found: Record<string, Component[]> = { VEVENT: [], VTIMEZONE: [] };
  const zoneNames = new Set<string>();
  const open: Component[] = [];
  /** What they are called, also those that we do not read. */
  const names: string[] = [];
  for (const line of lines) {
    const [, edge, kind = ''] = /^(BEGIN|END):\s*([\w-]*)\s*$/i.exec(line.text) ?? [];
    const inside = open.at(-1);
    if (edge?.toUpperCase() === 'BEGIN') {
      const component = newComponent(kind.toUpperCase(), line.at, open[0]);
      if (inside && parentOf[component.kind] === inside.kind) {
        inside.inner.push(component);
        found[component.kind]?.push(component);
      } else if (inside && component.kind === inside.kind) throw unreadable(line, `another ${kind} is open`);
      else if (open.length > 0) component.kind = '';
      open.push(component);
      names.push(kind.toUpperCase());
      if (found.VEVENT!.length > mostSourceEvents)
        throw new SourceUnreadable(`has more than ${mostSourceEvents} events`);
      if (found.VTIMEZONE!.length > mostZones) throw tooManyZones();
    } else if (edge) {
      if (!inside) throw unreadable(line, 'where nothing has begun');
      // What ends something else would take the next event with it.
      if (names.pop() !== kind.toUpperCase()) throw neverEnds(inside);
      open.pop();
    } else if (inside) {
      const property = readProperty(line, readLine[inside.kind] ?? []);
      if (!property) continue;
      const all = inside.properties.get(property.name) ?? [];
      inside.properties.set(property.name, [...all, property]);
      if (all.reduce((sum, { values }) => sum + values.length, property.values.length) > mostDates)
        throw new SourceUnreadable(`has more than ${mostDates} dates in one ${property.name}`);
      if (property.params.tzid) zoneNames.add(property.params.tzid);
      if (zoneNames.size > mostZones) throw tooManyZones();
    }
  }
  if (open.length > 0) throw neverEnds(open.at(-1)!);
  return { events: found.VEVENT!, zones: found.VTIMEZONE! };
}

const neverEnds = ({ at }: Component) => new SourceUnreadable(`has something that never ends: line ${at}`);

const tooManyZones = () => new SourceUnreadable(`has more than ${mostZones} time zones`);

function newComponent(kind: string, at: number, calendar: Component | undefined): Component {
  const component = { kind, at, properties: new Map(), inner: [] } as unknown as Component;
  component.calendar = calendar ?? component;
  return component;
}

function readProperty(line: ContentLine, wanted: string[]): (Property & { name: string }) | null {
  const name = (/^[\w-]+/.exec(line.text) ?? [''])[0].toUpperCase();
  if (!wanted.includes(name)) return null;
  const text = normalized(name, line);
  if (text === null) return null;
  if (text.split(',').length > mostDates + 1)
    throw new SourceUnreadable(`has more than ${mostDates} dates in one ${name}`);
  try {
    const [, params, , ...values] = ICAL.parse.property(text, ICAL.design.icalendar) as [
      string,
      Record<string, string>,
      string,
      ...unknown[],
    ];
    return { name, line, params, values };
  } catch (error) {
    throw unreadable(line, shownLine((error as Error).message));
  }
}

/** A line as `ical.js` reads it: it knows one case of letters only, and takes times for what `VALUE` says. Null if empty. */
function normalized(name: string, { at: line, text }: ContentLine): string | null {
  const rest = text.slice(name.length);
  if (times.includes(name)) {
    // Names of zones stand without quotes in files of Outlook, also with a colon.
    const at = rest.lastIndexOf(':');
    const dates = rest
      .slice(at + 1)
      .toUpperCase()
      .split(',');
    const [zoned, quoted, plain] = /;TZID=(?:"([^"]*)"|(.*?)(?=$|;[\w-]+=))/i.exec(rest.slice(0, at)) ?? [];
    const zone = zoned && `;TZID="${(quoted ?? plain ?? '').replaceAll('"', '').trim()}"`;
    const value = dates.map((each) => each.trim()).filter((each) => each !== '');
    if (value.length === 0) return null;
    if (value.length > 1 && !/^(?:RDATE|EXDATE)$/.test(name))
      throw unreadable({ at: line, text }, 'it has more than one time');
    // `ical.js` ignores what stands behind a time.
    if (!value.every((each) => written.test(each)))
      throw unreadable({ at: line, text }, 'there is no such time');
    const kind = value[0]!.includes('/') ? 'PERIOD' : value[0]!.includes('T') ? 'DATE-TIME' : 'DATE';
    const range = /;RANGE="?THISANDFUTURE/i.test(rest.slice(0, at)) ? ';RANGE=THISANDFUTURE' : '';
    return `${name};VALUE=${kind}${zone ?? ''}${range}:${value.join(',')}`;
  }
  const value = rest.slice(rest.indexOf(':') + 1).trim();
  if (value === '') return null;
  if (rules.includes(name)) return `${name}:${value.toUpperCase().replaceAll(/\s+|;+$/g, '')}`;
  return name + rest.trimEnd();
}
