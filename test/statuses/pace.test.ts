import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PaceRange } from '../../src/config-values.ts';
import {
  afterAccepted,
  afterRefusal,
  firstPace,
  isPressed,
  type Pace,
  paceAt,
  writePlacesIn,
  waitFor,
} from '../../src/statuses/plan-write.ts';

const at = (milliseconds: number) => new Date(milliseconds);
const fixed = (perMinute: number): PaceRange => ({ least: perMinute, most: perMinute });

/** Takes a place for each wish, after its pause and as soon as the pace allows; the times of all, from 0. */
function write(range: PaceRange, pauses: number[]): number[] {
  let now = 0;
  let pace = firstPace(range, at(0));
  return pauses.map((pause) => {
    now += pause;
    for (;;) {
      pace = paceAt(pace, range, at(now));
      const wait = waitFor(pace);
      if (wait === 0) break;
      now += wait;
    }
    pace = { ...pace, tokens: pace.tokens - 1 };
    return now;
  });
}

/** The most within any minute, whichever way it is laid. */
const busiestMinute = (times: number[]): number =>
  Math.max(...times.map((start) => times.filter((time) => time >= start && time < start + 60_000).length));

test('no minute has more writes than allowed, no matter when they are requested', () => {
  const pause = fc.oneof(
    { weight: 15, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 90_000 }) },
  );
  const pauses = fc.array(pause, { minLength: 100, maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 75 }), pauses, (perMinute, wishes) => {
      const times = write(fixed(perMinute), wishes);
      expect(busiestMinute([...times, Infinity])).toBeLessThanOrEqual(perMinute);
    }),
    { numRuns: 40 },
  );
});

test('a quarter goes at once, and three hundred take four minutes at 75', () => {
  const times = write(fixed(75), Array<number>(300).fill(0));
  expect(times.filter((time) => time === 0)).toHaveLength(18);
  expect(times.at(-1)).toBeLessThan(5 * 60_000);
});

test('a replica whose clock is behind gains nothing by it', () => {
  const used = { ...firstPace(fixed(75), at(0)), tokens: 0, countedAt: at(10_000) };
  const first = paceAt(used, fixed(75), at(4_000));
  expect(waitFor(first)).toBeGreaterThan(0);
  expect(first.countedAt).toEqual(at(10_000));
  expect(waitFor(paceAt(first, fixed(75), at(10_000)))).toBeGreaterThan(0);
});

describe('what it learns', () => {
  /** Some minutes of somebody's life: writes that GitHub takes, a refusal, or rest. */
  const event = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('accepted' as const), writes: fc.nat(25) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('refused' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('rest' as const), ms: fc.nat(7_200_000) }) },
  );
  const range = fc
    .tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 0, max: 300 }))
    .map(([least, more]) => ({ least, most: least + more }));

  const live = (
    within: PaceRange,
    events: (typeof event extends fc.Arbitrary<infer Event> ? Event : never)[],
    see: (before: Pace, after: Pace, kind: string, now: number) => void,
  ) => {
    let now = 0;
    let pace = firstPace(within, at(0));
    for (const each of events) {
      const before = pace;
      if (each.kind === 'rest') now += each.ms;
      else now += 5_000;
      if (each.kind === 'accepted') pace = afterAccepted(pace, each.writes, within, at(now));
      else if (each.kind === 'refused') pace = afterRefusal(pace, within, at(now));
      else pace = paceAt(pace, within, at(now));
      see(before, pace, each.kind, now);
    }
  };

  test('never leaves its range, rises between refusals and never beyond what was refused within the hour', () => {
    fc.assert(
      fc.property(range, fc.array(event, { maxLength: 300 }), (within, events) =>
        live(within, events, (before, after, kind, now) => {
          expect(after.perMinute).toBeGreaterThanOrEqual(within.least);
          expect(after.perMinute).toBeLessThanOrEqual(within.most);
          if (kind === 'refused') {
            expect(after.perMinute).toBe(Math.max(within.least, before.perMinute / 2));
            return;
          }
          expect(after.perMinute).toBeGreaterThanOrEqual(before.perMinute);
          const { refused } = before;
          if (refused && now < refused.at.getTime() + 3_600_000)
            expect(after.perMinute).toBeLessThanOrEqual(Math.max(before.perMinute, 0.95 * refused.perMinute));
        }),
      ),
    );
  });

  test('a range of one pace never moves', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.array(event), (perMinute, events) =>
        live(fixed(perMinute), events, (_before, after) => expect(after.perMinute).toBe(perMinute)),
      ),
    );
  });

  test('a minute of writing raises it by 5 %, or by 20 % below what GitHub is known to accept', () => {
    const within = { least: 10, most: 170 };
    const pace = firstPace(within, at(0));
    expect(afterAccepted(pace, 75, within, at(0)).perMinute).toBeCloseTo(75 * 1.05);
    const refused = afterRefusal(pace, within, at(0));
    expect(refused.perMinute).toBe(37.5);
    expect(afterAccepted(refused, 10, within, at(0)).perMinute).toBeCloseTo(39.5);
  });

  test('a new ceiling holds from the next write on', () => {
    const pace = firstPace({ least: 10, most: 170 }, at(0));
    expect(paceAt(pace, { least: 10, most: 20 }, at(0))).toMatchObject({ perMinute: 20, tokens: 5 });
    expect(writePlacesIn(paceAt(pace, { least: 10, most: 20 }, at(0)))).toBe(5);
  });

  test('writes press when they come after those that went out at once', () => {
    const pace = firstPace({ least: 10, most: 170 }, at(0));
    expect(isPressed(pace)).toBe(false);
    expect(isPressed({ ...pace, tokens: 3 })).toBe(true);
  });
});
