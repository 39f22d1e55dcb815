import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClockTest } from '../../../src/conditions/time/wall-clock.ts';
import { parseInterval } from '../../../src/conditions/time/interval.ts';
import { parseSchedule } from '../../../src/conditions/time/schedule.ts';
import { refusalOf } from './asking-clocks.ts';
import { type Hours, isBetween, isWithinHours, type Shown, watch } from './wall-oracle.ts';
import { amount, isWhole } from '../../support/amounts.ts';

const zones = [
  'UTC',
  'Europe/Paris',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Australia/Sydney',
  'America/Santiago',
  'America/St_Johns',
  'America/Havana',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Antarctica/Troll',
];
const oneDay = 86_400_000;

/** Days in which a clock is set, or a month or year ends. */
const days: [zone: string, from: string][] = [
  ['UTC', '2024-02-28'],
  ['Asia/Kolkata', '2026-02-27'],
  ['Pacific/Kiritimati', '2025-12-30'],
  ['Europe/Paris', '2026-03-28'],
  ['Europe/Paris', '2026-10-24'],
  ['America/New_York', '2026-03-07'],
  ['America/New_York', '2026-10-31'],
  ['America/St_Johns', '2026-10-31'],
  ['Australia/Lord_Howe', '2026-04-04'],
  ['Australia/Lord_Howe', '2026-10-03'],
  ['Australia/Sydney', '2026-10-03'],
  ['America/Santiago', '2026-04-04'],
  ['America/Santiago', '2026-09-05'],
  ['America/Havana', '2026-03-07'],
  ['America/Havana', '2026-10-31'],
  ['Africa/Cairo', '2026-04-23'],
  ['Africa/Cairo', '2026-10-29'],
  ['Africa/Casablanca', '2025-02-22'],
  ['Africa/Casablanca', '2025-04-05'],
  ['Antarctica/Troll', '2026-03-28'],
  ['Pacific/Apia', '2011-12-29'],
];
const watched = fc.constantFrom(...days);
const watchDays = ([zoneName, from]: [string, string]) => watch(zoneName, Date.parse(`${from}T03:00:00Z`), 2);

const zone = fc.constantFrom(...zones);

const twoDigits = (value: number) => String(value).padStart(2, '0');
const time = fc
  .tuple(fc.oneof(fc.nat(23), fc.constantFrom(0, 1, 2, 3, 23)), fc.constantFrom(0, 15, 20, 30, 45, 59))
  .map(([hours, minutes]) => `${twoDigits(hours)}:${twoDigits(minutes)}`);
const times = fc
  .record({ from: time, to: fc.oneof({ arbitrary: time, weight: 9 }, fc.constant('24:00')) })
  .filter(({ from, to }) => from !== to);
const hours: fc.Arbitrary<Hours> = fc.record({ first: fc.nat(6), last: fc.nat(6), times: fc.option(times) });

const names = ['Mon', 'tuesday', '3', 'Thu', 'FRIDAY', 'Sat', '7'];
const scheduleOf = ({ first, last, times: range }: Hours, zoneName: string) =>
  `${names[first]}-${names[last]}${range ? ` ${range.from}-${range.to}` : ''}[${zoneName}]`;

const digits = (width: number, value: fc.Arbitrary<number>) =>
  fc
    .tuple(value, fc.array(fc.integer({ min: 1, max: 3 }), { minLength: width, maxLength: width }))
    .map(([number, masks]) =>
      [...String(number).padStart(width, '0')]
        .map((digit, index) => (masks[index]! > 1 ? 'X' : digit))
        .join(''),
    );
const wildcard = fc
  .tuple(
    digits(4, fc.constantFrom(2024, 2025, 2026)),
    digits(2, fc.constantFrom(1, 2, 3, 9, 10, 12)),
    digits(2, fc.integer({ min: 1, max: 31 })),
    time,
  )
  .map(([year, month, day, at]) => `${year}-${month}-${day}T${at}`);
/** Both ends mostly the same date, as people write it. */
const wildcards = fc.oneof(
  fc.tuple(wildcard, time).map(([start, to]) => [start, `${start.slice(0, 11)}${to}`] as const),
  fc.tuple(wildcard, wildcard),
);

function readWildcards([start, end]: readonly [string, string], zoneName: string): ClockTest | null {
  const text = `${start}/${end}[${zoneName}]`;
  return text.includes('X') && !refusalOf(() => parseInterval(text)) ? parseInterval(text) : null;
}

/** The answers of some days, and those of `nextChange` as far as the days show them. */
function expectDays(clock: ClockTest, shown: Shown[], oracle: (one: Shown) => boolean) {
  const answers = shown.map(oracle);
  const differing = shown.findIndex(({ at }, index) => clock.holds(at) !== answers[index]);
  expect(shown[differing]).toBeUndefined();
  let next = shown.at(-1)!.at + 1;
  for (let index = shown.length - 1; index > 0; index -= 1) {
    const isChange = answers[index] !== answers[index - 1];
    if (isChange) next = shown[index]!.at;
    if (!isChange && index % 97 > 0) continue;
    const change = clock.nextChange(shown[index - 1]!.at);
    if (next > shown.at(-1)!.at) expect(change === null || change >= next).toBe(true);
    else expect(change).toBe(next);
  }
}

describe('each minute of days with a change of clocks agrees with Intl', () => {
  test('schedules', () => {
    fc.assert(
      fc.property(hours, watched, (asked, where) => {
        const clock = parseSchedule(scheduleOf(asked, where[0]));
        expectDays(clock, watchDays(where), (one) => isWithinHours(asked, one));
      }),
      { numRuns: amount(20) },
    );
  });

  test('intervals with wildcards', () => {
    let read = 0;
    fc.assert(
      fc.property(wildcards, watched, (ends, where) => {
        const shown = watchDays(where);
        const oracle = (one: Shown) => isBetween(`${ends[0]}:00.000`, `${ends[1]}:00.000`, one);
        const clock = readWildcards(ends, where[0]);
        fc.pre(ends.some((end) => end.includes('X')));
        if (clock) {
          read += 1;
          expectDays(clock, shown, oracle);
        } else {
          // A refused one holds for at most an instant.
          expect(shown.some((one, index) => index % 2 === 1 && oracle(one))).toBe(false);
        }
      }),
      { numRuns: isWhole ? 40 : 10 },
    );
    expect(read).toBeGreaterThan(isWhole ? 20 : 0);
  });
});

describe('the next change', () => {
  const clocks = fc.oneof(
    fc.tuple(hours, zone).map(([asked, zoneName]) => parseSchedule(scheduleOf(asked, zoneName))),
    fc.tuple(wildcards, zone).map(([ends, zoneName]) => readWildcards(ends, zoneName)),
    fc
      .tuple(fc.nat(1e9), fc.integer({ min: 1, max: 1e9 }))
      .map(([start, length]) =>
        [start, start + length].map((at) => new Date(1_700_000_000_000 + at).toISOString()).join('/'),
      )
      .map((text) => parseInterval(text)),
  );
  const instant = fc.integer({ min: Date.UTC(2011, 0), max: Date.UTC(2040, 0) });

  test('until it nothing changes, and then it does', () => {
    let changes = 0;
    fc.assert(
      fc.property(
        clocks,
        instant,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
        (clock, now, parts) => {
          fc.pre(clock !== null);
          const answer = clock.holds(now);
          const change = clock.nextChange(now);
          const last = change === null ? now + 30 * 365 * oneDay : change - 1;
          for (const part of [...parts, 1]) {
            expect(clock.holds(Math.floor(now + part * (last - now)))).toBe(answer);
          }
          if (change === null) return;
          changes += 1;
          expect(change).toBeGreaterThan(now);
          expect(Number.isInteger(change)).toBe(true);
          expect(clock.holds(change)).toBe(!answer);
          expect(clock.nextChange(change - 1)).toBe(change);
        },
      ),
      { numRuns: amount(1000) },
    );
    expect(changes).toBeGreaterThan(amount(300));
  });

  test('the last question does not matter', () => {
    fc.assert(
      fc.property(hours, zone, fc.array(instant, { minLength: 2 }), (asked, zoneName, instants) => {
        const text = scheduleOf(asked, zoneName);
        const clock = parseSchedule(text);
        for (const now of [...instants, instants[0]!, instants[0]!]) {
          const anew = parseSchedule(text);
          expect([clock.nextChange(now), clock.holds(now)]).toEqual([anew.nextChange(now), anew.holds(now)]);
        }
      }),
      { numRuns: amount(100) },
    );
  });
});
