import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import {
  exceptionsOfNothing,
  firstOccurrence,
  type Occurrence,
  occurrencesFrom,
  occurrencesToMake,
  overlapsItself,
  type Schedule,
} from '../../src/plans/occurrences.ts';
import { parseRule } from '../../src/plans/rule.ts';
import { dayByDay } from './day-by-day.ts';
import { amount } from '../support/amounts.ts';

const take = (schedule: Schedule, from: string, most: number): Occurrence[] => {
  const found: Occurrence[] = [];
  for (const occurrence of occurrencesFrom(schedule, new Date(from))) {
    if (found.push(occurrence) === most) break;
  }
  return found;
};

const plan = (
  rule: string,
  more: Partial<Schedule> & { except?: string[]; until?: string } = {},
): Schedule => {
  const { except = [], until = null, ...rest } = more;
  return {
    start: '2026-01-15T10:00:00',
    end: '2026-01-15T12:00:00',
    timezone: 'UTC',
    ...rest,
    recurrence: { rule, except, until },
    source: null,
  };
};
const dates = (schedule: Schedule, from: string, most: number) =>
  take(schedule, from, most).map(({ key }) => key);

const zones = [
  'UTC',
  'Europe/Paris',
  'Europe/London',
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Pacific/Apia',
];

const weekday = fc.constantFrom('MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU');
const signed = (most: number) => fc.integer({ min: 1, max: most }).chain((n) => fc.constantFrom(n, -n));
const some = <Item>(item: fc.Arbitrary<Item>) =>
  fc.uniqueArray(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(','));
const part = (name: string, value: fc.Arbitrary<string | number>) =>
  fc.option(
    value.map((each) => `${name}=${each}`),
    { nil: null, freq: 2 },
  );

const aRule = fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY').chain((frequency) => {
  const isLong = frequency === 'MONTHLY' || frequency === 'YEARLY';
  const nth = fc.tuple(signed(5), weekday).map(([n, each]) => `${n}${each}`);
  return fc
    .tuple(
      part('INTERVAL', fc.integer({ min: 1, max: 5 })),
      part('BYDAY', some(isLong ? fc.oneof(weekday, nth) : weekday)),
      frequency === 'WEEKLY' ? fc.constant(null) : part('BYMONTHDAY', some(signed(31))),
      part('BYMONTH', some(fc.integer({ min: 1, max: 12 }))),
      part('BYSETPOS', some(signed(4))),
      part('COUNT', fc.integer({ min: 1, max: 30 })),
    )
    .map((parts) => [`FREQ=${frequency}`, ...parts.filter((each) => each !== null)].join(';'))
    .filter((rule) => parseRule(rule).ok);
});
const aDate = fc
  .integer({ min: 0, max: 20 * 365 })
  .map((days) => Temporal.PlainDate.from('2020-01-01').add({ days }).toString());

describe('every rule', () => {
  test('yields the same as asking day by day, over 20 years', () => {
    fc.assert(
      fc.property(aRule, aDate, (rule, first) => {
        const to = Temporal.PlainDate.from(first).add({ years: 20 }).toString();
        const schedule = plan(rule, { start: `${first}T10:00:00`, end: `${first}T11:00:00` });
        const found = dates(schedule, `${first}T00:00:00Z`, 60).filter((date) => date <= to);
        expect(found).toEqual(dayByDay(rule, first, to, 60));
      }),
      { numRuns: amount(40) },
    );
  });

  test('keeps its hour and its length on the wall clock, in ten zones', () => {
    const time = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }));
    fc.assert(
      fc.property(
        fc.constantFrom('FREQ=DAILY', 'FREQ=WEEKLY;BYDAY=SU', 'FREQ=MONTHLY;BYDAY=-1SU'),
        aDate,
        time,
        fc.integer({ min: 1, max: 1440 }),
        fc.constantFrom(...zones),
        (rule, first, [hour, minute], length, timezone) => {
          const begin = Temporal.PlainDate.from(first).toPlainDateTime({ hour, minute });
          const end = begin.add({ minutes: length });
          const schedule = plan(rule, { start: begin.toString(), end: end.toString(), timezone });
          const found = take(schedule, `${first}T00:00:00Z`, 60);
          expect(new Set(found.map(({ startsAt }) => startsAt.getTime())).size).toBe(found.length);
          for (const each of found) {
            const start = Temporal.PlainDateTime.from(each.start);
            expect(start.toPlainTime().equals(begin.toPlainTime())).toBe(true);
            expect(start.until(each.end!).total('minutes')).toBe(length);
            // By the clock on the wall while it is on, it covers every minute that was asked for and that there is.
            const wall = (at: Date) =>
              Temporal.Instant.fromEpochMilliseconds(at.getTime())
                .toZonedDateTimeISO(timezone)
                .toPlainDateTime();
            const isAtMost = (one: Temporal.PlainDateTime, other: Temporal.PlainDateTime) =>
              Temporal.PlainDateTime.compare(one, other) <= 0;
            const exists = start.toZonedDateTime(timezone).toPlainDateTime().equals(start);
            if (exists) expect(isAtMost(wall(each.startsAt), start)).toBe(true);
            expect(isAtMost(Temporal.PlainDateTime.from(each.end!), wall(each.endsAt!))).toBe(true);
            expect(each.endsAt!.getTime()).toBeGreaterThan(each.startsAt.getTime());
          }
        },
      ),
      { numRuns: amount(60) },
    );
  });
});

describe('recipes', () => {
  test('year ends', () => {
    const schedule = plan('FREQ=YEARLY', {
      start: '2026-12-24T18:00:00',
      end: '2027-01-02T08:00:00',
      timezone: 'Europe/Paris',
      except: ['2028-12-24'],
    });
    expect(take(schedule, '2026-12-31T00:00:00Z', 3)).toMatchObject([
      {
        start: '2026-12-24T18:00:00',
        end: '2027-01-02T08:00:00',
        startsAt: new Date('2026-12-24T17:00:00Z'),
        endsAt: new Date('2027-01-02T07:00:00Z'),
      },
      { start: '2027-12-24T18:00:00', end: '2028-01-02T08:00:00' },
      { start: '2029-12-24T18:00:00' },
    ]);
  });

  test.each([
    ['third Saturdays', 'FREQ=MONTHLY;BYDAY=3SA', ['2026-01-17', '2026-02-21', '2026-03-21']],
    [
      'the last business day of the quarter',
      'FREQ=MONTHLY;BYMONTH=3,6,9,12;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1',
      ['2026-03-31', '2026-06-30', '2026-09-30', '2026-12-31', '2027-03-31'],
    ],
    [
      'a release every second Thursday',
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=TH',
      ['2026-01-15', '2026-01-29', '2026-02-12'],
    ],
  ])('%s', (_what, rule, expected) => {
    expect(dates(plan(rule), '2026-01-01T00:00:00Z', expected.length)).toEqual(expected);
  });
});

describe('the fields beside the rule', () => {
  test('an excluded date counts for COUNT; a start that the rule does not yield does not', () => {
    const thursdays = plan('FREQ=WEEKLY;BYDAY=FR;COUNT=3', { except: ['2026-01-23'] });
    expect(dates(thursdays, '2026-01-01T00:00:00Z', 9)).toEqual(['2026-01-16', '2026-01-30']);
  });

  test('until is the last date on which a freeze can begin', () => {
    const daily = plan('FREQ=DAILY', { until: '2026-01-17' });
    expect(dates(daily, '2026-01-16T00:00:00Z', 9)).toEqual(['2026-01-16', '2026-01-17']);
  });

  test('a plan without a rule is one window', () => {
    const once = { ...plan(''), recurrence: null, end: null };
    expect(dates(once, '2030-01-01T00:00:00Z', 9)).toEqual(['2026-01-15']);
  });
});

describe('when clocks change', () => {
  const paris = (start: string, end: string) =>
    plan('FREQ=DAILY', { start: `2026-03-28T${start}`, end: `2026-03-28T${end}`, timezone: 'Europe/Paris' });
  test.each([
    ['02:30:00', '04:00:00', '2026-03-29T01:00:00Z', '2026-03-29T02:00:00Z'],
    ['02:15:00', '02:45:00', '2026-03-29T01:00:00Z', '2026-03-29T01:45:00Z'],
    ['02:30:00', '03:00:00', '2026-03-29T01:00:00Z', '2026-03-29T01:30:00Z'],
  ])('an occurrence from %s to %s of the night they go forward exists', (start, end, startsAt, endsAt) => {
    const [night] = take(paris(start, end), '2026-03-29T00:00:00Z', 1);
    expect(night).toMatchObject({
      start: `2026-03-29T${start}`,
      end: `2026-03-29T${end}`,
      startsAt: new Date(startsAt),
      endsAt: new Date(endsAt),
    });
  });
});

describe('the times that get freezes', () => {
  const count = (rule: string, now: string) => occurrencesToMake(plan(rule), new Date(now)).length;
  test('35 days', () => expect(count('FREQ=DAILY', '2026-02-01T00:00:00Z')).toBe(35));
  test('the next one, however far', () => expect(count('FREQ=YEARLY', '2026-02-01T00:00:00Z')).toBe(1));
  test('an ongoing one and the next', () => expect(count('FREQ=YEARLY', '2026-01-15T11:00:00Z')).toBe(2));
});

describe('expansion', () => {
  test('of rules that never occur ends', () => {
    expect(firstOccurrence(plan('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'))).toBeNull();
    expect(firstOccurrence(plan('FREQ=DAILY;INTERVAL=7;BYDAY=MO'))).toBeNull();
  });

  test('asks few days, for every rule', () => {
    // Each of three expansions goes from 1950 to fifty years ahead at most.
    const most = 3 * 130 * 366;
    fc.assert(
      fc.property(aRule, fc.integer({ min: 1, max: 9999 }), (rule, interval) => {
        const hostile = `${rule.replace(/;(INTERVAL|COUNT)=\d+/g, '')};INTERVAL=${interval};COUNT=1000`;
        const schedule = plan(hostile, { start: '1950-01-31T10:00:00', end: '1950-03-31T10:00:00' });
        const asked = daysAskedBy(() => {
          take(schedule, '2026-01-01T00:00:00Z', 10);
          overlapsItself(schedule);
          firstOccurrence(schedule);
        });
        expect(asked).toBeLessThan(most);
      }),
      {
        numRuns: amount(60),
        examples: [
          ['FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29', 1],
          ['FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29', 999],
        ],
      },
    );
  });
});

/** How many days an expansion looked at: of each it asks the year once. */
function daysAskedBy(work: () => void): number {
  const { getUTCFullYear } = Date.prototype;
  let asked = 0;
  Date.prototype.getUTCFullYear = function () {
    asked++;
    return getUTCFullYear.call(this);
  };
  try {
    work();
  } finally {
    Date.prototype.getUTCFullYear = getUTCFullYear;
  }
  return asked;
}

describe('overlaps', () => {
  test.each([
    ['FREQ=DAILY', '2026-01-16T10:00:00', false],
    ['FREQ=DAILY', '2026-01-16T10:00:01', true],
    ['FREQ=WEEKLY;BYDAY=MO,TH', '2026-01-18T10:00:00', false],
    ['FREQ=WEEKLY;BYDAY=MO,TH', '2026-01-18T11:00:00', true],
    ['FREQ=MONTHLY;BYMONTHDAY=1,29', '2026-01-17T11:00:00', true],
    ['FREQ=YEARLY', '2027-01-15T10:00:00', false],
    ['FREQ=YEARLY', '2027-01-16T10:00:00', true],
  ])('%s until %s: %s', (rule, end, expected) => {
    expect(overlapsItself(plan(rule, { end }))).toBe(expected);
  });
});

test('a skipped date on which nothing would start is told with the nearest start', () => {
  const fridays = (more: object) => exceptionsOfNothing(plan('FREQ=WEEKLY;BYDAY=FR', more));
  expect(fridays({ except: ['2026-01-16', '2026-01-23'] })).toEqual([]);
  expect(fridays({ except: ['2027-01-07', '2026-01-16', '2026-12-24', '2025-12-26', '2026-01-19'] })).toEqual(
    [
      { date: '2025-12-26', nearest: '2026-01-16' },
      { date: '2026-01-19', nearest: '2026-01-16' },
      { date: '2026-12-24', nearest: '2026-12-25' },
      { date: '2027-01-07', nearest: '2027-01-08' },
    ],
  );
  // What comes after the end of the rule has the last start near it.
  expect(fridays({ except: ['2026-12-25', '2026-12-25'], until: '2026-03-01' })).toEqual([
    { date: '2026-12-25', nearest: '2026-02-27' },
  ]);
  expect(exceptionsOfNothing(plan('FREQ=DAILY;COUNT=2', { except: ['2026-01-17'] }))).toEqual([
    { date: '2026-01-17', nearest: '2026-01-16' },
  ]);
});
