import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeLength, parseDuration } from '../../src/cli/times/duration.ts';
import { type Reading, readMoment } from '../../src/cli/times/moment.ts';
import { describeMoment, describeWindow, readWindow } from '../../src/cli/times/window.ts';
import { toInstant, toLocalTime } from '../../src/time/local-time.ts';

// 2026-03-04 is a Wednesday. The clocks of Paris go forward on 2026-03-29 and back on 2026-10-25.
const wednesday = Date.parse('2026-03-04T10:30:20Z');
const zone = 'Europe/Paris';
const read = (text: string, more: Partial<Reading> = {}) =>
  readMoment(text, { now: wednesday, zone, ...more });

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
  ])('%i ms are said as %s', (length, text) => expect(describeLength(length)).toBe(text));
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
    ['2026-03-06', 'says no time. Write 2026-03-06 18:00'],
    ['tomorrow', 'says no time. Write "tomorrow 18:00"'],
    ['friday', 'says no time'],
    ['06/03/2026 18:00', 'may be read in several ways'],
    ['6.3. 18:00', 'may be read in several ways'],
    ['tomorrow 8', 'is not understood'],
    ['noonish', 'is not understood'],
    ['next friday 18:00', 'is not understood'],
    ['t 18:00', 'is not understood'],
    ['24:00', 'is not understood'],
    ['13pm', 'is not understood'],
    ['2026-02-30T10:00', 'is no date and time'],
    ['2026-03-06T25:00Z', 'is no instant'],
    ['2026-03-29T02:30', 'does not exist in Europe/Paris when the clocks change'],
    ['2026-10-25 02:30', 'comes twice in Europe/Paris when the clocks change'],
  ])('%s is refused with what was understood', (text, why) => {
    expect(() => read(text)).toThrow(why);
    expect(() => read(text)).toThrow(`"${text}"`);
  });

  test('an end is the first such time after its start', () => {
    const after = Date.parse('2026-03-06T17:00:00Z');
    expect(read('mon 08:00', { after }).local).toBe('2026-03-09T08:00:00');
    expect(read('fri 20:00', { after }).local).toBe('2026-03-06T20:00:00');
    expect(read('fri 08:00', { after }).local).toBe('2026-03-13T08:00:00');
    expect(read('08:00', { after }).local).toBe('2026-03-07T08:00:00');
    expect(() => read('2h', { after })).toThrow('may count from now or from the start');
  });

  test('whatever is typed is read or refused, and what is read is ahead and on a clock that shows it', () => {
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
        read = readMoment(text, { now: now.getTime(), zone });
      } catch (error) {
        expect((error as { exitCode?: number }).exitCode, String(error)).toBe(2);
        return;
      }
      expect(read.at).toBeGreaterThanOrEqual(now.getTime());
      expect(toLocalTime(new Date(read.at), zone)).toBe(read.local.slice(0, 19));
    });
    fc.assert(property, { numRuns: 2000 });
  });
});

describe('windows', () => {
  const world = { now: () => wednesday, zone };

  test('the weekend, in a zone that is not the reader’s', () => {
    const window = readWindow({ from: 'fri 18:00', until: 'mon 08:00', zone: 'America/New_York' }, world);
    expect(window).toMatchObject({ start: '2026-03-06T18:00:00', end: '2026-03-09T08:00:00' });
    // New York's clocks go forward that Sunday, so it is an hour shorter.
    expect(describeWindow(window, zone)).toBe(
      'from 2026-03-06 18:00 America/New_York (2026-03-07 00:00 Europe/Paris) until 2026-03-09 08:00 America/New_York (2026-03-09 13:00 Europe/Paris), 2 days 13 h',
    );
  });

  test('from now, for a time and without an end', () => {
    const window = readWindow({ for: '2h' }, world);
    expect(window).toMatchObject({ start: null, end: '2026-03-04T13:31:00', timezone: zone });
    expect(describeWindow(window, zone)).toBe('from now until 2026-03-04 13:31 Europe/Paris, 2 h');
    expect(describeWindow(readWindow({ from: 'now' }, world), zone)).toBe(
      'from now until somebody removes it',
    );
  });

  test('days go by the wall clock, hours do not', () => {
    const before = { now: () => Date.parse('2026-03-28T11:00:00Z'), zone };
    expect(readWindow({ for: '1d' }, before).end).toBe('2026-03-29T12:00:00');
    expect(readWindow({ for: '24h' }, before).end).toBe('2026-03-29T13:00:00');
  });

  test.each([
    [{ for: '2h', until: '18:00' }, 'Write --for or --until, not both'],
    [{ until: 'now' }, 'before it begins'],
    [{ from: 'tomorrow 18:00', until: 'tomorrow 08:00' }, 'It would end at 2026-03-05 08:00 Europe/Paris'],
    [{ for: 'ages' }, '"ages" is not a length of time'],
    [{ from: '9999-12-30T10:00', for: '99999w' }, 'after the year 9999'],
    [{ for: '99999h', from: '9999-12-30T10:00' }, 'after the year 9999'],
    [{ zone: 'Europe/Pariss' }, '"Europe/Pariss" is no time zone'],
  ])('%o is refused', (options, why) => expect(() => readWindow(options, world)).toThrow(why));

  test('what is shown is what is sent, in each zone and on each clock', () => {
    const shape = /^from (?:now|(.+?))(?: \(.*?\))? until (?:somebody removes it|(.+?)(?: \(.*?\))?, .*)$/;
    const times = fc.oneof(
      fc
        .date({ min: new Date('2026-01-01'), max: new Date('2027-06-01'), noInvalidDate: true })
        .map((date) => date.toISOString().slice(0, 19)),
      fc.constantFrom(
        '18:00',
        'tomorrow 08:00',
        'fri 6pm',
        '2026-03-29T01:00Z',
        '2026-10-25T01:00+01:00',
        '2h',
      ),
      fc
        .tuple(fc.integer({ min: 1, max: 400 }), fc.constantFrom('m', 'h', 'd', 'w'))
        .map(([n, unit]) => `${n}${unit}`),
    );
    const zones = fc.constantFrom(
      'Europe/Paris',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kolkata',
      'UTC',
    );
    const property = fc.property(
      fc.record({
        from: fc.option(times, { nil: undefined }),
        end: times,
        isLength: fc.boolean(),
        zone: zones,
      }),
      zones,
      fc.date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true }),
      ({ from, end, isLength, zone }, readersZone, now) => {
        const options = { from, zone, ...(isLength ? { for: end } : { until: end }) };
        let window;
        try {
          window = readWindow(options, { now: () => now.getTime(), zone: readersZone });
        } catch (error) {
          expect((error as { exitCode?: number }).exitCode, String(error)).toBe(2);
          return;
        }
        const [, start, until] = shape.exec(describeWindow(window, readersZone))!;
        const shown = (local: string) => `${local.replace('T', ' ').replace(/:00$/, '')} ${zone}`;
        expect(start).toBe(window.start === null ? undefined : shown(window.start));
        expect(until).toBe(shown(window.end!));
        // The service resolves it to the same instant.
        expect(toInstant(window.end!, zone, 'end').getTime()).toBe(window.endsAt);
        if (window.start !== null)
          expect(toInstant(window.start, zone, 'start').getTime()).toBe(window.startsAt);
        expect(window.endsAt).toBeGreaterThan(window.startsAt);
      },
    );
    fc.assert(property, { numRuns: 2000 });
  });

  test('a length that ends in the hour that comes twice is doubtful', () => {
    const before = { now: () => Date.parse('2026-10-24T23:30:00Z'), zone };
    expect(() => readWindow({ for: '1h' }, before)).toThrow('comes twice');
    expect(readWindow({ for: '1h', zone: 'UTC' }, before).end).toBe('2026-10-25T00:30:00');
  });

  test('a moment is shown in the reader’s zone where that shows another time', () => {
    expect(describeMoment(wednesday, 'UTC', 'Africa/Abidjan')).toBe('2026-03-04 10:30:20 UTC');
    expect(describeMoment(wednesday, 'UTC', zone)).toBe(
      '2026-03-04 10:30:20 UTC (2026-03-04 11:30:20 Europe/Paris)',
    );
  });
});
