import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { layOutTimeline, narrowest, type Span } from '../../../src/pages/timeline/lay-out-timeline.ts';
import { dayBefore, windowAround, type Zoom, zooms } from '../../../src/pages/timeline/timeline-window.ts';
import { dayOf } from '../../../src/pages/calendar/calendar-window.ts';

const hour = 3_600_000;
const never = new Date('1970-01-01T00:00:00Z');
const windowOf = (zoom: Zoom, day: string, zone = 'UTC') =>
  windowAround(zoom, Temporal.PlainDate.from(day), zone);
const span = (startsAt: string, endsAt: string | null, id = startsAt): Span => ({
  id,
  startsAt: new Date(startsAt),
  endsAt: endsAt === null ? null : new Date(endsAt),
});

describe('the window', () => {
  test.each([
    ['week', '2026-11-16', '2026-11-16', '2026-11-23'],
    ['week', '2026-11-22', '2026-11-16', '2026-11-23'],
    ['week', '2027-01-01', '2026-12-28', '2027-01-04'],
    ['month', '2026-02-28', '2026-02-01', '2026-03-01'],
    ['month', '2028-02-29', '2028-02-01', '2028-03-01'],
    ['quarter', '2026-12-31', '2026-10-01', '2027-01-01'],
    ['quarter', '2026-01-01', '2026-01-01', '2026-04-01'],
  ] as const)('the %s of %s is from %s to %s', (zoom, day, first, next) => {
    const window = windowOf(zoom, day);
    expect([window.firstDay, window.nextDay].map(String)).toEqual([first, next]);
  });

  test.each([
    ['Europe/Paris', '2026-10-19', 169],
    ['Europe/Paris', '2026-03-23', 167],
    ['America/New_York', '2026-10-26', 169],
    ['Australia/Lord_Howe', '2026-03-30', 168.5],
    ['UTC', '2026-10-19', 168],
  ])('a week in %s from %s lasts %d hours', (zone, day, hours) => {
    const { from, to } = windowOf('week', day, zone);
    expect((to.getTime() - from.getTime()) / hour).toBe(hours);
  });

  test('the earlier window ends where this one begins, and the later one begins where this one ends', () => {
    const day = fc.date({ min: new Date('1971-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(day, fc.constantFrom(...zooms), fc.constantFrom(...zones), (instant, zoom, zone) => {
        const window = windowAround(zoom, dayOf(instant, zone), zone);
        expect(window.from <= instant && instant < window.to).toBe(true);
        expect(windowAround(zoom, dayBefore(window), zone).to).toEqual(window.from);
        expect(windowAround(zoom, window.nextDay, zone).from).toEqual(window.to);
      }),
    );
  });
});

describe('ticks', () => {
  test('stand at the beginning of each day, also after one of 25 hours', () => {
    const { ticks } = layOutTimeline([], windowOf('week', '2026-10-19', 'Europe/Paris'), never);
    expect(ticks.map(({ day }) => day.toString())).toEqual(
      [19, 20, 21, 22, 23, 24, 25].map((date) => `2026-10-${date}`),
    );
    expect(ticks.map(({ at }) => Math.round(at * 169))).toEqual([0, 24, 48, 72, 96, 120, 144]);
    expect(windowOf('week', '2026-10-19', 'Europe/Paris').to).toEqual(new Date('2026-10-25T23:00:00Z'));
  });

  test('if a day has no midnight, at its first moment', () => {
    const { ticks } = layOutTimeline([], windowOf('week', '2018-11-04', 'America/Sao_Paulo'), never);
    expect(ticks.map(({ at }) => Math.round(at * 167))).toEqual([0, 24, 48, 72, 96, 120, 144]);
  });

  test('none for a day that the zone left out', () => {
    const { ticks } = layOutTimeline([], windowOf('week', '2011-12-30', 'Pacific/Apia'), never);
    expect(ticks.map(({ day }) => day.day)).toEqual([26, 27, 28, 29, 31, 1]);
  });

  test('of a quarter: its Mondays', () => {
    const { ticks } = layOutTimeline([], windowOf('quarter', '2026-11-16', 'Asia/Tokyo'), never);
    expect(ticks).toHaveLength(13);
    expect(ticks[0]!.day.toString()).toBe('2026-10-05');
    expect(ticks.every(({ day }) => day.dayOfWeek === 1)).toBe(true);
  });

  test('of a month: its days', () => {
    const { ticks } = layOutTimeline([], windowOf('month', '2026-02-10', 'Asia/Tokyo'), never);
    expect(ticks.map(({ day }) => day.day)).toEqual(Array.from({ length: 28 }, (_, index) => index + 1));
  });
});

describe('bars', () => {
  const week = windowOf('week', '2026-11-16');
  const barOf = (one: Span) => layOutTimeline([one], week, never).lanes[0]?.[0];

  test.each([
    ['within', span('2026-11-17T00:00:00Z', '2026-11-18T00:00:00Z'), [1 / 7, 2 / 7], false, false],
    ['from before', span('2026-11-01T00:00:00Z', '2026-11-18T12:00:00Z'), [0, 5 / 14], true, false],
    ['until after', span('2026-11-22T00:00:00Z', '2026-12-01T00:00:00Z'), [6 / 7, 1], false, true],
    ['without end', span('2026-11-22T00:00:00Z', null), [6 / 7, 1], false, true],
    ['around it', span('2026-01-01T00:00:00Z', null), [0, 1], true, true],
    ['exactly it', span('2026-11-16T00:00:00Z', '2026-11-23T00:00:00Z'), [0, 1], false, false],
    ['of a second', span('2026-11-16T00:00:00Z', '2026-11-16T00:00:01Z'), [0, narrowest], false, false],
    [
      'of the last second',
      span('2026-11-22T23:59:59Z', '2026-11-23T00:00:00Z'),
      [1 - narrowest, 1],
      false,
      false,
    ],
  ] as const)('%s', (_, one, position, beginsBefore, endsAfter) => {
    const bar = barOf(one)!;
    expect(bar.from).toBeCloseTo(position[0], 12);
    expect(bar.to).toBeCloseTo(position[1], 12);
    expect(bar).toMatchObject({ beginsBefore, endsAfter });
  });

  test.each([
    ['ends as it begins', span('2026-11-01T00:00:00Z', '2026-11-16T00:00:00Z')],
    ['begins as it ends', span('2026-11-23T00:00:00Z', null)],
    ['was deleted before it began', span('2026-11-20T00:00:00Z', '2026-11-17T00:00:00Z')],
  ])('none for what %s', (_, one) => {
    expect(barOf(one)).toBeUndefined();
  });

  test('one after another share a lane; overlapping ones do not', () => {
    const spans = [
      span('2026-11-16T00:00:00Z', '2026-11-18T00:00:00Z', 'a'),
      span('2026-11-17T00:00:00Z', '2026-11-19T00:00:00Z', 'b'),
      span('2026-11-18T00:00:00Z', '2026-11-20T00:00:00Z', 'c'),
      span('2026-11-19T00:00:00Z', null, 'd'),
    ];
    const { lanes } = layOutTimeline(spans.toReversed(), week, never);
    expect(lanes.map((lane) => lane.map((bar) => bar.span.id).join(' '))).toEqual(['a c', 'b d']);
  });

  test('now is marked within the window only', () => {
    const now = (instant: string) => layOutTimeline([], week, new Date(instant)).now;
    expect(now('2026-11-16T00:00:00Z')).toBe(0);
    expect(now('2026-11-19T12:00:00Z')).toBe(0.5);
    expect(now('2026-11-23T00:00:00Z')).toBeNull();
    expect(now('2026-11-15T23:59:59Z')).toBeNull();
  });
});

const zones = ['UTC', 'Europe/Paris', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'];
const aWindow = fc
  .tuple(
    fc.constantFrom(...zooms),
    fc.integer({ min: 0, max: 800 }).map((days) => Temporal.PlainDate.from('2025-01-01').add({ days })),
    fc.constantFrom(...zones),
  )
  .map((parts) => windowAround(...parts));

/** A window with spans in and around it: some short, some touching, some without end. */
const scene = aWindow.chain((window) => {
  const length = window.to.getTime() - window.from.getTime();
  const instant = fc
    .integer({ min: -40, max: 140 })
    .map((percent) => new Date(window.from.getTime() + Math.round((length * percent) / 100)));
  const duration = fc.oneof(
    fc.constant(null),
    fc.integer({ min: 1, max: 5 * 60_000 }),
    fc.integer({ min: 1, max: length }),
  );
  const spans = fc.array(fc.tuple(instant, duration), { maxLength: 25 }).map((all) =>
    all.map(([startsAt, lasts], index): Span => ({
      id: String(index),
      startsAt,
      endsAt: lasts === null ? null : new Date(startsAt.getTime() + lasts),
    })),
  );
  return spans.map((all) => ({ window, spans: all }));
});
const check = (property: (scene: { window: ReturnType<typeof windowOf>; spans: Span[] }) => void) =>
  fc.assert(fc.property(scene, property), { numRuns: 500 });

describe('whatever the freezes', () => {
  test('each freeze that touches the window is drawn once, and no other', () => {
    check(({ window, spans }) => {
      const expected = spans
        .filter(({ startsAt, endsAt }) => startsAt < window.to && (!endsAt || endsAt > window.from))
        .map(({ id }) => id);
      const drawn = layOutTimeline(spans, window, never)
        .lanes.flat()
        .map((bar) => bar.span.id);
      expect(drawn.toSorted()).toEqual(expected.toSorted());
    });
  });

  test('bars of one lane never overlap, and every position is from 0 to 1', () => {
    check(({ window, spans }) => {
      for (const lane of layOutTimeline(spans, window, never).lanes) {
        let free = 0;
        for (const { from, to } of lane) {
          expect(from).toBeGreaterThanOrEqual(free);
          expect(to).toBeGreaterThan(from);
          free = to;
        }
        expect(free).toBeLessThanOrEqual(1);
      }
    });
  });

  test('there are as many lanes as bars at the fullest place, and no more', () => {
    check(({ window, spans }) => {
      const { lanes } = layOutTimeline(spans, window, never);
      const bars = lanes.flat();
      const at = (place: number) => bars.filter(({ from, to }) => from <= place && place < to).length;
      expect(lanes.length).toBe(Math.max(0, ...bars.map(({ from }) => at(from))));
    });
  });

  test('positions follow time', () => {
    check(({ window, spans }) => {
      const { lanes, ticks } = layOutTimeline(spans, window, never);
      const bars = lanes.flat();
      const endOf = ({ span: { endsAt } }: (typeof bars)[number]) => endsAt?.getTime() ?? Infinity;
      for (const one of bars) {
        for (const other of bars) {
          if (one.span.startsAt > other.span.startsAt) continue;
          expect(one.from).toBeLessThanOrEqual(other.from);
          if (endOf(one) <= endOf(other)) expect(one.to).toBeLessThanOrEqual(other.to);
        }
      }
      expect(ticks.every(({ at }, index) => at >= 0 && at < 1 && at > (ticks[index - 1]?.at ?? -1))).toBe(
        true,
      );
    });
  });
});
