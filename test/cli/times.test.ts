import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeMoment, describeWindow, readPast, readTimeWindow } from '../../src/cli/times.ts';
import { DoubtfulTime } from '../../src/time/moment.ts';
import { toInstant } from '../../src/time/local-time.ts';
import { amount } from '../support/amounts.ts';

const wednesday = Date.parse('2026-03-04T10:30:20Z');
const zone = 'Europe/Paris';

test.each([
  ['7d', '2026-02-25T10:30:20.000Z'],
  ['2026-02-20', '2026-02-19T23:00:00.000Z'],
  ['2026-02-20 18:00', '2026-02-20T17:00:00.000Z'],
  ['2026-02-20T18:00:00Z', '2026-02-20T18:00:00.000Z'],
])('%s is over', (text, at) => {
  expect(new Date(readPast(text, { now: () => wednesday, zone })).toISOString()).toBe(at);
});

describe('windows', () => {
  const world = { now: () => wednesday, zone };

  test('the weekend, in a zone that is not the reader’s', () => {
    const window = readTimeWindow({ from: 'fri 18:00', until: 'mon 08:00', zone: 'America/New_York' }, world);
    expect(window).toMatchObject({ start: '2026-03-06T18:00:00', end: '2026-03-09T08:00:00' });
    // New York's clocks go forward that Sunday, so it is an hour shorter.
    expect(describeWindow(window, zone)).toBe(
      'from 2026-03-06 18:00 America/New_York (2026-03-07 00:00 Europe/Paris) until 2026-03-09 08:00 America/New_York (2026-03-09 13:00 Europe/Paris), 2 days 13 h',
    );
  });

  test('from now, for a time and without an end', () => {
    const window = readTimeWindow({ for: '2h' }, world);
    expect(window).toMatchObject({ start: null, end: '2026-03-04T13:31:00', timezone: zone });
    expect(describeWindow(window, zone)).toBe('from now until 2026-03-04 13:31 Europe/Paris, 2 h');
    expect(describeWindow(readTimeWindow({ from: 'now' }, world), zone)).toBe(
      'from now until somebody removes it',
    );
  });

  test('days go by the wall clock, hours do not', () => {
    const before = { now: () => Date.parse('2026-03-28T11:00:00Z'), zone };
    expect(readTimeWindow({ for: '1d' }, before).end).toBe('2026-03-29T12:00:00');
    expect(readTimeWindow({ for: '24h' }, before).end).toBe('2026-03-29T13:00:00');
  });

  test.each([
    [{ for: '2h', until: '18:00' }, 'Write --for or --until, not both'],
    [{ until: 'now' }, 'before it begins'],
    [{ until: '18h' }, '"18h" may be 18:00 or 18 hours from now. Write 18:00, or --for 18h'],
    [{ from: 'tomorrow 18:00', until: 'tomorrow 08:00' }, 'It would end at 2026-03-05 08:00 Europe/Paris'],
    [{ for: 'ages' }, '"ages" is not a length of time'],
    [{ from: '9999-12-30T10:00', for: '99999w' }, 'after the year 9999'],
    [{ for: '99999h', from: '9999-12-30T10:00' }, 'after the year 9999'],
    [{ zone: 'Europe/Pariss' }, '"Europe/Pariss" is not a time zone'],
  ])('%o is refused', (options, why) => expect(() => readTimeWindow(options, world)).toThrow(why));

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
          window = readTimeWindow(options, { now: () => now.getTime(), zone: readersZone });
        } catch (error) {
          const isSaid = error instanceof DoubtfulTime || (error as { exitCode?: number }).exitCode === 2;
          expect(isSaid, String(error)).toBe(true);
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
    fc.assert(property, { numRuns: amount(2000) });
  });

  test('a length that ends in a repeated hour is refused', () => {
    const before = { now: () => Date.parse('2026-10-24T23:30:00Z'), zone };
    expect(() => readTimeWindow({ for: '1h' }, before)).toThrow(/comes twice .* or --zone UTC\.$/);
    expect(readTimeWindow({ for: '1h', zone: 'UTC' }, before).end).toBe('2026-10-25T00:30:00');
  });

  test('a moment is also shown in the reader’s zone if that shows another time', () => {
    expect(describeMoment(wednesday, 'UTC', 'Africa/Abidjan')).toBe('2026-03-04 10:30:20 UTC');
    expect(describeMoment(wednesday, 'UTC', zone)).toBe(
      '2026-03-04 10:30:20 UTC (2026-03-04 11:30:20 Europe/Paris)',
    );
  });
});
