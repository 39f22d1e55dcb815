import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dayNames,
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
])('%s is "%s"', (rule, words) => expect(describeRule(rule, start)).toBe(words));

test.each([
  'FREQ=MONTHLY;BYDAY=-1FR',
  'FREQ=MONTHLY;BYDAY=2FR',
  'FREQ=WEEKLY;COUNT=3',
  'FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24',
  'FREQ=MONTHLY;BYSETPOS=1;BYDAY=MO',
])('%s stays a rule', (rule) => expect(describeRule(rule, start)).toBe(null));

const month: Partial<RepetitionFields> = { unit: 'month', monthlyOn: 'weekday' };

test.each<[Partial<RepetitionFields>, string | null]>([
  [{}, 'FREQ=WEEKLY'],
  [{ every: '2', days: ['FR'] }, 'FREQ=WEEKLY;INTERVAL=2;BYDAY=FR'],
  [{ days: ['SA', 'MO'] }, 'FREQ=WEEKLY;BYDAY=MO,SA'],
  // What the choices of another unit say does not count.
  [{ unit: 'day', every: '9999', days: ['FR'] }, 'FREQ=DAILY;INTERVAL=9999'],
  [{ unit: 'year', monthlyOn: 'weekday' }, 'FREQ=YEARLY'],
  [{ ...month, every: '6' }, 'FREQ=MONTHLY;INTERVAL=6;BYDAY=3FR'],
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

test.each(['FREQ=MONTHLY;BYDAY=-1FR', 'FREQ=WEEKLY;COUNT=3', 'nothing'])('no fields say %s', (rule) =>
  expect(fieldsOfRule(rule, start)).toBe(null),
);

describe('for every repetition', () => {
  const repetition = fc
    .record({
      every: fc.integer({ min: 1, max: 99 }),
      unit: fc.constantFrom(...(Object.keys(units) as Unit[])),
      days: fc.uniqueArray(fc.constantFrom(...dayNames)),
      monthlyOn: fc.constantFrom('date' as const, 'weekday' as const),
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
