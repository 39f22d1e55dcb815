import { expect, test } from 'vitest';
import { atMost } from '../../../src/github/pull-requests/at-most.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('results have the order of the items, no matter what takes longest', async () => {
  let under = 0;
  let most = 0;
  const results = await atMost(3, [5, 1, 4, 1, 3, 2], async (each) => {
    most = Math.max(most, ++under);
    await pause(each);
    under -= 1;
    return each * 10;
  });
  expect(results).toEqual([50, 10, 40, 10, 30, 20]);
  expect(most).toBe(3);
  expect(await atMost(3, [], async () => 1)).toEqual([]);
});

test('after a failure nothing more starts', async () => {
  const begun: number[] = [];
  const work = atMost(2, [1, 2, 3, 4, 5, 6], async (each) => {
    begun.push(each);
    await pause(1);
    if (each === 2) throw new Error('No more');
  });
  await expect(work).rejects.toThrow('No more');
  await pause(20);
  expect(begun.length).toBeLessThanOrEqual(3);
});
