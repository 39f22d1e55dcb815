import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isContested, isUsedUp, pauseAfter, writeTimesOf } from '../../src/statuses/plan-write.ts';

describe('one last status is written', () => {
  test.each([
    [450, 449, false],
    [449, 451, true],
    [450, 450, false],
    [899, 1, false],
    [989, 0, false],
    [990, 0, true],
    [0, 899, false],
    [0, 900, true],
    [400, 590, true],
  ])('after %i of ours and %i of others: %s', (writes, overwrites, expected) => {
    expect(isUsedUp({ writes, overwrites })).toBe(expected);
  });
});

const hour = 3_600_000;

test('against any overwriting, the same text is repeated at most 20 times in any hour', () => {
  const waits = fc.array(fc.integer({ min: 0, max: 30 * 60_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(fc.oneof(waits, fc.constant(Array<number>(200).fill(0))), (overwrittenAfter) => {
      let now = 0;
      let known = { timesWritten: 1, repeatAfter: new Date(0) };
      const repeats: number[] = [];
      for (const wait of overwrittenAfter) {
        now = Math.max(now + wait, known.repeatAfter.getTime());
        repeats.push(now);
        const timesWritten = writeTimesOf(known, new Date(now)) + 1;
        known = { timesWritten, repeatAfter: new Date(now + pauseAfter(timesWritten)) };
      }
      for (const from of repeats)
        expect(repeats.filter((at) => at >= from && at < from + hour).length).toBeLessThanOrEqual(20);
    }),
  );
});

test('pauses grow from 1 s to 5 min; the first repeat has none', () => {
  expect([0, 1, 2, 3, 9, 10, 11, 12, 1000].map(pauseAfter)).toEqual([
    0, 0, 1000, 2000, 128_000, 256_000, 300_000, 300_000, 300_000,
  ]);
});

test('it is contested after twenty repeats, and no longer after an hour without overwriting', () => {
  const repeatAfter = new Date(hour);
  const at = (milliseconds: number) => new Date(milliseconds);
  expect(isContested({ timesWritten: 20, repeatAfter }, at(hour))).toBe(false);
  expect(isContested({ timesWritten: 21, repeatAfter }, at(hour))).toBe(true);
  expect(isContested({ timesWritten: 21, repeatAfter }, at(2 * hour + 1))).toBe(false);
});
