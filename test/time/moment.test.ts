import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DoubtfulTime, type MomentReading, readMoment } from '../../src/time/moment.ts';
import { describeLength, parseDuration } from '../../src/time/duration.ts';
import { toLocalTime } from '../../src/time/local-time.ts';
import { amount } from '../support/amounts.ts';

// 2026-03-04 is a Wednesday. The clocks of Paris go forward on 2026-03-29 and back on 2026-10-25.
const wednesday = Date.parse('2026-03-04T10:30:20Z');
const zone = 'Europe/Paris';
const ways = { utc: 'zone UTC', length: (text: string) => `for ${text}` };
const read = (text: string, more: Partial<MomentReading> = {}) =>
  readMoment(text, { now: wednesday, zone, ways, ...more });

describe('lengths', () => {
  const hour = 3_600_000;
  test.each([
    ['2h', { days: 0, milliseconds: 2 * hour }],
    ['30m', { days: 0, milliseconds: hour / 2 }],
    ['1h30m', { days: 0, milliseconds: 1.5 * hour }],
    ['1h 30 minutes', { days: 0, milliseconds: 1.5 * hour }],
    ['3d', { days: 3, milliseconds: 0 }],
    ['1 week', { days: 7, milliseconds: 0 }],
    ['2 Days 4 Hours', { days: 2, milliseconds: 4 * hour }],
  ])('%s', (text, length) => expect(parseDuration(text)).toEqual(length));

  test.each(['', '2', 'h', '0h', '-2h', '1.5h', '2 months', '1h 1h', '2x', '2h!', '999999h'])(
    '%j is none',
    (text) => expect(parseDuration(text)).toBeNull(),
  );

  test.each([
    [59_000, 'less than a minute'],
    [90 * 60_000, '1 h 30 min'],
    [26 * hour, '1 day 2 h'],
    [48 * hour + 60_000, '2 days'],
  ])('%i ms are shown as %s', (length, text) => expect(describeLength(length)).toBe(text));
});

describe('moments', () => {
  test.each([
    ['now', '2026-03-04T11:30:20'],
    ['2h', '2026-03-04T13:31:00'],
    ['in 90 minutes', '2026-03-04T13:01:00'],
    ['+1d', '2026-03-05T11:31:00'],
    ['18:00', '2026-03-04T18:00:00'],
    ['6pm', '2026-03-04T18:00:00'],
    ['6:30 pm', '2026-03-04T18:30:00'],
    ['today 18:00', '2026-03-04T18:00:00'],
    ['tomorrow 08:00', '2026-03-05T08:00:00'],
    ['Tomorrow at 8:00', '2026-03-05T08:00:00'],
    ['friday 18:00', '2026-03-06T18:00:00'],
    ['fri 18:00', '2026-03-06T18:00:00'],
    ['tues 9am', '2026-03-10T09:00:00'],
    ['wednesday 18:00', '2026-03-04T18:00:00'],
    ['2026-03-06T18:00', '2026-03-06T18:00:00'],
    ['2026-03-06 18:00:30', '2026-03-06T18:00:30'],
    ['2026-03-06T18:00Z', '2026-03-06T19:00:00'],
    ['2026-03-06T18:00:00-05:00', '2026-03-07T00:00:00'],
  ])('%s', (text, local) => expect(read(text).local).toBe(local));

  test.each([
    ['09:00', 'is 2026-03-04 09:00 Europe/Paris, which is past: it is 2026-03-04 11:30:20 Europe/Paris now'],
    ['wed 9:00', 'which is past'],
    ['2026-03-01T10:00', 'which is past'],
    ['2026-03-06', 'has no time. Write 2026-03-06 18:00'],
    ['tomorrow', 'has no time. Write "tomorrow 18:00"'],
    ['friday', 'has no time'],
    ['06/03/2026 18:00', 'may be read in several ways'],
    ['6.3. 18:00', 'may be read in several ways'],
    ['tomorrow 8', 'is not understood'],
    ['noonish', 'is not understood'],
    ['next friday 18:00', 'is not understood'],
    ['t 18:00', 'is not understood'],
    ['24:00', 'is not understood'],
    ['13pm', 'is not understood'],
    ['2026-02-30T10:00', 'is not a date with a time'],
    ['2026-03-06T25:00Z', 'is not an instant'],
    ['2026-03-29T02:30', 'does not exist in Europe/Paris when the clocks change'],
    ['2026-10-25 02:30', 'comes twice in Europe/Paris when the clocks change'],
  ])('%s is refused with what was understood', (text, why) => {
    expect(() => read(text)).toThrow(why);
    expect(() => read(text)).toThrow(`"${text}"`);
  });

  test.each([
    ['18h', '"18h" may be 18:00 or 18 hours from now. Write 18:00, or for 18h.'],
    ['8 h', '"8 h" may be 8:00 or 8 hours from now. Write 8:00, or for 8 h.'],
    ['01h', '"01h" may be 01:00 or 1 hour from now. Write 01:00, or for 01h.'],
    ['24h', '"24h" is a length of time, and until takes a time. Write for 24h.'],
    ['90m', '"90m" is a length of time'],
    ['2 days', '"2 days" is a length of time'],
    ['1h30m', '"1h30m" is a length of time'],
  ])('until %s is refused, and what it may mean is said', (text, why) => {
    expect(() => read(text, { isUntil: true })).toThrow(why);
    expect(read(text).local).toMatch(/^2026-03-0/);
  });

  test.each(['18:00', '6pm', 'fri 18:00', 'in 2h', '+2h', '2026-03-06T18:00'])(
    'until %s has one meaning',
    (text) => expect(read(text, { isUntil: true })).toEqual(read(text)),
  );

  test('a doubt about the clocks says how to write UTC', () =>
    expect(() => read('2026-10-25 02:30')).toThrow('Choose another time, or zone UTC.'));

  test('an end is the first such time after its start', () => {
    const after = Date.parse('2026-03-06T17:00:00Z');
    expect(read('mon 08:00', { after }).local).toBe('2026-03-09T08:00:00');
    expect(read('fri 20:00', { after }).local).toBe('2026-03-06T20:00:00');
    expect(read('fri 08:00', { after }).local).toBe('2026-03-13T08:00:00');
    expect(read('08:00', { after }).local).toBe('2026-03-07T08:00:00');
    expect(() => read('2h', { after })).toThrow(
      '"2h" may count from now or from the start. Write for 2h, or a date.',
    );
  });

  test('every text is read or refused, and a read time is ahead and on a clock that shows it', () => {
    const word = fc.constantFrom(
      ...[
        'today',
        'tomorrow',
        'fri',
        'sunday',
        'at',
        'in',
        '2h',
        '1w',
        '18:00',
        '2:30',
        '6pm',
        '2026-03-29',
        'T02:30',
      ],
      ...['', '+', 'Z', '10', 'T', ':', '-', '2026-10-25T02:30'],
    );
    const text = fc.oneof(
      fc.array(word, { maxLength: 4 }).map((words) => words.join(' ')),
      fc.string(),
    );
    const moment = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true });
    const property = fc.property(text, moment, (text, now) => {
      let read;
      try {
        read = readMoment(text, { now: now.getTime(), zone, ways });
      } catch (error) {
        expect(error, String(error)).toBeInstanceOf(DoubtfulTime);
        return;
      }
      expect(read.at).toBeGreaterThanOrEqual(now.getTime());
      expect(toLocalTime(new Date(read.at), zone)).toBe(read.local.slice(0, 19));
    });
    fc.assert(property, { numRuns: amount(2000) });
  });
});
