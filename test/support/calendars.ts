// Reads an iCalendar file as an outside program does, and holds it against the rules of RFC 5545.
import ICAL from 'ical.js';
import { expect } from 'vitest';

/** The lines of a calendar without folds: names, parameters and values. @throws where a rule of RFC 5545 is broken. */
function contentLines(text: string): { name: string; params: string; value: string }[] {
  expect(text.endsWith('END:VCALENDAR\r\n'), 'ends with a whole line (3.1)').toBe(true);
  expect(text.replaceAll('\r\n', ''), 'lines end with CRLF (3.1)').not.toMatch(/[\r\n]/);
  const physical = text.split('\r\n').filter((line) => line !== '');
  for (const line of physical)
    expect(Buffer.byteLength(line), `75 octets at most (3.1): ${line}`).toBeLessThanOrEqual(75);
  // A fold inside a character would leave the character for replacement.
  expect(text).not.toContain('\uFFFD');
  const lines = text
    .replaceAll(/\r\n[ \t]/g, '')
    .split('\r\n')
    .filter((line) => line !== '');
  return lines.map((line) => {
    const [, name, params, value] =
      /^([A-Z0-9-]+)((?:;[A-Z0-9-]+=(?:"[^"]*"|[^":;,]*))*):(.*)$/.exec(line) ?? [];
    expect(name, `a content line (3.1): ${line}`).toBeDefined();
    // eslint-disable-next-line no-control-regex -- they are forbidden
    expect(value, `no control characters (3.1): ${line}`).not.toMatch(/[\u0000-\u0008\u000A-\u001F\u007F]/);
    return { name: name!, params: params!, value: value! };
  });
}

const utc = /^\d{8}T\d{6}Z$/;
/** 3.3.11: backslash, semicolon and comma are escaped, and a line break is `\n`. */
const text = /^(?:[^\\;,]|\\[\\;,nN])*$/;
/** How values of each property of our events look. */
const values: Record<string, RegExp> = {
  UID: /^\S+@\S+$/,
  SEQUENCE: /^\d+$/,
  DTSTAMP: utc,
  DTSTART: utc,
  DTEND: utc,
  'LAST-MODIFIED': utc,
  SUMMARY: text,
  DESCRIPTION: text,
  URL: /^https?:\/\/\S+$/,
  STATUS: /^(?:CONFIRMED|CANCELLED)$/,
  TRANSP: /^TRANSPARENT$/,
};
const needed = ['UID', 'DTSTAMP', 'DTSTART', 'DTEND', 'SUMMARY', 'SEQUENCE', 'STATUS', 'TRANSP'];

/** Checks a calendar of ours against RFC 5545 (and 7986), property by property. */
export function assertFollowsRfc5545(calendar: string): void {
  const lines = contentLines(calendar);
  const open: { component: string; seen: Map<string, string> }[] = [];
  const uids = new Set<string>();
  for (const { name, value } of lines) {
    const inside = open.at(-1);
    if (name === 'BEGIN') {
      expect(value).toBe(inside ? 'VEVENT' : 'VCALENDAR');
      open.push({ component: value, seen: new Map() });
      continue;
    }
    if (name !== 'END') {
      expect(inside!.seen.has(name), `${name} stands once (3.6)`).toBe(false);
      if (inside!.component === 'VEVENT') expect(value, name).toMatch(values[name] ?? /^never$/);
      inside!.seen.set(name, value);
      continue;
    }
    const { component, seen } = open.pop()!;
    expect(component).toBe(value);
    if (component === 'VCALENDAR') {
      expect(seen.get('VERSION')).toBe('2.0');
      expect(seen.get('PRODID')).toBeTruthy();
      expect([seen.get('REFRESH-INTERVAL'), seen.get('X-PUBLISHED-TTL')]).toEqual(['PT1H', 'PT1H']);
      continue;
    }
    expect(
      needed.filter((property) => !seen.has(property)),
      'required properties (3.6.1)',
    ).toEqual([]);
    expect(seen.get('DTEND')! > seen.get('DTSTART')!, 'it ends after it starts (3.8.2.2)').toBe(true);
    expect(uids.has(seen.get('UID')!), `one ${seen.get('UID')}`).toBe(false);
    uids.add(seen.get('UID')!);
  }
  expect(open, 'every component ends').toEqual([]);
}

/** An event as `ical.js` reads it. */
export type ReadEvent = {
  uid: string;
  summary: string;
  description: string;
  sequence: number;
  status: string;
  start: string;
  end: string;
  url: string;
};

/** The events of a calendar that follows the rules, as another program reads them, the earliest first. */
export function readCalendar(calendar: string): ReadEvent[] {
  assertFollowsRfc5545(calendar);
  const all = new ICAL.Component(ICAL.parse(calendar) as never).getAllSubcomponents('vevent');
  return all
    .map((component) => {
      const event = new ICAL.Event(component);
      const textOf = (name: string) => String(component.getFirstPropertyValue(name));
      return {
        uid: event.uid,
        summary: event.summary,
        description: event.description,
        sequence: event.sequence,
        status: textOf('status'),
        start: event.startDate.toJSDate().toISOString(),
        end: event.endDate.toJSDate().toISOString(),
        url: textOf('url'),
      };
    })
    .toSorted((one, other) => one.start.localeCompare(other.start) || one.uid.localeCompare(other.uid));
}
