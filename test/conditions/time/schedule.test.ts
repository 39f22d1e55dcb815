import { describe, expect, test } from 'vitest';
import { parseSchedule } from '../../../src/conditions/time/schedule.ts';
import { changesFrom, refusalOf } from './asking-clocks.ts';

const holds = (text: string, instant: string) => parseSchedule(text).holds(Date.parse(instant));

// 2026-03-02 was a Monday.
const week = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const daysOf = (text: string) =>
  week.filter((_, index) => holds(text, `2026-03-0${2 + index}T12:00:00Z`)).join(' ');

describe('days', () => {
  test.each([
    ['Mon-Fri', 'Mon Tue Wed Thu Fri'],
    ['Sat', 'Sat'],
    ['SATURDAY-sunday', 'Sat Sun'],
    ['tuesday', 'Tue'],
    ['wEdNeSdAy-Thu', 'Wed Thu'],
    ['1-5', 'Mon Tue Wed Thu Fri'],
    ['7', 'Sun'],
    ['6-Sun', 'Sat Sun'],
    ['Mon - Fri', 'Mon Tue Wed Thu Fri'],
    ['  Mon  -Wed ', 'Mon Tue Wed'],
    ['Fri-Mon', 'Mon Fri Sat Sun'],
    ['Sun-Sat', 'Mon Tue Wed Thu Fri Sat Sun'],
    ['Mon-Mon', 'Mon'],
    ['Mon-Sun', 'Mon Tue Wed Thu Fri Sat Sun'],
    ['00:00-24:00', 'Mon Tue Wed Thu Fri Sat Sun'],
    ['Mon-Fri 11:00-13:00', 'Mon Tue Wed Thu Fri'],
    ['1-5 11:00-13:00', 'Mon Tue Wed Thu Fri'],
    ['1 1:00-13:00', 'Mon'],
  ])('%j', (text, days) => expect(daysOf(text)).toBe(days));
});

describe('bounds', () => {
  const bounds = (text: string, instant: string) => changesFrom(parseSchedule(text), instant, 2);
  // From 2026-03-06, a Friday, 03:00 UTC.
  test.each([
    ['Fri', '-2026-03-07T00:00:00.000Z', '+2026-03-13T00:00:00.000Z'],
    ['Sat', '+2026-03-07T00:00:00.000Z', '-2026-03-08T00:00:00.000Z'],
    ['Fri-Mon', '-2026-03-10T00:00:00.000Z', '+2026-03-13T00:00:00.000Z'],
    ['09:00-17:30', '+2026-03-06T09:00:00.000Z', '-2026-03-06T17:30:00.001Z'],
    ['9:00-17:30', '+2026-03-06T09:00:00.000Z', '-2026-03-06T17:30:00.001Z'],
    ['09:00 - 17:30', '+2026-03-06T09:00:00.000Z', '-2026-03-06T17:30:00.001Z'],
    ['09:00-24:00', '+2026-03-06T09:00:00.000Z', '-2026-03-07T00:00:00.001Z'],
    ['Fri 00:00-24:00', '-2026-03-07T00:00:00.001Z', '+2026-03-13T00:00:00.000Z'],
    ['00:00-24:00', 'never', undefined],
    ['Mon-Sun', 'never', undefined],
    ['Mon-Fri 09:00-17:00', '+2026-03-06T09:00:00.000Z', '-2026-03-06T17:00:00.001Z'],
    ['Mon-Wed 09:00-17:00', '+2026-03-09T09:00:00.000Z', '-2026-03-09T17:00:00.001Z'],
    ['Mon-Fri 22:00-06:00', '-2026-03-06T06:00:00.001Z', '+2026-03-06T22:00:00.000Z'],
    ['Fri 22:00-06:00', '+2026-03-06T22:00:00.000Z', '-2026-03-07T06:00:00.001Z'],
    ['Mon-Thu 22:00-06:00', '-2026-03-06T06:00:00.001Z', '+2026-03-09T22:00:00.000Z'],
    ['Fri 22:00-00:00', '+2026-03-06T22:00:00.000Z', '-2026-03-07T00:00:00.001Z'],
    ['22:00-21:59', '-2026-03-06T21:59:00.001Z', '+2026-03-06T22:00:00.000Z'],
    ['Fri[Europe/Paris]', '-2026-03-06T23:00:00.000Z', '+2026-03-12T23:00:00.000Z'],
    ['Fri [Europe/Paris]', '-2026-03-06T23:00:00.000Z', '+2026-03-12T23:00:00.000Z'],
    ['09:00-17:00[Europe/Paris]', '+2026-03-06T08:00:00.000Z', '-2026-03-06T16:00:00.001Z'],
    ['09:00-17:00 [europe/paris]', '+2026-03-06T08:00:00.000Z', '-2026-03-06T16:00:00.001Z'],
    ['09:00[Europe/Paris] - 17:00[Europe/Paris]', '+2026-03-06T08:00:00.000Z', '-2026-03-06T16:00:00.001Z'],
    ['Fri 09:00-17:00[Asia/Kolkata]', '+2026-03-06T03:30:00.000Z', '-2026-03-06T11:30:00.001Z'],
    ['Thu 09:00-23:30[America/New_York]', '-2026-03-06T04:30:00.001Z', '+2026-03-12T13:00:00.000Z'],
  ])('%j', (text, first, second) => {
    expect(bounds(text, '2026-03-06T03:00:00Z')).toEqual(second ? [first, second] : [first]);
  });

  test('hours across midnight belong to the day on which they begin', () => {
    const nights = 'Mon-Fri 22:00-06:00';
    expect(holds(nights, '2026-03-07T06:00:00Z')).toBe(true);
    expect(holds(nights, '2026-03-07T22:30:00Z')).toBe(false);
    expect(holds(nights, '2026-03-09T05:00:00Z')).toBe(false);
    expect(holds(nights, '2026-03-09T22:00:00Z')).toBe(true);
  });

  test('day and time are those of the zone', () => {
    // Friday 20:00 in New York is Saturday in UTC.
    expect(holds('Fri 19:00-21:00[America/New_York]', '2026-03-07T01:00:00Z')).toBe(true);
    expect(holds('Sat 19:00-21:00[America/New_York]', '2026-03-07T01:00:00Z')).toBe(false);
  });
});

describe('daylight saving', () => {
  test.each([
    // Paris, 2026-03-29 (a Sunday): 02:00 becomes 03:00 at 01:00Z. In autumn 03:00 becomes 02:00 on 10-25 at 01:00Z.
    [
      '09:00-17:00[Europe/Paris]',
      '2026-03-28T17:00:00Z',
      ['+2026-03-29T07:00:00.000Z', '-2026-03-29T15:00:00.001Z'],
    ],
    [
      '02:15-02:45[Europe/Paris]',
      '2026-03-28T02:00:00Z',
      ['+2026-03-30T00:15:00.000Z', '-2026-03-30T00:45:00.001Z'],
    ],
    [
      '02:30-04:00[Europe/Paris]',
      '2026-03-28T04:00:00Z',
      ['+2026-03-29T01:00:00.000Z', '-2026-03-29T02:00:00.001Z'],
    ],
    [
      '01:00-02:30[Europe/Paris]',
      '2026-03-28T04:00:00Z',
      ['+2026-03-29T00:00:00.000Z', '-2026-03-29T01:00:00.000Z'],
    ],
    [
      '02:15-02:45[Europe/Paris]',
      '2026-10-24T12:00:00Z',
      [
        '+2026-10-25T00:15:00.000Z',
        '-2026-10-25T00:45:00.001Z',
        '+2026-10-25T01:15:00.000Z',
        '-2026-10-25T01:45:00.001Z',
        '+2026-10-26T01:15:00.000Z',
      ],
    ],
    [
      '01:00-02:30[Europe/Paris]',
      '2026-10-24T12:00:00Z',
      [
        '+2026-10-24T23:00:00.000Z',
        '-2026-10-25T00:30:00.001Z',
        '+2026-10-25T01:00:00.000Z',
        '-2026-10-25T01:30:00.001Z',
      ],
    ],
    [
      '02:30-05:00[Europe/Paris]',
      '2026-10-24T12:00:00Z',
      [
        '+2026-10-25T00:30:00.000Z',
        '-2026-10-25T01:00:00.000Z',
        '+2026-10-25T01:30:00.000Z',
        '-2026-10-25T04:00:00.001Z',
      ],
    ],
    ['Sun[Europe/Paris]', '2026-03-28T12:00:00Z', ['+2026-03-28T23:00:00.000Z', '-2026-03-29T22:00:00.000Z']],
    // New York: 2026-03-08 02:00 becomes 03:00 at 07:00Z, 11-01 02:00 becomes 01:00 at 06:00Z.
    [
      '02:30-04:00[America/New_York]',
      '2026-03-07T12:00:00Z',
      ['+2026-03-08T07:00:00.000Z', '-2026-03-08T08:00:00.001Z'],
    ],
    [
      'Sun 00:30-01:30[America/New_York]',
      '2026-10-31T12:00:00Z',
      [
        '+2026-11-01T04:30:00.000Z',
        '-2026-11-01T05:30:00.001Z',
        '+2026-11-01T06:00:00.000Z',
        '-2026-11-01T06:30:00.001Z',
        '+2026-11-08T05:30:00.000Z',
      ],
    ],
    // A night across the change is an hour shorter or longer.
    [
      'Sat 22:00-06:00[America/New_York]',
      '2026-03-07T12:00:00Z',
      ['+2026-03-08T03:00:00.000Z', '-2026-03-08T10:00:00.001Z'],
    ],
    [
      'Sat 22:00-06:00[America/New_York]',
      '2026-10-31T12:00:00Z',
      ['+2026-11-01T02:00:00.000Z', '-2026-11-01T11:00:00.001Z'],
    ],
    // Half an hour, in the southern hemisphere: 2026-10-04 02:00 becomes 02:30, 2026-04-05 02:00 becomes 01:30.
    [
      '02:15-03:00[Australia/Lord_Howe]',
      '2026-10-03T12:00:00Z',
      ['+2026-10-03T15:30:00.000Z', '-2026-10-03T16:00:00.001Z'],
    ],
    [
      '01:40-01:50[Australia/Lord_Howe]',
      '2026-04-04T12:00:00Z',
      [
        '+2026-04-04T14:40:00.000Z',
        '-2026-04-04T14:50:00.001Z',
        '+2026-04-04T15:10:00.000Z',
        '-2026-04-04T15:20:00.001Z',
      ],
    ],
    [
      '09:00-17:00[Australia/Sydney]',
      '2026-10-03T12:00:00Z',
      ['+2026-10-03T22:00:00.000Z', '-2026-10-04T06:00:00.001Z'],
    ],
    // Havana skips midnight on 2026-03-08, and has it twice on 2026-11-01.
    [
      'Sun[America/Havana]',
      '2026-03-07T12:00:00Z',
      ['+2026-03-08T05:00:00.000Z', '-2026-03-09T04:00:00.000Z'],
    ],
    [
      'Sun[America/Havana]',
      '2026-10-31T12:00:00Z',
      ['+2026-11-01T04:00:00.000Z', '-2026-11-02T05:00:00.000Z'],
    ],
    // Cairo goes back from Friday 00:00 to Thursday 23:00.
    [
      'Thu 22:00-23:30[Africa/Cairo]',
      '2026-10-29T12:00:00Z',
      [
        '+2026-10-29T19:00:00.000Z',
        '-2026-10-29T20:30:00.001Z',
        '+2026-10-29T21:00:00.000Z',
        '-2026-10-29T21:30:00.001Z',
      ],
    ],
    // Samoa had no 2011-12-30, which was a Friday.
    ['Fri[Pacific/Apia]', '2011-12-28T12:00:00Z', ['+2012-01-05T10:00:00.000Z', '-2012-01-06T10:00:00.000Z']],
  ])('%j after %s', (text, instant, changes) => {
    expect(changesFrom(parseSchedule(text), instant, changes.length)).toEqual(changes);
  });
});

describe('what is refused', () => {
  const example = 'Send days, times or both, such as `Mon-Fri 09:00-17:00[Europe/Paris]`';
  test.each([
    ['', 0, 'It is empty'],
    ['   ', 2, 'It is empty'],
    ['foo', 0, 'This is not a day: '],
    ['Mon-Foo', 4, 'This is not a day: '],
    ['Montag', 0, 'This is not a day: '],
    ['Mo', 0, 'This is not a day: '],
    ['weekday 09:00-17:00', 0, 'This is not a day: '],
    ['Mon-', 3, 'Here a day is missing'],
    ['Mon-09:00', 4, 'Here a day is missing'],
    ['Mon-8', 4, 'Here a day is missing'],
    ['Mon,Wed', 3, 'Send one day or one range of days; for several schedules use `or`'],
    ['1,3', 1, 'Send one day or one range of days; for several schedules use `or`'],
    ['Mon-Tue, Fri', 7, 'Send one day or one range of days; for several schedules use `or`'],
    ['0-5', 0, 'Here a time such as 09:00 is missing'],
    ['8', 0, 'Here a time such as 09:00 is missing'],
    ['Mon Tue', 4, 'Here a time such as 09:00 is missing'],
    ['Mon 9-17', 4, 'Here a time such as 09:00 is missing'],
    ['Mon at 09:00-17:00', 4, 'Here a time such as 09:00 is missing'],
    ['09:00:00-17:00:00', 0, 'Here a time such as 09:00 is missing'],
    ['9:0-17:00', 0, 'Here a time such as 09:00 is missing'],
    ['109:00-17:00', 0, 'Here a time such as 09:00 is missing'],
    ['09:00-', 5, 'Here a time such as 09:00 is missing'],
    ['09:00-Fri', 6, 'Here a time such as 09:00 is missing'],
    ['09:00-17:00:00', 6, 'Here a time such as 09:00 is missing'],
    ['09:00', 4, 'Times are a range, such as 09:00-17:00'],
    ['Mon 09:00', 8, 'Times are a range, such as 09:00-17:00'],
    ['09:00 17:00', 6, 'Times are a range, such as 09:00-17:00'],
    ['09:00--17:00', 6, 'Here a time such as 09:00 is missing'],
    ['25:00-26:00', 0, 'There is no such time'],
    ['09:60-17:00', 0, 'There is no such time'],
    ['09:00-24:01', 6, 'There is no such time'],
    ['24:00-06:00', 0, '24:00 is only for an end; the day begins at 00:00'],
    ['09:00-09:00', 6, 'It ends when it begins. For whole days leave the times out, or send 00:00-24:00'],
    ['Mon 00:00-0:00', 10, 'It ends when it begins. For whole days leave the times out, or send 00:00-24:00'],
    ['09:00-17:00 Mon', 12, 'Nothing may follow here; for several schedules use `or`'],
    ['09:00-12:00, 13:00-17:00', 11, 'Nothing may follow here; for several schedules use `or`'],
    ['09:00-17:00 UTC', 12, 'Nothing may follow here; for several schedules use `or`'],
    ['09:00-17:00Z', 11, 'Nothing may follow here; for several schedules use `or`'],
    ['09:00-17:00+02:00', 11, 'Nothing may follow here; for several schedules use `or`'],
    ['09:00[Europe/Paris]-17:00[Europe/Rome]', 5, 'One zone is for both times, and stands at the end'],
    ['09:00[Europe/Paris]-17:00', 5, 'One zone is for both times, and stands at the end'],
    ['Mon[Europe/Paris] 09:00-17:00', 18, 'The zone stands at the end, behind the times'],
  ])('%j at %i: %s', (text, at, message) => {
    const refusal = refusalOf(() => parseSchedule(text));
    expect(refusal).toEqual({ at, message: expect.stringContaining(`Invalid schedule. ${message}`) });
    expect(refusal).toMatchObject({ message: expect.stringContaining(example) });
  });

  test.each([
    ['09:00-17:00[Mars/Base]', 12],
    ['09:00[Mars/Base]-17:00[Europe/Paris]', 6],
    ['Mon[+02:00]', 4],
    ['Mon[Europe/Paris', 3],
  ])('%j at %i: a bad zone', (text, at) => {
    expect(refusalOf(() => parseSchedule(text))).toEqual({
      at,
      message: expect.stringMatching(/^Invalid timezone\. .*\[Europe\/Paris\]/),
    });
  });
});
