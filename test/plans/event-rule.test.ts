import fc from 'fast-check';
import { expect, test } from 'vitest';
import { calendarObjects } from '../../src/plans/source/calendar-objects.ts';
import { contentLines } from '../../src/plans/source/content-lines.ts';
import { datesOf, readRule } from '../../src/plans/source/event-rule.ts';
import { dateOf } from '../../src/plans/source/wall-clock.ts';
import { amount } from '../support/amounts.ts';
import { dayByDay } from './day-by-day.ts';
import { event, file } from './calendar-texts.ts';

// Rules of calendars have parts that rules of plans do without.

const ruleOf = (rule: string) => {
  const { events } = calendarObjects(contentLines(file(event(`RRULE:${rule}`)), null));
  return readRule(events[0]!.properties.get('RRULE')![0]!);
};

const weekday = fc.constantFrom('MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU');
const signed = (most: number) => fc.integer({ min: 1, max: most }).chain((n) => fc.constantFrom(n, -n));
const some = <Item>(item: fc.Arbitrary<Item>) => fc.uniqueArray(item, { minLength: 1, maxLength: 3 });
const part = (name: string, value: fc.Arbitrary<unknown>) =>
  fc.option(value.map((each) => `${name}=${String(each)}`));
const aRule = fc
  .constantFrom('WEEKLY', 'YEARLY')
  .chain((frequency) =>
    fc
      .tuple(
        part('INTERVAL', fc.integer({ min: 1, max: 3 })),
        part('WKST', weekday),
        part('BYDAY', some(weekday)),
        ...(frequency === 'YEARLY'
          ? [part('BYWEEKNO', some(signed(53))), part('BYYEARDAY', some(signed(366)))]
          : []),
        part('COUNT', fc.integer({ min: 1, max: 20 })),
      )
      .map((parts) => [`FREQ=${frequency}`, ...parts.filter((each) => each !== null)].join(';')),
  );

test('weeks that begin on any day, and weeks and days of a year, are the same as asking day by day', () => {
  const first = fc
    .integer({ min: 0, max: 800 })
    .map((days) => dateOf(Date.parse('2024-01-01') + days * 86_400_000));
  fc.assert(
    fc.property(aRule, first, (rule, start) => {
      const wall = Date.parse(start);
      const dates = datesOf(ruleOf(rule), wall, wall, Date.parse('2028-12-31'));
      expect(dates.map(dateOf).take(20).toArray()).toEqual(dayByDay(rule, start, '2028-12-31', 20));
    }),
    { numRuns: amount(60) },
  );
});
