import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toInstant, toLocalTime } from '../../src/time/local-time.ts';
import { amount } from '../support/amounts.ts';

const at = (text: string, zone: string, role: 'start' | 'end') => toInstant(text, zone, role).toISOString();

describe('daylight saving', () => {
  // Local time, zone, the instant as a start, the instant as an end.
  test.each([
    ['2026-03-01T10:00:00', 'Europe/Paris', '2026-03-01T09:00:00.000Z', '2026-03-01T09:00:00.000Z'],
    ['2026-03-01T10:00:00', 'UTC', '2026-03-01T10:00:00.000Z', '2026-03-01T10:00:00.000Z'],
    // Skipped: a start at the end of the gap, an end as far past it as it stood in it.
    ['2026-03-29T01:59:59', 'Europe/Paris', '2026-03-29T00:59:59.000Z', '2026-03-29T00:59:59.000Z'],
    ['2026-03-29T02:00:00', 'Europe/Paris', '2026-03-29T01:00:00.000Z', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29T02:30:00', 'Europe/Paris', '2026-03-29T01:00:00.000Z', '2026-03-29T01:30:00.000Z'],
    ['2026-03-29T03:00:00', 'Europe/Paris', '2026-03-29T01:00:00.000Z', '2026-03-29T01:00:00.000Z'],
    ['2026-03-08T02:30:00', 'America/New_York', '2026-03-08T07:00:00.000Z', '2026-03-08T07:30:00.000Z'],
    ['2026-10-04T02:15:00', 'Australia/Lord_Howe', '2026-10-03T15:30:00.000Z', '2026-10-03T15:45:00.000Z'],
    ['2011-12-30T12:00:00', 'Pacific/Apia', '2011-12-30T10:00:00.000Z', '2011-12-30T22:00:00.000Z'],
    // Repeated: a start the first, an end the second.
    ['2026-10-25T02:30:00', 'Europe/Paris', '2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'],
    ['2026-10-25T03:00:00', 'Europe/Paris', '2026-10-25T02:00:00.000Z', '2026-10-25T02:00:00.000Z'],
    ['2026-11-01T01:30:00', 'America/New_York', '2026-11-01T05:30:00.000Z', '2026-11-01T06:30:00.000Z'],
    ['2026-04-05T01:45:00', 'Australia/Lord_Howe', '2026-04-04T14:45:00.000Z', '2026-04-04T15:15:00.000Z'],
    ['2028-02-29T12:00:00', 'Asia/Kolkata', '2028-02-29T06:30:00.000Z', '2028-02-29T06:30:00.000Z'],
  ])('%s in %s', (text, zone, start, end) => {
    expect([at(text, zone, 'start'), at(text, zone, 'end')]).toEqual([start, end]);
  });
});

test('years out of range move to the nearest year in range', () => {
  expect(at('0001-01-01T00:00:00', 'Pacific/Auckland', 'start')).toBe('1900-01-01T00:00:00.000Z');
  expect(at('9999-12-31T23:59:59.999999999', 'Pacific/Niue', 'end')).toBe('9999-12-31T00:00:00.000Z');
});

const two = (value: number) => String(value).padStart(2, '0');
const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'US/Eastern', 'UTC');
const textIn = (from: number, to: number) =>
  fc
    .record({
      year: fc.integer({ min: from, max: to }),
      month: fc.integer({ min: 1, max: 12 }),
      day: fc.integer({ min: 1, max: 28 }),
      minutes: fc.nat(24 * 60 - 1),
    })
    .map(({ year, month, day, minutes }) => {
      const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
      return `${date}T${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:00`;
    });

/** Wall-clock times around a change of the clock, which random ones seldom meet. */
const nearChange = fc
  .tuple(
    fc.constantFrom(
      ...(['Europe/Paris', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca'] as const).flatMap(
        (zone) =>
          [
            '2026-02-15',
            '2026-03-08',
            '2026-03-22',
            '2026-03-29',
            '2026-04-05',
            '2026-10-04',
            '2026-10-25',
            '2026-11-01',
          ].map((day) => [zone, day] as const),
      ),
      ['Pacific/Apia', '2011-12-30'] as const,
      ['America/Sao_Paulo', '2018-11-04'] as const,
    ),
    fc.nat(5 * 60 - 1),
  )
  .map(
    ([[zone, day], minutes]) =>
      [zone, `${day}T${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:00`] as const,
  );

const cases = fc.oneof(fc.tuple(zones, textIn(1971, 2100)), nearChange);

test('any time in any zone is an instant in range', () => {
  fc.assert(
    fc.property(zones, textIn(1, 9999), fc.constantFrom('start', 'end'), (zone, text, role) => {
      expect(at(text, zone, role)).toMatch(/^(19|[2-9]\d)\d\d-/);
    }),
  );
});

test('a shown instant names itself again, except in repeated hours', () => {
  fc.assert(
    fc.property(zones, fc.integer({ min: 0, max: 4_000_000_000 }), (zone, second) => {
      const instant = new Date(second * 1000);
      const text = toLocalTime(instant, zone);
      const [first, last] = [toInstant(text, zone, 'start'), toInstant(text, zone, 'end')];
      expect([first.getTime(), last.getTime()]).toContain(instant.getTime());
    }),
  );
});

test('coverage never shrinks: every moment whose wall clock reads between start and end is covered', () => {
  fc.assert(
    fc.property(
      cases,
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: -400, max: 400 }),
      (case_, length, off) => {
        const [zone, start] = case_;
        const end = new Date(Date.parse(`${start}Z`) + length * 60_000).toISOString().slice(0, 19);
        const [startsAt, endsAt] = [toInstant(start, zone, 'start'), toInstant(end, zone, 'end')];
        const moment = new Date(startsAt.getTime() + off * 60_000);
        const clock = toLocalTime(moment, zone);
        if (clock < start || clock >= end) return;
        expect(moment >= startsAt && moment < endsAt).toBe(true);
      },
    ),
    { numRuns: amount(3000) },
  );
});

test('a start is the first moment whose wall clock has reached it', () => {
  fc.assert(
    fc.property(cases, ([zone, text]) => {
      const startsAt = toInstant(text, zone, 'start');
      expect(toLocalTime(startsAt, zone) >= text).toBe(true);
      expect(toLocalTime(new Date(startsAt.getTime() - 1000), zone) < text).toBe(true);
      expect(toInstant(text, zone, 'end') >= startsAt).toBe(true);
    }),
    { numRuns: amount(2000) },
  );
});
