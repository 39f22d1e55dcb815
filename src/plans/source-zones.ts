import ical, { type VEvent } from 'node-ical';
import { isTimeZone } from '../time/local-time.ts';

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
export function calendarInZones(text: string, timezone: string): string {
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
