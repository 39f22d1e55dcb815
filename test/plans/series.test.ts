import { describe, expect, test } from 'vitest';
import { readEvents } from '../../src/plans/source/source-events.ts';
import { day, event, file, now, read } from './calendar-texts.ts';

describe('one UID', () => {
  const on = (date: string, ...more: string[]) => event('UID:a', `DTSTART:202612${date}`, ...more);
  const days = (...dates: number[]) => dates.map((date) => day(`2026-12-${date}`, `2026-12-${date + 1}`));
  test.each<[string, string[], string[]]>([
    ['twice', [on('24'), on('25')], days(24, 25)],
    ['three times', [on('24'), on('25'), on('26')], days(24, 25, 26)],
    ['twice on one day', [on('24'), on('24')], days(24)],
    ['a newer version', [on('24', 'SEQUENCE:1'), on('25', 'SEQUENCE:2')], days(25)],
    ['a newer version first', [on('24', 'SEQUENCE:2'), on('25')], days(24)],
    ['two of the newer version', [on('24'), on('25', 'SEQUENCE:1'), on('26', 'SEQUENCE:1')], days(25, 26)],
    ['a SEQUENCE below 0', [on('24', 'SEQUENCE:-1'), on('25', 'SEQUENCE:-1')], days(24, 25)],
    ['a SEQUENCE that is no number', [on('24', 'SEQUENCE:new'), on('25')], days(24, 25)],
    [
      'the same start and another end',
      [on('24'), on('24', 'DTEND:20261226')],
      [...days(24), day('2026-12-24', '2026-12-26')],
    ],
    [
      'the same clock of two zones',
      ['Asia/Tokyo', 'America/New_York'].map((zone) =>
        event('UID:a', `DTSTART;TZID=${zone}:20261201T090000`, 'DURATION:PT1H'),
      ),
      ['2026-12-01T00:00:00Z 2026-12-01T01:00:00Z', '2026-12-01T14:00:00Z 2026-12-01T15:00:00Z'],
    ],
    [
      'a change of the second one',
      [
        on('01', 'RRULE:FREQ=DAILY;COUNT=2'),
        on('10', 'RRULE:FREQ=DAILY;COUNT=2'),
        on('20', 'RECURRENCE-ID:20261211'),
        on('21', 'RECURRENCE-ID:20261202'),
      ],
      [day('2026-12-01', '2026-12-02'), ...days(10, 20, 21)],
    ],
    ['the same SEQUENCE', [on('24', 'SEQUENCE:1'), on('25', 'SEQUENCE:1')], days(24, 25)],
  ])('%s', (_, events, expected) => {
    expect(read(file(...events)).windows).toEqual(expected);
  });

  test('the first one stays the same event when a second one comes', () => {
    const keys = (...events: string[]) =>
      readEvents({ bytes: file(...events), charset: null, titles: null, timezone: 'UTC', now }).windows.map(
        ({ key }) => key,
      );
    const [first, second] = keys(on('24'), on('25'));
    expect(keys(on('24'))).toEqual([first]);
    expect(keys(on('24'), on('26'), on('25'))).toEqual([first, expect.anything(), second]);
    expect(new Set(keys(on('24'), on('25'), on('26'))).size).toBe(3);
    expect(keys(on('24'), on('24', 'DTEND:20261226'))[0]).toBe(first);
    expect(new Set(keys(on('24'), on('25'), on('25', 'DTEND:20261227'))).size).toBe(3);
  });
});

describe('an event without a rule', () => {
  const paris = ';TZID=Europe/Paris';
  test.each<[string, string[], string[]]>([
    [
      'its only date taken back',
      ['DTSTART:20261201T090000Z', 'DURATION:PT1H', 'EXDATE:20261201T090000Z'],
      [],
    ],
    ['an end at its start', ['DTSTART:20261201T090000Z', 'DTEND:20261201T090000Z'], []],
    [
      'a whole day with an end at its start',
      ['DTSTART;VALUE=DATE:20261224', 'DTEND;VALUE=DATE:20261224'],
      [day('2026-12-24', '2026-12-25')],
    ],
    [
      'a weekend on which clocks go back',
      [`DTSTART${paris}:20271029T180000`, `DTEND${paris}:20271101T080000`],
      ['2027-10-29T16:00:00Z 2027-11-01T07:00:00Z'],
    ],
  ])('%s', (_, lines, expected) => {
    expect(read(file(event('UID:a', ...lines))).windows).toEqual(expected);
  });
});

describe('what changes an event', () => {
  const series = (...more: string[]) =>
    event('UID:a', 'DTSTART:20261201T090000Z', 'DTEND:20261201T100000Z', 'RRULE:FREQ=DAILY;COUNT=4', ...more);
  const at = (date: string, from = '09:00', to = '10:00') =>
    `2026-12-${date}T${from}:00Z 2026-12-${date}T${to}:00Z`;
  const change = (id: string, ...lines: string[]) => event('UID:a', `RECURRENCE-ID${id}`, ...lines);
  const later = ['DTSTART:20261203T140000Z', 'DURATION:PT2H'];
  test.each<[string, string[], string[]]>([
    ['its own exception', [series('EXDATE:20261202T090000Z')], [at('01'), at('03'), at('04')]],
    ['an exception by day', [series('EXDATE;VALUE=DATE:20261202')], [at('01'), at('03'), at('04')]],
    ['an exception by rule', [series('EXRULE:FREQ=WEEKLY;BYDAY=WE')], [at('01'), at('03'), at('04')]],
    [
      'more dates, one of them again, one by day',
      [series('RDATE:20261202T090000Z', 'RDATE;VALUE=DATE:20261207')],
      [at('01'), at('02'), at('03'), at('04'), at('07')],
    ],
    [
      'a date that is taken back by a cancelled one',
      [
        series('RDATE:20261207T090000Z'),
        change(':20261207T090000Z', 'STATUS:CANCELLED', 'DTSTART:20261207T090000Z', 'DURATION:PT1H'),
      ],
      [at('01'), at('02'), at('03'), at('04')],
    ],
    [
      'all from one on',
      [series(), change(';RANGE="THISANDFUTURE":20261203T090000Z', ...later)],
      [at('01'), at('02'), at('03', '14:00', '16:00'), at('04', '14:00', '16:00')],
    ],
    [
      'all from one on, and one of those',
      [
        series(),
        change(';RANGE=THISANDFUTURE:20261202T090000Z', 'DTSTART:20261202T140000Z', 'DURATION:PT2H'),
        change(':20261203T090000Z', 'DTSTART:20261203T200000Z', 'DURATION:PT1H'),
      ],
      [at('01'), at('02', '14:00', '16:00'), at('03', '20:00', '21:00'), at('04', '14:00', '16:00')],
    ],
    [
      'all from one on are cancelled',
      [series(), change(';range=thisandfuture:20261203T090000Z', 'STATUS:CANCELLED')],
      [at('01'), at('02')],
    ],
    [
      'all from one on, twice',
      [
        series(),
        change(';RANGE=THISANDFUTURE:20261202T090000Z', 'DTSTART:20261202T140000Z', 'DURATION:PT2H'),
        change(';RANGE=THISANDFUTURE:20261204T090000Z', 'DTSTART:20261204T060000Z', 'DURATION:PT1H'),
      ],
      [at('01'), at('02', '14:00', '16:00'), at('03', '14:00', '16:00'), at('04', '06:00', '07:00')],
    ],
    [
      'one that the rule does not yield',
      [series(), change(':20261212T090000Z', 'DTSTART:20261212T100000Z', 'DURATION:PT1H')],
      [at('01'), at('02'), at('03'), at('04'), at('12', '10:00', '11:00')],
    ],
    [
      'two versions of one change',
      [
        series(),
        change(':20261202T090000Z', 'SEQUENCE:2', 'DTSTART:20261202T150000Z', 'DURATION:PT1H'),
        change(':20261202T090000Z', 'SEQUENCE:1', 'DTSTART:20261202T170000Z', 'DURATION:PT1H'),
      ],
      [at('01'), at('02', '15:00', '16:00'), at('03'), at('04')],
    ],
    [
      'one by its day',
      [series(), change(';VALUE=DATE:20261202', 'DTSTART:20261202T150000Z', 'DURATION:PT1H')],
      [at('01'), at('02', '15:00', '16:00'), at('03'), at('04')],
    ],
    [
      'one that becomes a whole day, in the zone of the plan',
      [series(), change(':20261202T090000Z', 'DTSTART;VALUE=DATE:20261202')],
      [at('01'), day('2026-12-02', '2026-12-03'), at('03'), at('04')],
    ],
    [
      'one of whole days that becomes some hours',
      [
        event('UID:a', 'DTSTART:20261201', 'RRULE:FREQ=DAILY;COUNT=2'),
        change(';VALUE=DATE:20261202', 'DTSTART:20261202T080000Z', 'DTEND:20261202T090000Z'),
      ],
      [day('2026-12-01', '2026-12-02'), at('02', '08:00', '09:00')],
    ],
    [
      'a start that its rule does not yield',
      [event('UID:a', 'DTSTART:20261201T090000Z', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY;BYDAY=FR;COUNT=2')],
      [at('01'), at('04'), at('11')],
    ],
    [
      'an hour of its rule',
      [event('UID:a', 'DTSTART:20261201T090000Z', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;BYHOUR=12;COUNT=2')],
      [at('01'), at('01', '12:00', '13:00'), at('02', '12:00', '13:00')],
    ],
    [
      'a day and a time in one event',
      [
        event('UID:a', 'DTSTART;VALUE=DATE:20261201', 'DTEND:20261201T080000Z'),
        event('UID:b', 'DTSTART:20261203T090000Z', 'DTEND;VALUE=DATE:20261204'),
      ],
      ['2026-11-30T23:00:00Z 2026-12-01T08:00:00Z', '2026-12-03T09:00:00Z 2026-12-03T23:00:00Z'],
    ],
    [
      'a week of its own, and days and weeks of a year',
      [
        event(
          'UID:a',
          'DTSTART:20261201T090000Z',
          'DURATION:PT1H',
          'RRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=TU,SU;COUNT=3',
        ),
        event(
          'UID:b',
          'DTSTART:20251231T090000Z',
          'DURATION:PT1H',
          'RRULE:FREQ=YEARLY;BYYEARDAY=-9;UNTIL=20270101T000000Z',
        ),
        event(
          'UID:c',
          'DTSTART:20251231T090000Z',
          'DURATION:PT1H',
          'RRULE:FREQ=YEARLY;BYWEEKNO=52;BYDAY=MO;UNTIL=20270101T000000Z',
        ),
      ],
      [at('01'), at('13'), at('15'), at('21'), at('23')],
    ],
  ])('%s', (_, events, expected) => {
    expect(read(file(...events)).windows).toEqual(expected.toSorted());
  });
});
