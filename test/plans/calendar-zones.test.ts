import { describe, expect, test } from 'vitest';
import { christmas, event, file, read } from './calendar-texts.ts';

describe('times', () => {
  const timed = (zone: string, ...lines: string[]) =>
    event('UID:a', `DTSTART${zone}:20261201T090000`, ...lines);
  const hour = ['2026-12-01T14:00:00Z 2026-12-01T15:00:00Z'];
  test.each<[string, string[]]>([
    ['an end', [timed(';TZID=America/New_York', 'DTEND:20261201T100000')]],
    [
      'an exception',
      [
        timed(
          ';TZID=America/New_York',
          'DURATION:PT1H',
          'RRULE:FREQ=DAILY;COUNT=2',
          'EXDATE:20261202T090000',
        ),
      ],
    ],
    [
      'a date and its exception in UTC',
      [timed(';TZID=America/New_York', 'DURATION:PT1H', 'RDATE:20261203T090000', 'EXDATE:20261203T140000Z')],
    ],
    [
      'an end of a rule',
      [timed(';TZID=America/New_York', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;UNTIL=20261201T090000')],
    ],
    [
      'a changed occurrence',
      [
        timed(';TZID=America/New_York', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=2'),
        event('UID:a', 'RECURRENCE-ID:20261202T090000', 'STATUS:CANCELLED'),
      ],
    ],
  ])('%s without a zone, beside a start with one', (_, events) => {
    expect(read(file(...events)).windows).toEqual(hour);
  });

  test.each<[string, string | null, string, RegExp | null]>([
    ['the plan has', null, '08:00', null],
    ['the plan has, and the file too', 'Europe/Paris', '08:00', null],
    ['the file has', 'America/New_York', '14:00', /in its own, America\/New_York, and not in Europe\/Paris/],
    ['Windows has', 'Tokyo Standard Time', '00:00', /in its own, Tokyo Standard Time/],
    ['nobody knows', 'Middle-earth', '08:00', /Nobody here knows the time zone `Middle-earth`/],
  ])('a time without a zone is in the one that %s', (_, zone, hour, warning) => {
    const head = zone === null ? [] : [`X-WR-TIMEZONE:${zone}`];
    const { windows, warnings } = read(
      file(...head, timed('', 'DURATION:PT30M'), event('UID:b', 'DTSTART:20261225')),
    );
    expect(windows).toEqual([`2026-12-01T${hour}:00Z 2026-12-01T${hour.slice(0, 2)}:30:00Z`, ...christmas]);
    expect(warnings).toEqual(warning ? [expect.stringMatching(warning)] : []);
  });

  test.each<[string, string, RegExp?]>([
    ['America/New_York', '14:00'],
    ['america/new_york', '14:00'],
    ['America/New York', '14:00'],
    ['/freeassociation.sourceforge.net/Asia/Kolkata', '03:30'],
    ['India Standard Time', '03:30'],
    ['UTC-11', '20:00'],
    ['UTC+13', '20:00'],
    ['UTC-02', '11:00'],
    ['UTC+02:00', '07:00'],
    ['UTC-3', '12:00'],
    ['+05:30', '03:30'],
    ['GMT+0530', '03:30'],
    ['GMT-0530', '14:30'],
    ['Z', '09:00'],
    ['tzone://Microsoft/Utc', '09:00'],
    ['Pacific Time (US & Canada)', '17:00'],
    ['(UTC-08:00) Pacific Time (US & Canada)', '17:00'],
    ['(UTC+05:30) Chennai, Kolkata, Mumbai, New Delhi', '03:30'],
    ['(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna', '08:00'],
    ['(UTC) Dublin, Edinburgh, Lisbon, London', '09:00'],
    ['(UTC-05:00) Indiana (East)', '14:00'],
    ['PST', '08:00', /Nobody here knows the time zone `PST`/],
    ['Mars', '08:00', /`Mars` of the calendar. Its times are in Europe\/Paris/],
    ['Kamchatka\u0007\u202E Time', '08:00', /`Kamchatka {3}Time`/],
  ])('the zone %s', (zone, hour, warning) => {
    for (const name of [zone, `"${zone}"`]) {
      const { windows, warnings } = read(file(timed(`;TZID=${name}`, 'DURATION:PT15M')));
      expect(windows.map((each) => each.slice(0, 16))).toEqual([
        `2026-${hour === '20:00' && zone.includes('+') ? '11-30' : '12-01'}T${hour}`,
      ]);
      expect(warnings).toEqual(warning ? [expect.stringMatching(warning)] : []);
    }
  });

  test('what Windows calls a zone keeps summer time', () => {
    const summer = '(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna';
    const text = file(event('UID:a', `DTSTART;TZID="${summer}":20270701T090000`, 'DURATION:PT1H'));
    expect(read(text, { timezone: 'UTC' }).windows).toEqual(['2027-07-01T07:00:00Z 2027-07-01T08:00:00Z']);
  });

  const observance = (kind: string, start: string, from: string, to: string, ...more: string[]) =>
    [
      `BEGIN:${kind}`,
      `DTSTART:${start}`,
      `TZOFFSETFROM:${from}`,
      `TZOFFSETTO:${to}`,
      ...more,
      `END:${kind}`,
    ].join('\r\n');
  const zone = (...inner: string[]) =>
    ['BEGIN:VTIMEZONE', 'TZID:Office', ...inner, 'END:VTIMEZONE'].join('\r\n');
  test.each<[string, string, string, string]>([
    [
      'by dates',
      zone(
        observance('STANDARD', '20200101T000000', '+0100', '+0100'),
        observance('DAYLIGHT', '20261101T020000', '+0100', '+0400', 'RDATE:20261101T020000,20261129T020000'),
      ),
      '05:00',
      '05:00',
    ],
    [
      'of half an hour in the west',
      zone(observance('STANDARD', '16010101T000000', '-0330', '-0330')),
      '12:30',
      '12:30',
    ],
    [
      'whose rule ended long ago',
      zone(
        observance(
          'DAYLIGHT',
          '19800401T020000',
          '+0200',
          '+0300',
          'RRULE:FREQ=YEARLY;BYMONTH=4;UNTIL=19900401T000000Z',
        ),
        observance(
          'STANDARD',
          '19801001T030000',
          '+0300',
          '+0200',
          'RRULE:FREQ=YEARLY;BYMONTH=10;UNTIL=19901001T000000Z',
        ),
      ),
      '07:00',
      '07:00',
    ],
    [
      'of a made-up summer',
      zone(
        observance(
          'STANDARD',
          '16010101T030000',
          '+0500',
          '+0330',
          'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10',
        ),
        observance('DAYLIGHT', '16010101T020000', '+0330', '+0500', 'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3'),
      ),
      '05:30',
      '04:00',
    ],
  ])('a zone %s', (_, rules, winter, summer) => {
    const at = (date: string) => event(`UID:${date}`, `DTSTART;TZID=Office:${date}T090000`, 'DURATION:PT1H');
    const { windows, warnings } = read(file(rules, at('20261201'), at('20270701')));
    expect(windows.map((each) => each.slice(11, 16))).toEqual([winter, summer]);
    expect(warnings).toEqual([]);
  });

  test('a zone whose rules say nothing is the one of the plan, with a warning', () => {
    const { windows, warnings } = read(file(zone(), timed(';TZID=Office', 'DURATION:PT1H')));
    expect(windows).toEqual(['2026-12-01T08:00:00Z 2026-12-01T09:00:00Z']);
    expect(warnings).toEqual([expect.stringMatching(/`Office`/)]);
  });

  const skipping = zone(
    observance('STANDARD', '16010101T030000', '+0200', '+0100', 'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10'),
    observance('DAYLIGHT', '16010101T020000', '+0100', '+0200', 'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3'),
  );
  test.each<[string, string[], string, string]>([
    [
      'Europe/Paris',
      ['20270327T023000', 'DTEND;TZID=Europe/Paris:20270327T043000'],
      '03-28T01:00',
      '03-28T02:30',
    ],
    ['Europe/Paris', ['20270327T023000', 'DURATION:PT2H'], '03-28T01:00', '03-28T02:30'],
    ['Europe/Paris', ['20270327T021500', 'DURATION:PT30M'], '03-28T01:00', '03-28T01:45'],
    ['Office', ['20270327T023000', 'DURATION:PT2H'], '03-28T01:00', '03-28T02:30'],
    ['America/Santiago', ['20270904T000000', 'DURATION:P1D'], '09-05T04:00', '09-06T03:00'],
    ['Africa/Cairo', ['20270429T000000', 'DURATION:PT6H'], '04-29T22:00', '04-30T03:00'],
  ])('an occurrence in the hour that clocks skip begins after it: %s %j', (id, [start, length], from, to) => {
    const lines = [`DTSTART;TZID=${id}:${start}`, length!, 'RRULE:FREQ=DAILY;COUNT=2'];
    const { windows } = read(file(skipping, event('UID:a', ...lines)));
    expect(windows[1]).toBe(`2027-${from}:00Z 2027-${to}:00Z`);
  });

  test('a time that clocks show twice is the first one', () => {
    for (const id of ['Europe/Paris', 'Office']) {
      const lines = [`DTSTART;TZID=${id}:20271031T020000`, `DTEND;TZID=${id}:20271031T023000`];
      expect(read(file(skipping, event('UID:a', ...lines))).windows).toEqual([
        '2027-10-31T00:00:00Z 2027-10-31T00:30:00Z',
      ]);
    }
  });
});
