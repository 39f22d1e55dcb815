import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { christmas, day, event, file, read } from './calendar-texts.ts';
import { SourceUnreadable } from '../../src/plans/source/source-window.ts';

// Files as programs and people really write them, and what their freezes are.

const refusalOf = (input: () => unknown): string => {
  try {
    return `read: ${JSON.stringify(input())}`;
  } catch (error) {
    expect(error).toBeInstanceOf(SourceUnreadable);
    return (error as Error).message;
  }
};

const zoneOfTests = process.env['TZ'];

describe.each([
  ['UTC', 0],
  ['America/New_York', 19],
  ['Pacific/Auckland', 12],
])('files that people met, read by a process in %s', (zone, hour) => {
  beforeAll(() => {
    process.env['TZ'] = zone;
    expect(new Date(0).getHours()).toBe(hour);
  });
  afterAll(() => {
    if (zoneOfTests === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zoneOfTests;
  });
  const folder = join(import.meta.dirname, 'calendars');
  test.each<[string, string[], { titles: string[] }?]>([
    ['tzid-pst', ['2026-12-01T08:00:00Z 2026-12-01T09:00:00Z']],
    [
      'rdate-and-exdate',
      ['2026-12-01T09:00:00Z 2026-12-01T10:00:00Z', '2026-12-06T09:00:00Z 2026-12-06T10:00:00Z'],
    ],
    [
      'rdate-period',
      [
        '2026-12-01T09:00:00Z 2026-12-01T10:00:00Z',
        '2026-12-05T09:00:00Z 2026-12-05T14:00:00Z',
        '2026-12-06T09:00:00Z 2026-12-06T12:00:00Z',
      ],
    ],
    [
      'range-thisandfuture',
      [
        '2026-12-01T09:00:00Z 2026-12-01T10:00:00Z',
        '2026-12-02T09:00:00Z 2026-12-02T10:00:00Z',
        '2026-12-03T14:00:00Z 2026-12-03T16:00:00Z',
        '2026-12-04T14:00:00Z 2026-12-04T16:00:00Z',
      ],
    ],
    ['same-uid-twice', [day('2026-12-24', '2026-12-25'), ...christmas]],
    ['empty-rrule', christmas],
    ['lower-case', christmas],
    [
      'override-whole-day-of-timed-series',
      ['2026-12-01T08:00:00Z 2026-12-01T09:00:00Z', day('2026-12-02', '2026-12-03')],
    ],
    ['dtend-without-zone-west', ['2026-12-01T14:00:00Z 2026-12-01T15:00:00Z']],
    ['exdate-without-zone', ['2026-12-01T14:00:00Z 2026-12-01T15:00:00Z']],
    ['duration-p1d-over-clock-change', ['2027-03-27T11:00:00Z 2027-03-28T10:00:00Z']],
    ['vtimezone-half-hour', ['2026-12-01T03:30:00Z 2026-12-01T04:30:00Z']],
    ['vtimezone-southern', ['2026-12-01T12:00:00Z 2026-12-01T13:00:00Z']],
    ['windows-utc-12', ['2026-11-30T21:00:00Z 2026-11-30T22:00:00Z']],
    [
      'two-rrules',
      ['2026-12-01', '2026-12-08', '2026-12-24'].map((date) => `${date}T09:00:00Z ${date}T10:00:00Z`),
    ],
    ['fold-inside-a-character', christmas, { titles: ['fête'] }],
    ['blank-tzid', ['2026-12-01T09:00:00Z 2026-12-01T10:00:00Z']],
    ['log-lines', ['2026-12-01T09:00:00Z 2026-12-01T10:00:00Z']],
    ['vtimezone-unmatched-dst', ['2026-12-01T02:00:00Z 2026-12-01T03:00:00Z']],
  ])('%s', (name, expected, options) => {
    expect(read(readFileSync(join(folder, `${name}.ics`)), options).windows).toEqual(expected);
  });

  test.each<[string, RegExp]>([
    ['rdate-impossible', /line 9, `RDATE:20261301T090000Z`, there is no such time/],
    ['dtend-unreadable-and-rdate', /line 8, `DTEND:invalid`/],
    ['dtstart-iso', /line 7, `DTSTART:2026-12-24T00:00:00Z`/],
  ])('%s names the line at fault', (name, message) => {
    expect(refusalOf(() => read(readFileSync(join(folder, `${name}.ics`))))).toMatch(message);
  });
});

test('nothing of a calendar is printed', () => {
  const printed = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  );
  for (const name of ['log-lines', 'rdate-impossible', 'vtimezone-unmatched-dst'])
    refusalOf(() => read(readFileSync(join(import.meta.dirname, 'calendars', `${name}.ics`))));
  expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
  vi.restoreAllMocks();
});

describe('what cannot be read makes a calendar unreadable, beside a good event too', () => {
  const good = event('UID:good', 'DTSTART;VALUE=DATE:20261225');
  const start = 'DTSTART:20261201T090000Z';
  test.each<[string, string[], RegExp?]>([
    ['a month that does not exist', ['DTSTART:20261399T090000Z']],
    ['a day that does not exist', ['DTSTART;VALUE=DATE:20260230']],
    ['hour 24', [start, 'DTEND:20261201T240000Z']],
    ['half a time', ['DTSTART:20261201T09']],
    ['an end in words', [start, 'DTEND:tomorrow']],
    ['a length in words', [start, 'DURATION:one hour']],
    ['an exception that does not exist', [start, 'RRULE:FREQ=DAILY', 'EXDATE:20261399T090000Z']],
    ['a period that does not exist', [start, 'RDATE;VALUE=PERIOD:20261205T090000Z/20261399T090000Z']],
    ['a changed occurrence that does not exist', ['RECURRENCE-ID:20261399T090000Z', start]],
    ['a rule without FREQ', [start, 'RRULE:COUNT=2'], /it has no FREQ/],
    ['a rule with a wrong day', [start, 'RRULE:FREQ=WEEKLY;BYDAY=XX']],
    ['a rule with an end that does not exist', [start, 'RRULE:FREQ=DAILY;UNTIL=20261399']],
    ['a rule of another calendar', [start, 'RRULE:RSCALE=CHINESE;FREQ=YEARLY'], /RSCALE/],
    ['no start', ['DTEND:20261201T100000Z'], /it has no DTSTART/],
    ['an empty start', ['DTSTART:', 'DTEND:20261201T100000Z'], /it has no DTSTART/],
    ['two starts', [start, 'DTSTART:20261202T090000Z'], /duplicate DTSTART/],
    ['two times in one start', ['DTSTART:20261201T090000Z,20261202T090000Z'], /more than one time/],
    ['an offset', ['DTSTART:20261201T090000+0100']],
    ['a letter too many', ['DTSTART:20261201T090000T']],
    ...['COUNT=0', 'INTERVAL=0', 'BYMONTHDAY=0', 'BYMONTHDAY=1,0', 'BYDAY=6FR', 'BYSETPOS=0'].map(
      (part): [string, string[], RegExp] => [
        `a rule with ${part}`,
        [start, `RRULE:FREQ=MONTHLY;${part}`],
        new RegExp(`there is no ${part}`),
      ],
    ),
    ['an event in an event', [start, event('UID:inner', start)], /line \d+, `BEGIN:VEVENT`, another VEVENT/],
  ])('%s', (_, lines, message = /line \d+, `/) => {
    expect(refusalOf(() => read(file(good, event('UID:bad', ...lines))))).toMatch(message);
    expect(refusalOf(() => read(file(good, event('UID:bad', ...lines))))).toMatch(
      /^has an event that cannot be read/,
    );
  });

  test('a component that never ends, and one that never began', () => {
    expect(refusalOf(() => read(file('BEGIN:VEVENT')))).toMatch(/never ends/);
    // The event behind it would be part of the alarm.
    const alarm = event('UID:a', start, 'BEGIN:VALARM');
    expect(refusalOf(() => read(file(alarm, good, 'END:VALARM')))).toMatch(/never ends: line \d+$/);
    expect(refusalOf(() => read(file('END:VCALENDAR', 'END:VEVENT', 'BEGIN:VCALENDAR')))).toMatch(
      /nothing has begun/,
    );
  });

  test('but what we do not read may look as it likes', () => {
    const text = file(
      'X-A',
      event('UID:a', 'DTSTART;VALUE=DATE:20261225', 'GEO;;;=', 'a line without a colon'),
    );
    expect(read(text).windows).toEqual(christmas);
  });
});

describe('more than any calendar of freezes needs is refused', () => {
  const timed = ['UID:a', 'DTSTART:20261201T090000Z', 'DURATION:PT1H'];
  const many = (count: number, of: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => of(at));
  const small = (at: number) => event(`UID:${at}`, 'DTSTART;VALUE=DATE:20261225');
  const zone = (at: number) => `BEGIN:VTIMEZONE\r\nTZID:Z${at}\r\nEND:VTIMEZONE`;
  const inZone = (at: number) => event(`UID:${at}`, `DTSTART;TZID=Z${at}:20261225T090000`);
  const dates = (count: number) => Array(count).fill('20261201T090000Z').join(',');
  test.each<[string, () => Buffer, RegExp]>([
    ['hours', () => file(event(...timed, 'RRULE:FREQ=HOURLY')), /too often.*FREQ=HOURLY/],
    ['minutes', () => file(event(...timed, 'RRULE:freq=minutely')), /too often/],
    [
      'two hours of a day',
      () => file(event(...timed, 'RRULE:FREQ=DAILY;BYHOUR=1,2')),
      /too often.*one BYHOUR/,
    ],
    ['two minutes', () => file(event(...timed, 'RRULE:FREQ=DAILY;BYMINUTE=1,2')), /too often.*one BYMINUTE/],
    ['two seconds', () => file(event(...timed, 'RRULE:FREQ=DAILY;BYSECOND=1,2')), /too often.*one BYSECOND/],
    ['events', () => file(...many(5001, small)), /more than 5000 events/],
    ['dates', () => file(event(...timed, `RDATE:${dates(1001)}`)), /more than 1000 dates in one RDATE/],
    [
      'exceptions in lines',
      () => file(event(...timed, ...many(1001, () => `EXDATE:${dates(1)}`))),
      /more than 1000 dates in one EXDATE/,
    ],
    ['zones', () => file(...many(21, zone)), /more than 20 time zones/],
    ['names of zones', () => file(...many(21, inZone)), /more than 20 time zones/],
    [
      'occurrences',
      () => file(...many(14, (at) => event(`UID:${at}`, ...timed.slice(1), 'RRULE:FREQ=DAILY'))),
      /more than 10000 events within two years/,
    ],
  ])('%s', (_, text, message) => {
    expect(refusalOf(() => read(text()))).toMatch(message);
  });

  test('as much as that is not', () => {
    const text = file(...many(20, zone), ...many(4990, small), event(...timed, `EXDATE:${dates(1000)}`));
    expect(read(text).windows).toHaveLength(4990);
  });
});

describe('the letters of a file', () => {
  const title = (text: string) => `BEGIN:VEVENT\nUID:a\nSUMMARY:${text}\nDTSTART:20261225\nEND:VEVENT`;
  const whole = (text: string) => `BEGIN:VCALENDAR\n${title(text)}\nEND:VCALENDAR\n`;
  test.each<[string, Buffer, string | null]>([
    ['UTF-8', Buffer.from(whole('Fête')), null],
    ['UTF-8 with a byte order mark and blanks', Buffer.from(`\uFEFF \r\n\t ${whole('Fête')}`), 'utf-8'],
    ['ISO-8859-1, said', Buffer.from(whole('Fête'), 'latin1'), 'ISO-8859-1'],
    ['ISO-8859-1, not said', Buffer.from(whole('Fête'), 'latin1'), null],
    ['UTF-16 with a byte order mark', Buffer.from(`\uFEFF${whole('Fête')}`, 'utf16le'), null],
    ['KOI8-R', Buffer.from(whole('F\u00C1te'), 'latin1'), '"koi8-r"'],
  ])('%s', (_, bytes, charset) => {
    const name = charset === '"koi8-r"' ? 'fаte' : 'fête';
    expect(read(bytes, { charset, titles: [name] }).windows).toEqual(christmas);
  });
  test('a charset that nobody knows', () => {
    expect(refusalOf(() => read(file(), { charset: 'klingon' }))).toMatch(/charset klingon/);
  });

  test('names of properties, parameters and values are read in any case', () => {
    const text = file(
      event(
        'uid:a',
        'Dtstart;Value=Date:20261220',
        'Rrule:freq=weekly;byday=fr,su;count=2',
        'exdate;value=date:20261220',
      ),
      event('UID:b', 'DTSTART;tzid=europe/paris:20261225t100000', 'duration:pt1h'),
      event('UID:c', 'DTSTART:20261225T100000z', 'DURATION:PT1H', 'status:cancelled'),
    );
    expect(read(text).windows).toEqual([...christmas, '2026-12-25T09:00:00Z 2026-12-25T10:00:00Z']);
  });

  test('rules with blanks, a `;` at the end and the calendar of everybody', () => {
    const rule = 'RRULE:RSCALE=GREGORIAN;SKIP=OMIT;FREQ=WEEKLY;BYDAY=FR, SA;COUNT=2;';
    expect(read(file(event('UID:a', 'DTSTART:20261225', rule))).windows).toEqual([
      ...christmas,
      day('2026-12-26', '2026-12-27'),
    ]);
  });

  test('an empty property is absent', () => {
    const empty = ['RRULE:', 'EXDATE:', 'RDATE:', 'DTEND:', 'DURATION:', 'STATUS:', 'SEQUENCE:'];
    expect(read(file('X-WR-TIMEZONE:', event('UID:', 'DTSTART:20261225', ...empty))).windows).toEqual(
      christmas,
    );
    const two = ['20261224', '20261225'].map((date) => event('UID:', `DTSTART:${date}`));
    expect(read(file(...two)).windows).toHaveLength(2);
  });
});
