import { describe, expect, test } from 'vitest';
import { SourceUnreadable } from '../../src/plans/source/source-window.ts';
import { readEvents } from '../../src/plans/source/source-events.ts';

const file = (...lines: string[]): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n');
const event = (...lines: string[]): string =>
  ['BEGIN:VEVENT', 'UID:one', 'SUMMARY:Freeze', ...lines, 'END:VEVENT'].join('\r\n');
const now = new Date('2026-11-01T00:00:00Z');
const read = async (text: string, titles: string[] | null = null, timezone = 'Europe/Paris') =>
  readEvents({ bytes: Buffer.from(text), charset: null, titles, timezone, now });
const windows = async (text: string, titles: string[] | null = null, timezone = 'Europe/Paris') =>
  (await read(text, titles, timezone)).windows.map(({ start, end }) => `${start} ${end}`).toSorted();

describe('the times of an event', () => {
  test.each<[string, string[], string[]]>([
    ['a day', ['DTSTART;VALUE=DATE:20261225'], ['2026-12-25T00:00:00 2026-12-26T00:00:00']],
    ['a day without VALUE', ['DTSTART:20261225'], ['2026-12-25T00:00:00 2026-12-26T00:00:00']],
    [
      'several days, the last one excluded',
      ['DTSTART;VALUE=DATE:20261224', 'DTEND;VALUE=DATE:20270102'],
      ['2026-12-24T00:00:00 2027-01-02T00:00:00'],
    ],
    [
      'days by DURATION',
      ['DTSTART;VALUE=DATE:20261224', 'DURATION:P2D'],
      ['2026-12-24T00:00:00 2026-12-26T00:00:00'],
    ],
    [
      'UTC',
      ['DTSTART:20261224T170000Z', 'DTEND:20261224T180000Z'],
      ['2026-12-24T17:00:00Z 2026-12-24T18:00:00Z'],
    ],
    [
      'DURATION',
      ['DTSTART:20261224T170000Z', 'DURATION:PT1H30M'],
      ['2026-12-24T17:00:00Z 2026-12-24T18:30:00Z'],
    ],
    [
      'no zone: that of the plan',
      ['DTSTART:20261224T170000', 'DTEND:20261224T180000'],
      ['2026-12-24T16:00:00Z 2026-12-24T17:00:00Z'],
    ],
    ['no time at all', ['DTSTART:20261224T170000Z'], []],
    [
      'an unknown zone: that of the plan',
      ['DTSTART;TZID=Mars:20261224T170000', 'DURATION:PT1H'],
      ['2026-12-24T16:00:00Z 2026-12-24T17:00:00Z'],
    ],
    ['long over', ['DTSTART:20260901T170000Z', 'DURATION:PT1H'], []],
    [
      'begun long ago, and still on',
      ['DTSTART:20260101T170000Z', 'DTEND:20270101T000000Z'],
      ['2026-01-01T17:00:00Z 2027-01-01T00:00:00Z'],
    ],
    ['too far ahead', ['DTSTART:20291224T170000Z', 'DURATION:PT1H'], []],
  ])('%s', async (_, lines, expected) => {
    expect(await windows(file(event(...lines)))).toEqual(expected);
  });

  test.each([
    ['DTSTART:20261224T170000Z', 'DTEND:20261224T160000Z'],
    ['DTSTART:20261224T170000Z', 'DURATION:-PT1H'],
    ['DTSTART;VALUE=DATE:20261224', 'DTEND;VALUE=DATE:20261220'],
  ])('an end before the start is told: %s %s', (...lines) => {
    const other = event(...lines)
      .replace('SUMMARY:Freeze', 'SUMMARY:Lunch')
      .replace('UID:one', 'UID:two');
    const bytes = Buffer.from(file(event(...lines), other));
    const { windows, warnings } = readEvents({
      bytes,
      charset: null,
      titles: ['Freeze'],
      timezone: 'UTC',
      now,
    });
    expect(windows).toEqual([]);
    expect(warnings).toEqual([
      'The calendar has events that end before they begin, so they are no freezes: `Freeze`.',
    ]);
  });

  test.each([
    ['SUMMARY;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Gel d=27=C3=A9t=C3=A9', "Gel d'été"],
    ['SUMMARY;ENCODING=QUOTED-PRINTABLE:Gel =\r\nd=27=\r\n=C3=A9t=C3=A9', "Gel d'été"],
    ['SUMMARY;charset=iso-8859-1;encoding=quoted-printable:=E9t=e9', 'été'],
    ['SUMMARY:100=25 frozen', '100=25 frozen'],
  ])('%j is called %s', (summary, title) => {
    const bytes = Buffer.from(file(event('DTSTART;VALUE=DATE:20261224').replace('SUMMARY:Freeze', summary)));
    const { names } = readEvents({ bytes, charset: null, titles: [title], timezone: 'UTC', now });
    expect([...names.values()]).toEqual([title]);
  });

  test.each([
    'America/New_York',
    'Eastern Standard Time',
    '"Eastern Standard Time"',
    '"(UTC-05:00) Eastern Time (US & Canada)"',
    '/freeassociation.sourceforge.net/America/New_York',
    'GMT-0500',
  ])('the zone %s', async (zone) => {
    const lines = [`DTSTART;TZID=${zone}:20261224T120000`, `DTEND;TZID=${zone}:20261224T130000`];
    expect(await windows(file(event(...lines)))).toEqual(['2026-12-24T17:00:00Z 2026-12-24T18:00:00Z']);
  });

  test('the zone tzone://Microsoft/Utc, without quotes', async () => {
    const lines = ['DTSTART;TZID=tzone://Microsoft/Utc:20261224T120000', 'DURATION:PT1H'];
    expect(await windows(file(event(...lines)))).toEqual(['2026-12-24T12:00:00Z 2026-12-24T13:00:00Z']);
  });

  const rules = (id: string) => [
    'BEGIN:VTIMEZONE',
    `TZID:${id}`,
    ...['BEGIN:STANDARD', 'DTSTART:16010101T020000', 'TZOFFSETFROM:-0400', 'TZOFFSETTO:-0500'],
    ...['RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11', 'END:STANDARD'],
    ...['BEGIN:DAYLIGHT', 'DTSTART:16010101T020000', 'TZOFFSETFROM:-0500', 'TZOFFSETTO:-0400'],
    ...['RRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3', 'END:DAYLIGHT', 'END:VTIMEZONE'],
  ];
  test.each(['tzone://Microsoft/Custom', 'Customized Time Zone', 'Headquarters'])(
    'a zone with rules of its own, %s, over a change of clocks',
    async (id) => {
      const lines = [
        `DTSTART;TZID="${id}":20261212T120000`,
        'DURATION:PT1H',
        'RRULE:FREQ=MONTHLY;INTERVAL=6;COUNT=2',
      ];
      expect(await windows(file(...rules(id), event(...lines)))).toEqual([
        '2026-12-12T17:00:00Z 2026-12-12T18:00:00Z',
        '2027-06-12T16:00:00Z 2027-06-12T17:00:00Z',
      ]);
    },
  );

  test('an event without a zone does not take that of another event', async () => {
    const text = file(...rules('Headquarters'), event('DTSTART:20261224T120000', 'DURATION:PT1H'));
    expect(await windows(text, null, 'Asia/Tokyo')).toEqual(['2026-12-24T03:00:00Z 2026-12-24T04:00:00Z']);
  });
});

describe('recurring events', () => {
  const weekly = (...lines: string[]) =>
    event('DTSTART;TZID=Europe/Paris:20261016T180000', 'DTEND;TZID=Europe/Paris:20261016T200000', ...lines);
  const starts = async (text: string) => (await windows(text)).map((each) => each.slice(0, 20));

  test('keep their wall-clock time when clocks change', async () => {
    expect(await starts(file(weekly('RRULE:FREQ=WEEKLY;COUNT=4')))).toEqual([
      '2026-10-16T16:00:00Z',
      '2026-10-23T16:00:00Z',
      '2026-10-30T17:00:00Z',
      '2026-11-06T17:00:00Z',
    ]);
  });

  test('without EXDATE, with RDATE, and with what was moved, renamed or cancelled', async () => {
    const changed = (id: string, ...lines: string[]) =>
      [
        'BEGIN:VEVENT',
        'UID:one',
        `RECURRENCE-ID;TZID=Europe/Paris:${id}T180000`,
        ...lines,
        'END:VEVENT',
      ].join('\r\n');
    const text = file(
      weekly(
        'RRULE:FREQ=WEEKLY;UNTIL=20261127T235959Z',
        'EXDATE;TZID=Europe/Paris:20261030T180000,20261106T180000',
        'RDATE;TZID=Europe/Paris:20261202T090000',
      ),
      changed('20261113', 'SUMMARY:Freeze', 'DTSTART;TZID=Europe/Paris:20261114T100000', 'DURATION:PT1H'),
      changed(
        '20261120',
        'SUMMARY:Freeze',
        'STATUS:CANCELLED',
        'DTSTART;TZID=Europe/Paris:20261120T180000',
        'DURATION:PT1H',
      ),
      changed('20261127', 'SUMMARY:Party', 'DTSTART;TZID=Europe/Paris:20261127T180000', 'DURATION:PT1H'),
    );
    expect(await windows(text, ['freeze'])).toEqual([
      '2026-10-16T16:00:00Z 2026-10-16T18:00:00Z',
      '2026-10-23T16:00:00Z 2026-10-23T18:00:00Z',
      '2026-11-14T09:00:00Z 2026-11-14T10:00:00Z',
      '2026-12-02T08:00:00Z 2026-12-02T10:00:00Z',
    ]);
  });

  test('of whole days', async () => {
    const text = file(
      event('DTSTART;VALUE=DATE:20201225', 'RRULE:FREQ=YEARLY', 'EXDATE;VALUE=DATE:20271225'),
    );
    expect(await windows(text)).toEqual(['2026-12-25T00:00:00 2026-12-26T00:00:00']);
  });

  test('only changed ones, without the event that they belong to', async () => {
    const moved = (id: string) =>
      [
        'BEGIN:VEVENT',
        'UID:one',
        'SUMMARY:Freeze',
        `RECURRENCE-ID:${id}T180000Z`,
        `DTSTART:${id}T190000Z`,
        'DURATION:PT1H',
        'END:VEVENT',
      ].join('\r\n');
    expect(await windows(file(moved('20261203'), moved('20261210')))).toEqual([
      '2026-12-03T19:00:00Z 2026-12-03T20:00:00Z',
      '2026-12-10T19:00:00Z 2026-12-10T20:00:00Z',
    ]);
  });

  test('are the same events when one is moved and another is added', async () => {
    const keys = async (text: string) => (await read(text)).windows.map(({ key }) => key);
    const before = await keys(file(weekly('RRULE:FREQ=WEEKLY;COUNT=3')));
    const moved =
      'BEGIN:VEVENT\r\nUID:one\r\nSUMMARY:x\r\nRECURRENCE-ID:20261023T160000Z\r\nDTSTART:20261109T160000Z\r\nDURATION:PT1H\r\nEND:VEVENT';
    const after = await keys(file(weekly('RRULE:FREQ=WEEKLY;COUNT=4'), moved));
    expect(new Set(before).size).toBe(3);
    expect(before.filter((key) => !after.includes(key))).toEqual([]);
    const single = (...lines: string[]) => file(event('DURATION:PT1H', ...lines));
    expect(await keys(single('DTSTART:20261224T170000Z'))).toEqual(
      await keys(single('DTSTART:20261231T180000Z')),
    );
  });
});

describe('titles', () => {
  const text = file(
    ...['Code FREEZE 1', 'Release; day, 2', 'Lunch'].map((title, index) =>
      event(`DTSTART:2026120${index + 1}T100000Z`, 'DURATION:PT1H')
        .replace('UID:one', `UID:${index}`)
        .replace('SUMMARY:Freeze', `SUMMARY;LANGUAGE=en:${title.replace(/[;,]/g, String.raw`\$&`)}`),
    ),
  );
  test.each<[string[] | null, number[]]>([
    [null, [1, 2, 3]],
    [['*freeze*'], [1]],
    [['freeze'], []],
    [
      ['release; day, ?', 'LUNCH'],
      [2, 3],
    ],
    [['{code*,lunch}'], [1, 3]],
  ])('%j', async (titles, days) => {
    expect((await windows(text, titles)).map((each) => Number(each.slice(8, 10)))).toEqual(days);
  });
  test('those that no event has are named', async () => {
    expect((await read(text, ['*freeze*', '*freze*'])).matchNothing).toEqual(['*freze*']);
  });
});

test('cancelled events are none, tasks and reminders neither', async () => {
  const cancelled = event('DTSTART:20261224T170000Z', 'DURATION:PT1H', 'STATUS:CANCELLED');
  const reminder = ['BEGIN:VALARM', 'TRIGGER:-PT5M', 'DURATION:PT9H', 'SUMMARY:No', 'END:VALARM'];
  const task = [
    'BEGIN:VTODO',
    'UID:two',
    'SUMMARY:Freeze',
    'DTSTART:20261224T170000Z',
    'DUE:20261225T170000Z',
    'END:VTODO',
  ];
  const text = file(
    cancelled,
    ...task,
    event('DTSTART:20261226T170000Z', 'DURATION:PT1H', ...reminder).replace('one', 'three'),
  );
  expect(await windows(text)).toEqual(['2026-12-26T17:00:00Z 2026-12-26T18:00:00Z']);
  expect(await windows(file('METHOD:CANCEL', event('DTSTART:20261226T170000Z', 'DURATION:PT1H')))).toEqual(
    [],
  );
});

test('long lines, other line breaks and a byte order mark are read', async () => {
  const folded = `\uFEFF${file(event('DTSTART;TZID=Europe\r\n /Paris:20261224T1\r\n\t80000', 'DURATION:PT1H'))}`;
  for (const text of [folded, folded.replaceAll('\r\n', '\n')])
    expect(await windows(text)).toEqual(['2026-12-24T17:00:00Z 2026-12-24T18:00:00Z']);
});

describe('what is no calendar', () => {
  const whole = file(event('DTSTART:20261224T170000Z', 'DURATION:PT1H'));
  const daily = 'RRULE:FREQ=DAILY';
  const many = Array.from({ length: 15 }, (_, at) =>
    event('DTSTART:20261224T170000Z', 'DURATION:PT1H', daily).replace('one', `n${at}`),
  );
  test.each<[string, string, RegExp]>([
    ['nothing', '', /not an iCalendar file/],
    ['a page', '<html>Sign in</html>', /not an iCalendar file/],
    ['a part of a file', whole.slice(0, -20), /not an iCalendar file/],
    [
      'an event with two starts',
      whole.replace('DURATION:PT1H', 'DTSTART:20261224T180000Z'),
      /duplicate DTSTART/,
    ],
    [
      'a rule without sense',
      file(event('DTSTART:20261224T170000Z', 'DURATION:PT1H', 'RRULE:FREQ=NEVER')),
      /cannot be read|repeats/,
    ],
    [
      'a rule for each second',
      file(event('DTSTART:20261224T170000Z', 'DURATION:PT1H', 'RRULE:FREQ=SECONDLY')),
      /too often/,
    ],
    ['too many events', file(...many), /more than 10000 events/],
  ])('%s', async (_, text, message) => {
    const refused = await read(text).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SourceUnreadable);
    expect((refused as Error).message).toMatch(message);
  });

  test('what no title matches, costs nothing', async () => {
    expect(await windows(file(event('DTSTART:20261224T170000Z', 'RRULE:FREQ=SECONDLY')), ['other'])).toEqual(
      [],
    );
  });
});
