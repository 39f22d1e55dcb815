import { createHash } from 'node:crypto';
import ical, { type EventInstance, type VEvent } from 'node-ical';
import { Temporal } from 'temporal-polyfill';
import { compileNameGlob } from '../conditions/patterns/compile-glob.ts';
import { SourceUnreadable, type SourceWindow } from './plan.ts';
import { isTimeZone } from '../time/local-time.ts';

/** @property matchNothing the titles that no event has. */
type SourceEvents = { windows: SourceWindow[]; matchNothing: string[] };

const day = 86_400_000;
/** Events that ended longer ago are left out. */
const daysBack = 31;
const daysAhead = 2 * 366;
const mostWindows = 10_000;
/** Milliseconds for the expansion of all rules. */
const patience = 5000;

/**
 * The events of a calendar (RFC 5545) that have one of these titles, from a month ago to two years ahead: recurring ones
 * one by one, without those that were cancelled, and without those that take no time.
 * @param titles globs; null for all events.
 * @param timezone of times without a zone.
 * @throws SourceUnreadable
 */
export async function readEvents(
  text: string,
  { titles, timezone, now }: { titles: string[] | null; timezone: string; now: Date },
): Promise<SourceEvents> {
  // What breaks off in the middle would delete freezes.
  if (!/^\uFEFF?\s*BEGIN:VCALENDAR\b[^]*\nEND:VCALENDAR\s*$/i.test(text))
    throw new SourceUnreadable('is not an iCalendar file (BEGIN:VCALENDAR to END:VCALENDAR)');
  const events = await parse(calendarInZones(text, timezone));
  const tests = titles?.map(compileNameGlob) ?? [() => true];
  const all = events.flatMap((event) => [event, ...overridesOf(event)].map(titleOf));
  const windows = new Map<string, SourceWindow>();
  const begun = performance.now();
  for (const event of events) {
    if (![event, ...overridesOf(event)].some((each) => tests.some((test) => test(titleOf(each))))) continue;
    for (const instance of instancesOf(event, now)) {
      const window = windowOf(instance);
      const isWanted =
        window && !isCancelled(instance.event) && tests.some((test) => test(titleOf(instance)));
      if (isWanted && !windows.has(window.key)) windows.set(window.key, window);
    }
    if (windows.size > mostWindows)
      throw new SourceUnreadable(
        `has more than ${mostWindows} events within two years. Choose fewer with \`titles\``,
      );
    if (performance.now() - begun > patience)
      throw new SourceUnreadable('takes too long to read: its events repeat too often');
  }
  return {
    windows: [...windows.values()],
    matchNothing: titles?.filter((_, index) => !all.some(tests[index]!)) ?? [],
  };
}

async function parse(text: string): Promise<VEvent[]> {
  try {
    const parsed = Object.values(await ical.async.parseICS(text));
    return parsed.filter((each): each is VEvent => each?.type === 'VEVENT' && isDate(each.start));
  } catch (error) {
    throw new SourceUnreadable(`has an event that cannot be read: ${(error as Error).message.slice(0, 200)}`);
  }
}

const isDate = (value: unknown): value is Date => value instanceof Date && !Number.isNaN(value.getTime());

/** Recurring events whose times or titles differ from the rule. They are under two keys each. */
const overridesOf = ({ recurrences = {} }: VEvent): VEvent[] =>
  [...new Set(Object.values(recurrences))] as VEvent[];

const isCancelled = ({ status, method }: VEvent): boolean =>
  [status, method].some((word) => /^cancel/i.test(String(word)));

/** A text may have parameters, and stand twice. */
function titleOf({ summary }: { summary?: unknown }): string {
  const one: unknown = Array.isArray(summary) ? summary[0] : summary;
  const text = typeof one === 'object' && one !== null && 'val' in one ? one.val : one;
  return String(text ?? '').trim();
}

type Instance = Pick<EventInstance, 'start' | 'end' | 'isFullDay' | 'event' | 'summary'> & {
  /** Which one of a recurring event it is; null if the event does not recur. */
  recurrence: Date | null;
};

function instancesOf(event: VEvent, now: Date): Instance[] {
  const from = new Date(now.getTime() - daysBack * day);
  const to = new Date(now.getTime() + daysAhead * day);
  const dates = moreDatesOf(event);
  const isRecurring = Boolean(event.rrule) || dates.length > 0;
  const expand = (each: VEvent) => {
    try {
      return ical.expandRecurringEvent(each, { from, to, expandOngoing: true });
    } catch (error) {
      throw new SourceUnreadable(
        `repeats an event (${titleOf(each).slice(0, 50)}) too often: ${(error as Error).message.slice(0, 100)}`,
      );
    }
  };
  const { rrule: _rule, recurrences: _changed, ...once } = event;
  const shifted = dates.map((start): VEvent => ({ ...once, start, end: later(event, start) }));
  // A file may have changed occurrences without the event that they belong to.
  const single = event.rrule ? [event] : [event, ...overridesOf(event).filter((each) => each !== event)];
  return [...single, ...shifted].flatMap((each) =>
    expand(each).map((instance) => ({
      ...instance,
      recurrence: instance.event.recurrenceid ?? (isRecurring ? instance.start : null),
    })),
  );
}

/** The end of an event that begins at another time. */
function later({ start, end }: VEvent, at: Date): VEvent['end'] {
  const ends = new Date(at.getTime() + (end ?? start).getTime() - start.getTime());
  return Object.assign(ends, start.dateOnly && { dateOnly: true as const }) as VEvent['end'];
}

/** The dates of RDATE, which `node-ical` keeps as texts: of periods their starts. */
function moreDatesOf(event: VEvent): VEvent['start'][] {
  const { rdate } = event as { rdate?: unknown };
  return [rdate ?? []].flat().flatMap((each: unknown) => {
    const { val = each, params = {} } = each as { val?: unknown; params?: { TZID?: string } };
    return String(val)
      .split(',')
      .flatMap((text) => {
        const [, year, month, date, time, zulu] = /^(\d{4})(\d\d)(\d\d)(T\d{6})?(Z)?/.exec(text) ?? [];
        if (!time) {
          const local = new Date(Number(year), Number(month) - 1, Number(date));
          return isDate(local) ? [Object.assign(local, { dateOnly: true as const }) as VEvent['start']] : [];
        }
        const zone = zulu ? 'UTC' : (params.TZID ?? 'UTC');
        const at = Temporal.PlainDateTime.from(`${year}${month}${date}${time}`).toZonedDateTime(zone);
        return [new Date(at.epochMilliseconds) as VEvent['start']];
      });
  });
}

function windowOf({ start, end, isFullDay, event, recurrence }: Instance): SourceWindow | null {
  if (!isDate(start) || !isDate(end) || end <= start) return null;
  const timeOf = (at: Date) => (isFullDay ? `${localDate(at)}T00:00:00` : wholeSeconds(at));
  const which =
    recurrence && (recurrence as VEvent['start']).dateOnly
      ? localDate(recurrence)
      : recurrence?.toISOString();
  const name = [
    event.uid ?? `${titleOf(event)} ${timeOf(start)}`,
    isFullDay && which ? localDate(recurrence!) : which,
  ];
  const key = createHash('sha256').update(JSON.stringify(name)).digest('base64url').slice(0, 22);
  return { key, start: timeOf(start), end: timeOf(end) };
}

const wholeSeconds = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;

/** `node-ical` gives a date as midnight in the zone of this process. */
const localDate = (at: Date): string =>
  [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0')).join('-');

// `node-ical` reads times without a zone, or with a zone that it does not know, in the zone of this process. So it gets
// only what we need of a calendar, with the IANA name of a zone at every time.

/** The properties of events that we read. */
const read = ['UID', 'SUMMARY', 'STATUS', 'SEQUENCE', 'DURATION', 'RRULE'];
const times = ['DTSTART', 'DTEND', 'RECURRENCE-ID', 'EXDATE', 'RDATE'];

type Line = { name: string; params: string; value: string; whole: string };

/** The lines of a calendar without folds. Lines that have no name are left out. */
function* linesOf(text: string): Generator<Line> {
  for (const whole of text
    .replace(/^\uFEFF/, '')
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)) {
    const [, name, params, value] = /^([\w-]+)((?:;[\w-]+=(?:"[^"]*"|[^":;])*)*):(.*)$/.exec(whole) ?? [];
    if (name) yield { name: name.toUpperCase(), params: params!, value: value!.trim(), whole };
  }
}

/** The events of a calendar, where each time has the name of a zone. @param timezone of times without a zone. */
function calendarInZones(text: string, timezone: string): string {
  const all = [...linesOf(text)];
  const zoneOf = zonesOf(all, timezone);
  const lines = ['BEGIN:VCALENDAR'];
  const open: string[] = [];
  for (const { name, params, value, whole } of all) {
    if (name === 'END') open.pop();
    const isEvent = open[1] === 'VEVENT' && open.length === 2;
    const component = value.toUpperCase();
    const isEdge = /^(?:BEGIN|END)$/.test(name) && component === 'VEVENT' && open.length === 1;
    if (name === 'BEGIN') open.push(component);
    if (isEdge || (isEvent && read.includes(name)) || (name === 'METHOD' && open.length === 1))
      lines.push(whole);
    else if (isEvent && times.includes(name)) lines.push(timeLine(name, params, value, zoneOf));
  }
  return [...lines, 'END:VCALENDAR'].join('\r\n');
}

function timeLine(
  name: string,
  params: string,
  value: string,
  zoneOf: (id: string | null) => string,
): string {
  if (/^\d{8}(?:,\d{8})*$/.test(value)) return `${name};VALUE=DATE:${value}`;
  if (value.endsWith('Z')) return `${name}:${value}`;
  const [, quoted, plain] = /;TZID=(?:"([^"]*)"|([^;]*))/i.exec(params) ?? [];
  // Outlook writes `TZID=tzone://Microsoft/Utc` without quotes.
  const [, rest, time] = /^(\/\/.*):(\S+)$/.exec(value) ?? [];
  if (rest) return timeLine(name, `;TZID="${plain}:${rest}"`, time!, zoneOf);
  return `${name};TZID=${zoneOf(quoted ?? plain ?? null)}:${value}`;
}

/** Finds the IANA name of each zone of a calendar. What cannot be found is the zone of the plan. */
function zonesOf(all: Line[], timezone: string): (id: string | null) => string {
  const blocks = blocksOf(all);
  const known = new Map<string, string>();
  return (id) => {
    if (id === null) return timezone;
    const found = known.get(id) ?? zoneNamed(id, blocks.get(id)) ?? timezone;
    known.set(id, found);
    return found;
  };
}

/** The VTIMEZONE components of a calendar, by their names. */
function blocksOf(all: Line[]): Map<string, Line[]> {
  const blocks = new Map<string, Line[]>();
  let block: Line[] | null = null;
  for (const line of all) {
    const isOuter = line.value.toUpperCase() === 'VTIMEZONE';
    if (line.name === 'BEGIN' && isOuter) block = [];
    else if (line.name === 'END' && isOuter) block = null;
    else block?.push(line);
    if (block && line.name === 'TZID') blocks.set(line.value.replace(/^"(.*)"$/, '$1'), block);
  }
  return blocks;
}

/** @param block what the calendar says about the zone. */
function zoneNamed(id: string, block: Line[] = []): string | null {
  // Such as /freeassociation.sourceforge.net/Europe/Paris.
  const parts = id.split('/');
  const named = [1, 2, 3].map((count) => parts.slice(-count).join('/'));
  const hint = block.find(({ name }) => name === 'X-LIC-LOCATION')?.value ?? '';
  const found = [id, ...(parts.length > 2 ? named : []), hint].find(isTimeZone);
  return found ?? zoneByLibrary(id, []) ?? zoneByLibrary(custom, block);
}

/** For a zone of this name, `node-ical` reads its rules. */
const custom = 'Customized Time Zone';

/** Asks `node-ical`, which knows the names of Windows and compares the rules of a VTIMEZONE with zones. */
function zoneByLibrary(id: string, block: Line[]): string | null {
  // It would read these in the zone of this process.
  if (block.length === 0 && /^(?:tzone:|Customized Time Zone)/.test(id)) return null;
  const rules = block.map(({ name, whole }) => (name === 'TZID' ? `TZID:${id}` : whole));
  const zone = block.length > 0 ? ['BEGIN:VTIMEZONE', ...rules, 'END:VTIMEZONE'] : [];
  const event = ['BEGIN:VEVENT', 'UID:1', `DTSTART;TZID="${id}":20260101T120000`, 'END:VEVENT'];
  const parsed = ical.sync.parseICS(['BEGIN:VCALENDAR', ...zone, ...event, 'END:VCALENDAR'].join('\r\n'));
  const tz = String((parsed['1'] as VEvent | undefined)?.start?.tz ?? '');
  if (isTimeZone(tz)) return tz;
  const [, sign, hours] = /([+-])0?(\d{1,2}):?00\b/.exec(tz) ?? [];
  return hours ? `Etc/GMT${sign === '+' ? '-' : '+'}${hours}` : null;
}
