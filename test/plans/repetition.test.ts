import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dayNames,
  datesLeftOut,
  describeRule,
  everyWeek,
  fieldsOfRule,
  repetitionOf,
  type RepetitionFields,
  ruleOf,
  ruleOfFields,
  type Unit,
  units,
} from '../../src/plans/repetition.ts';

// 2026-12-18 is the third Friday of its month.
const start = '2026-12-18T18:00:00';

test.each([
  ['FREQ=DAILY', 'Every day'],
  ['FREQ=DAILY;INTERVAL=3', 'Every 3 days'],
  ['FREQ=WEEKLY', 'Every week'],
  ['FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', 'Monday to Friday'],
  ['FREQ=WEEKLY;INTERVAL=2;BYDAY=FR', 'Every 2 weeks on Friday'],
  ['FREQ=WEEKLY;BYDAY=FR;INTERVAL=2', 'Every 2 weeks on Friday'],
  ['FREQ=WEEKLY;BYDAY=SA,TU,FR', 'Every week on Tuesday, Friday and Saturday'],
  ['FREQ=MONTHLY', 'Every month on day 18'],
  ['FREQ=MONTHLY;BYDAY=3FR', 'Every month on the third Friday'],
  ['FREQ=MONTHLY;INTERVAL=6;BYDAY=3FR', 'Every 6 months on the third Friday'],
  ['FREQ=YEARLY', 'Every year'],
  ['rrule:freq=weekly;interval=1;byday=sa,fr;', 'Every week on Friday and Saturday'],
  ['FREQ=MONTHLY;BYDAY=-1FR', 'Every month on the last Friday'],
  // What forms have no fields for.
  ['FREQ=MONTHLY;BYDAY=-1SA', 'Every month on the last Saturday'],
  ['FREQ=MONTHLY;BYDAY=2TU', 'Every month on the second Tuesday'],
  ['FREQ=MONTHLY;INTERVAL=3;BYDAY=2TU', 'Every 3 months on the second Tuesday'],
  ['FREQ=MONTHLY;BYDAY=1MO,3MO', 'Every month on the first Monday and the third Monday'],
  ['FREQ=MONTHLY;BYDAY=5TU', 'Every month on the fifth Tuesday, in months that have one'],
  ['FREQ=MONTHLY;BYDAY=-2TU', 'Every month on the second to last Tuesday'],
  ['FREQ=MONTHLY;BYDAY=TU,TH', 'Every month on every Tuesday and Thursday'],
  ['FREQ=MONTHLY;BYMONTHDAY=1', 'Every month on day 1'],
  ['FREQ=MONTHLY;BYMONTHDAY=1,15', 'Every month on day 1 and day 15'],
  ['FREQ=MONTHLY;BYMONTHDAY=31', 'Every month on day 31, in months that have one'],
  ['FREQ=MONTHLY;BYMONTHDAY=-1', 'Every month on the last day'],
  ['FREQ=MONTHLY;BYMONTHDAY=-12', 'Every month on day 12 from the end'],
  ['FREQ=MONTHLY;BYSETPOS=1;BYDAY=MO', 'Every month on the first Monday'],
  ['FREQ=MONTHLY;BYSETPOS=-1;BYDAY=MO,TU,WE,TH,FR', 'Every month on the last weekday'],
  ['FREQ=MONTHLY;BYSETPOS=1,-1;BYDAY=SU,SA', 'Every month on the first and the last weekend day'],
  ['FREQ=MONTHLY;BYMONTHDAY=1;BYMONTH=3,6', 'Every month on day 1 in March and June'],
  ['FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24', 'Every year on day 24 of December'],
  ['FREQ=YEARLY;BYMONTH=11;BYDAY=4TH', 'Every year on the fourth Thursday of November'],
  ['FREQ=WEEKLY;COUNT=3', 'Every week, 3 times'],
  ['FREQ=MONTHLY;BYDAY=2TU;COUNT=1', 'Every month on the second Tuesday, once'],
])('%s is "%s"', (rule, words) => expect(describeRule(rule, start)).toBe(words));

test.each([
  'FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13',
  'FREQ=MONTHLY;BYSETPOS=9;BYDAY=MO,TU,WE',
  'FREQ=YEARLY;BYDAY=20MO',
  'FREQ=YEARLY;BYMONTHDAY=24',
  'FREQ=DAILY;BYMONTH=12',
  'FREQ=MONTHLY;BYSETPOS=1;BYDAY=MO,WE',
])('%s stays a rule', (rule) => expect(describeRule(rule, start)).toBe(null));

const short = 'February, April, June, September and November';

test.each<[string, string, string | null, string[]]>([
  ['2026-01-31', 'FREQ=MONTHLY', 'Every month on day 31, in months that have one', [`a day 31: ${short}.`]],
  ['2026-01-30', 'FREQ=MONTHLY', 'Every month on day 30, in months that have one', ['a day 30: February.']],
  [
    '2026-01-29',
    'FREQ=MONTHLY',
    'Every month on day 29, in months that have one',
    ['a day 29: February, except in leap years.'],
  ],
  [
    '2026-03-31',
    'FREQ=MONTHLY;INTERVAL=6',
    'Every 6 months on day 31, in months that have one',
    ['day 31: September.'],
  ],
  ['2026-01-31', 'FREQ=MONTHLY;INTERVAL=12', 'Every 12 months on day 31, in months that have one', []],
  ['2026-01-28', 'FREQ=MONTHLY', 'Every month on day 28', []],
  [
    '2026-01-01',
    'FREQ=MONTHLY;BYMONTHDAY=30,31',
    'Every month on day 30 and day 31, in months that have one',
    ['a day 30: February.', `a day 31: ${short}.`],
  ],
  ['2026-01-01', 'FREQ=MONTHLY;BYMONTHDAY=-1', 'Every month on the last day', []],
  ['2026-01-30', 'FREQ=MONTHLY;BYDAY=5FR', 'Every month on the fifth Friday, in months that have one', []],
  [
    '2028-02-29',
    'FREQ=YEARLY',
    'Every year on 29 February, in leap years',
    ['29: February, except in leap years.'],
  ],
  ['2026-12-31', 'FREQ=YEARLY', 'Every year', []],
  ['2026-01-31', 'FREQ=DAILY', 'Every day', []],
])('from %s, %s says which dates do not exist', (first, rule, words, leftOut) => {
  expect(describeRule(rule, first)).toBe(words);
  expect(datesLeftOut(rule, first)).toEqual(leftOut.map((each) => expect.stringContaining(each)));
});

const month: Partial<RepetitionFields> = { unit: 'month', monthlyOn: 'weekday' };

test.each<[Partial<RepetitionFields>, string | null]>([
  [{}, 'FREQ=WEEKLY'],
  [{ every: '2', days: ['FR'] }, 'FREQ=WEEKLY;INTERVAL=2;BYDAY=FR'],
  [{ days: ['SA', 'MO'] }, 'FREQ=WEEKLY;BYDAY=MO,SA'],
  // What the choices of another unit say does not count.
  [{ unit: 'day', every: '9999', days: ['FR'] }, 'FREQ=DAILY;INTERVAL=9999'],
  [{ unit: 'year', monthlyOn: 'weekday' }, 'FREQ=YEARLY'],
  [{ ...month, every: '6' }, 'FREQ=MONTHLY;INTERVAL=6;BYDAY=3FR'],
  [{ ...month, monthlyOn: 'last' }, 'FREQ=MONTHLY;BYDAY=-1FR'],
  ...['', '0', '-1', '1.5', '2 ', '02', 'x', '10000'].map((every): [Partial<RepetitionFields>, null] => [
    { every },
    null,
  ]),
])('the fields %j say %s', (fields, rule) =>
  expect(ruleOfFields({ ...everyWeek, ...fields }, start)).toBe(rule),
);

test('without a start, the first Monday stands in for its day', () => {
  for (const absent of ['', '2026-02-30T10:00'])
    expect(ruleOfFields({ ...everyWeek, ...month }, absent)).toBe('FREQ=MONTHLY;BYDAY=1MO');
});

test.each(['FREQ=MONTHLY;BYDAY=-1SA', 'FREQ=WEEKLY;COUNT=3', 'nothing'])('no fields say %s', (rule) =>
  expect(fieldsOfRule(rule, start)).toBe(null),
);

describe('for every repetition', () => {
  const repetition = fc
    .record({
      every: fc.integer({ min: 1, max: 99 }),
      unit: fc.constantFrom(...(Object.keys(units) as Unit[])),
      days: fc.uniqueArray(fc.constantFrom(...dayNames)),
      monthlyOn: fc.constantFrom('date' as const, 'weekday' as const, 'last' as const),
    })
    .map((all) => ({ ...all, days: all.unit === 'week' ? all.days : [] }));
  test('its rule says the same again', () =>
    fc.assert(
      fc.property(repetition, (said) => {
        const rule = ruleOf(said, start);
        expect(ruleOf(repetitionOf(rule, start)!, start)).toBe(rule);
        expect(describeRule(rule, start)).toMatch(/^(Every|Monday to Friday)/);
      }),
    ));
  test('the fields of its rule make the rule again', () =>
    fc.assert(
      fc.property(repetition, (said) => {
        const rule = ruleOf(said, start);
        const fields = fieldsOfRule(rule, start)!;
        expect(fields).toMatchObject({ every: String(said.every), unit: said.unit });
        expect(ruleOfFields(fields, start)).toBe(rule);
      }),
    ));
});
