import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FeedEvent } from '../../src/calendars/load-events.ts';
import { writeCalendar } from '../../src/calendars/write-calendar.ts';
import { readEvents } from '../../src/plans/source/source-events.ts';
import { isWhole } from '../support/amounts.ts';

// Calendars, as this service and as another program read them. Without Debian's python3-icalendar and
// python3-recurring-ical-events it is skipped; CI installs them, and skips nothing.

const python = '/usr/bin/python3';
const has = isWhole || spawnSync(python, ['-c', 'import icalendar, recurring_ical_events']).status === 0;
const day = 86_400_000;

const weekday = fc.constantFrom('MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU');
const some = <Item>(item: fc.Arbitrary<Item>, maxLength = 3) =>
  fc.uniqueArray(item, { minLength: 1, maxLength }).map((items) => items.join(','));
const part = (name: string, value: fc.Arbitrary<unknown>) =>
  fc.option(value.map((each) => `${name}=${String(each)}`));
const rule = fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY').chain((frequency) => {
  const isLong = frequency === 'MONTHLY' || frequency === 'YEARLY';
  const nth = fc.tuple(fc.constantFrom(1, 2, -1), weekday).map(([n, each]) => `${n}${each}`);
  return fc
    .tuple(
      part('INTERVAL', fc.integer({ min: 1, max: 3 })),
      part('BYDAY', some(isLong ? nth : weekday)),
      isLong ? part('BYMONTHDAY', some(fc.integer({ min: 1, max: 28 }))) : fc.constant(null),
      part('BYMONTH', some(fc.integer({ min: 1, max: 12 }))),
      part('WKST', weekday),
      fc.oneof(
        part('COUNT', fc.integer({ min: 1, max: 20 })),
        fc
          .integer({ min: 0, max: 150 })
          .map((days) => `UNTIL=${compact(Date.parse('2027-05-01') + days * day)}T235959Z`),
      ),
    )
    .map((parts) => [`RRULE:FREQ=${frequency}`, ...parts.filter((each) => each !== null)].join(';'));
});

const compact = (at: number) => new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
const event = (...lines: string[]) => ['BEGIN:VEVENT', 'UID:a', 'SUMMARY:Freeze', ...lines, 'END:VEVENT'];

/** An hour at which no clock changes, so that other ways with such hours do not count. */
const hour = fc.integer({ min: 5, max: 20 });
const calendar = fc
  .record({
    zone: fc.constantFrom(
      'Europe/Paris',
      'America/New_York',
      'Asia/Kolkata',
      'Australia/Sydney',
      'UTC',
      null,
    ),
    date: fc.integer({ min: 0, max: 200 }).map((days) => Date.parse('2026-10-01') + days * day),
    hour,
    length: fc.integer({ min: 1, max: 3 }),
    rule: fc.option(rule, { freq: 5 }),
    exceptions: fc.uniqueArray(fc.integer({ min: 0, max: 8 }), { maxLength: 3 }),
    more: fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 2 }),
    moved: fc.option(
      fc.record({ week: fc.integer({ min: 0, max: 8 }), hour, days: fc.integer({ min: 0, max: 3 }) }),
    ),
  })
  .map(({ zone, date, hour, length, rule, exceptions, more, moved }) => {
    // Without a zone it is of whole days.
    const time = (at: number, of = hour) =>
      zone === null
        ? compact(at)
        : `${compact(at)}T${String(of).padStart(2, '0')}0000${zone === 'UTC' ? 'Z' : ''}`;
    const as = zone === null ? ';VALUE=DATE' : zone === 'UTC' ? '' : `;TZID=${zone}`;
    const end = (at: number, of = hour) => (zone === null ? time(at + length * day) : time(at, of + length));
    const weeks = (count: number) => time(date + count * 7 * day);
    const isLasting = rule?.includes('UNTIL') && zone === null ? rule.replace(/T235959Z/, '') : rule;
    return [
      ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Holdfast//Test//EN'],
      ...event(
        `DTSTART${as}:${time(date)}`,
        `DTEND${as}:${end(date)}`,
        ...(isLasting ? [isLasting] : []),
        ...(rule && exceptions.length > 0 ? [`EXDATE${as}:${exceptions.map(weeks).join(',')}`] : []),
        ...(rule && more.length > 0
          ? [`RDATE${as}:${more.map((days) => time(date + days * day)).join(',')}`]
          : []),
      ),
      ...(rule && moved
        ? event(
            `RECURRENCE-ID${as}:${weeks(moved.week)}`,
            `DTSTART${as}:${time(date + (moved.week * 7 + moved.days) * day, moved.hour)}`,
            `DTEND${as}:${end(date + (moved.week * 7 + moved.days) * day, moved.hour)}`,
          )
        : []),
      ...['END:VCALENDAR', ''],
    ].join('\r\n');
  });

/** @param more `titles`: with the titles of events. */
function readByOthers(texts: string[], ...more: 'titles'[]): string[][] {
  const script = join(import.meta.dirname, 'read-calendars.py');
  const { stdout, stderr } = spawnSync(python, [script, ...more], {
    input: JSON.stringify(texts),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as string[][];
}

/** Reasons as people write them, and as nobody should. */
const reason = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
  fc.constantFrom(
    'Release, all; of it: 50% \\n',
    '🎉'.repeat(200),
    'Zeile eins\r\nZeile zwei',
    '\tTab "quoted"',
  ),
);
const freezes = fc.array(
  fc.record({
    startsAt: fc.date({ min: new Date('2026-11-02'), max: new Date('2027-09-01'), noInvalidDate: true }),
    hours: fc.integer({ min: 1, max: 2000 }),
    reason,
    timezone: fc.constantFrom('Europe/Paris', 'America/St_Johns', 'UTC'),
  }),
  { minLength: 1, maxLength: 5 },
);

describe.skipIf(!has)('another program reads our own feed', () => {
  test('in 100 calendars with texts of every kind', () => {
    const now = new Date('2026-11-01T00:00:00Z');
    const second = (at: number) => new Date(Math.floor(at / 1000) * 1000);
    const samples = fc.sample(freezes, { numRuns: 100, seed: 45 }).map((some) =>
      some.map(({ startsAt, hours, reason, timezone }, index): FeedEvent => {
        const start = second(startsAt.getTime());
        return {
          ...{ uid: String(index), sequence: 0, changedAt: now, isCancelled: false, startsAt: start },
          ...{ endsAt: new Date(start.getTime() + hours * 3_600_000), endsDiffer: false, timezone, reason },
          holding: { holds: ['merges'] },
          ...{ repositories: 1, names: ['web'], plan: null, createdBy: null, path: '/repos/acme/web' },
        };
      }),
    );
    const feeds = samples.map((events) =>
      writeCalendar(events, { login: 'acme', publicUrl: 'https://holdfast.example', now }),
    );
    const written = (at: Date) => at.toISOString().replace('.000Z', 'Z');
    const ours = samples.map((events) =>
      events.map(({ startsAt, endsAt }) => `${written(startsAt)} ${written(endsAt!)}`).toSorted(),
    );
    const theirs = readByOthers(feeds, 'titles');
    expect(theirs.map((windows) => windows.map((each) => each.split(' ', 2).join(' ')).toSorted())).toEqual(
      ours,
    );
    for (const title of theirs.flat()) expect(title).toMatch(/^\S+ \S+ Freeze of web: /);
  });
});

/** The given calendars that the other program reads otherwise: who is right, and why. */
const readOtherwise: Record<string, string> = {
  'dtend-unreadable-and-rdate': 'We refuse what has an unreadable end. It takes the event for a moment.',
  'duration-p1d-over-clock-change':
    'We are right: a day of a duration ends at the same hour (RFC 5545, 3.3.6). It adds 24 hours.',
  'fold-inside-a-character': 'We are right: a whole day without an end lasts that day (RFC 5545, 3.6.1).',
  'log-lines': 'We are right: of one UID, the highest SEQUENCE counts (RFC 5545, 3.8.7.4).',
  'lower-case': 'We are right: a whole day without an end lasts that day (RFC 5545, 3.6.1).',
  'range-thisandfuture': 'We are right: RANGE moves all that follow (RFC 5545, 3.2.13). It knows no RANGE.',
  'rdate-period': 'We are right: RDATE can have periods (RFC 5545, 3.8.5.2). It fails.',
  'same-uid-twice': 'We are right: a whole day without an end lasts that day (RFC 5545, 3.6.1).',
  'two-rrules': 'RFC 5545 advises against two rules, and forbids none. We read both, it refuses them.',
};

describe.skipIf(!has)('another program reads the same', () => {
  const texts = fc.sample(calendar, { numRuns: 200, seed: 34 });
  const isInYear = (window: string) => window >= '2026-11-15' && window < '2027-10-01';
  const read = (text: string) =>
    readEvents({
      bytes: Buffer.from(text),
      charset: null,
      titles: null,
      timezone: 'UTC',
      now: new Date('2026-11-15T00:00:00Z'),
    })
      .windows.map(({ start, end }) => `${start} ${end}`)
      .filter(isInYear)
      .toSorted();

  test('in the calendars of the world that nobody reads otherwise', () => {
    const folder = join(import.meta.dirname, '../plans/calendars');
    const names = readdirSync(folder).map((file) => file.replace('.ics', ''));
    expect(names).toEqual(expect.arrayContaining(Object.keys(readOtherwise)));
    const given = names.map((name) => readFileSync(join(folder, `${name}.ics`), 'utf8'));
    const orRefused = (windows: () => string[]) => {
      try {
        return windows();
      } catch {
        return ['refused'];
      }
    };
    const theirs = readByOthers(given).map((windows) =>
      windows[0]?.startsWith('refused') ? ['refused'] : windows.filter(isInYear),
    );
    const all = names.map((name, at) => ({
      name,
      ours: orRefused(() => read(given[at]!)),
      theirs: theirs[at]!,
    }));
    const others = all.filter(({ ours, theirs }) => ours.join() !== theirs.join());
    expect(others.filter(({ name }) => !(name in readOtherwise))).toEqual([]);
    expect(
      all.filter(({ ours, theirs }) => ours[0] !== 'refused' && ours.join() === theirs.join()),
    ).not.toEqual([]);
  });

  test('in 200 generated calendars', () => {
    const theirs = readByOthers(texts).map((windows) => windows.filter(isInYear));
    const both = texts.map((text, at) => ({ text, ours: read(text), theirs: theirs[at]! }));
    expect(both.filter(({ ours, theirs }) => ours.join() !== theirs.join())).toEqual([]);
    expect(theirs.flat().length).toBeGreaterThan(1000);
  });
});
