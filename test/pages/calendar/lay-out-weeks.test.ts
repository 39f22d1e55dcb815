import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { layOutMonth, type Stay, windowAt } from '../../../src/pages/calendar/calendar-window.ts';

const day = (text: string) => Temporal.PlainDate.from(text);
const stay = (first: string, last: string | null, rank = 0): Stay => ({
  rank,
  startsAt: new Date(`${first}T10:00:00Z`),
  firstDay: day(first),
  lastDay: last === null ? null : day(last),
});

test('a month begins on the Monday before it and ends on the Sunday after it', () => {
  const weeks = layOutMonth(day('2026-12-15'), [], 5);
  expect(weeks.map(({ days }) => `${days[0]} ${days[6]}`)).toEqual([
    '2026-11-30 2026-12-06',
    '2026-12-07 2026-12-13',
    '2026-12-14 2026-12-20',
    '2026-12-21 2026-12-27',
    '2026-12-28 2027-01-03',
  ]);
});

test('a February of four weeks that begins on a Monday has four', () =>
  expect(layOutMonth(day('2027-02-01'), [], 5)).toHaveLength(4));

test('a freeze over weeks is a bar in each, open where it goes on', () => {
  const weeks = layOutMonth(day('2026-12-01'), [stay('2026-12-23', '2027-01-02')], 5);
  const parts = weeks.map(({ lanes }) => lanes[0]?.[0]);
  expect(parts.slice(0, 3)).toEqual([undefined, undefined, undefined]);
  expect(parts[3]).toMatchObject({ from: 3, to: 7, beginsBefore: false, endsAfter: true });
  expect(parts[4]).toMatchObject({ from: 1, to: 6, beginsBefore: true, endsAfter: false });
});

test('what has no end goes on in every later week', () => {
  const weeks = layOutMonth(day('2026-12-01'), [stay('2026-12-09', null)], 5);
  expect(weeks.map(({ lanes }) => lanes.length)).toEqual([0, 1, 1, 1, 1]);
  expect(weeks.at(-1)!.lanes[0]![0]).toMatchObject({ from: 1, to: 7, endsAfter: true });
});

test('what finds no lane is counted on each of its days', () => {
  const same = [1, 2, 3].map(() => stay('2026-12-08', '2026-12-09'));
  const week = layOutMonth(day('2026-12-01'), same, 2)[1]!;
  expect([week.lanes.length, week.hidden]).toEqual([2, [0, 1, 1, 0, 0, 0, 0]]);
});

test('the lowest ranks find lanes first, whatever began before them', () => {
  const over = [1, 2, 3].map(() => stay('2026-12-07', '2026-12-08', 2));
  const [comes, goesOn] = [stay('2026-12-08', '2026-12-08', 1), stay('2026-12-08', null, 0)];
  const week = layOutMonth(day('2026-12-01'), [...over, comes, goesOn], 2)[1]!;
  expect(week.lanes.map((lane) => lane.map(({ stay }) => stay))).toEqual([[goesOn], [comes]]);
  expect(week.hidden).toEqual([3, 3, 0, 0, 0, 0, 0]);
});

test('every day of every freeze is drawn or counted, and bars of a lane never overlap', () => {
  const days = fc.integer({ min: -40, max: 70 }).map((days) => day('2026-12-01').add({ days }));
  const stays = fc.array(
    fc.tuple(days, fc.option(fc.nat(60)), fc.nat(2)).map(([firstDay, length, rank]): Stay => ({
      rank,
      startsAt: new Date(firstDay.toString()),
      firstDay,
      lastDay: length === null ? null : firstDay.add({ days: length }),
    })),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(stays, fc.integer({ min: 1, max: 6 }), (all, most) => {
      for (const { days, lanes, hidden } of layOutMonth(day('2026-12-01'), all, most)) {
        const drawn = days.map(
          (_, index) => lanes.flat().filter(({ from, to }) => from <= index + 1 && index + 1 <= to).length,
        );
        const wanted = days.map(
          (each) =>
            all.filter(
              ({ firstDay, lastDay }) =>
                Temporal.PlainDate.compare(firstDay, each) <= 0 &&
                (lastDay === null || Temporal.PlainDate.compare(each, lastDay) <= 0),
            ).length,
        );
        expect(drawn.map((count, index) => count + hidden[index]!)).toEqual(wanted);
        expect(lanes.length).toBeLessThanOrEqual(most);
        for (const lane of lanes) {
          const inOrder = lane.toSorted((one, other) => one.from - other.from);
          for (const [index, { from }] of inOrder.entries())
            if (index > 0) expect(from).toBeGreaterThan(inOrder[index - 1]!.to);
        }
      }
    }),
  );
});

test.each([
  ['Europe/Paris', '2026-10-24', '2026-09-27T22:00:00.000Z', '2026-11-01T23:00:00.000Z'],
  ['America/New_York', '2026-12-01', '2026-11-30T05:00:00.000Z', '2027-01-04T05:00:00.000Z'],
])('in %s the month of %s is from %s to %s, with its whole weeks', (zone, at, from, to) => {
  const window = windowAt('month', day(at), zone);
  expect([window.from, window.to].map((instant) => instant.toISOString())).toEqual([from, to]);
});

test('a quarter has the month and the next two, over a new year as well', () =>
  expect(windowAt('quarter', day('2026-12-24'), 'UTC').months.map(String)).toEqual([
    '2026-12-01',
    '2027-01-01',
    '2027-02-01',
  ]));
