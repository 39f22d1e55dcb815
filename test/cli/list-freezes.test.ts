import { expect, test } from 'vitest';
import { isOngoingItem } from '../../src/cli/freezing/items.ts';

test.each([
  [10, null, true],
  [11, null, false],
  [10, 11, true],
  // It lets go at the instant of its end, as the service does.
  [5, 10, false],
])('at 10, a freeze from %s until %s is ongoing: %s', (startsAt, endsAt, expected) => {
  expect(isOngoingItem({ startsAt, endsAt } as Parameters<typeof isOngoingItem>[0], 10)).toBe(expected);
});
