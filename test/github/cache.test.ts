import { expect, test } from 'vitest';
import { cachePerService, createCache, keepAnswer } from '../../src/github/cache.ts';
import { TestClock } from '../support/test-clock.ts';

const start = '2026-03-01T09:00:00Z';
const after = (clock: TestClock, milliseconds: number) => clock.setTime(new Date(clock.now() + milliseconds));

test('a value is kept as long as its life, on the clock', async () => {
  const clock = new TestClock(start);
  const cache = createCache<string, number | null>(clock, 10, 1000);
  cache.set('usual', null);
  cache.set('longer', 2, 3000);
  cache.set('counted from before', 3, 3000, clock.now() - 2000);
  await after(clock, 999);
  expect([cache.get('usual'), cache.get('longer'), cache.get('counted from before')]).toEqual([null, 2, 3]);
  await after(clock, 1);
  expect([cache.get('usual'), cache.get('longer'), cache.get('counted from before')]).toEqual([
    undefined,
    2,
    undefined,
  ]);
});

test('beyond its limit, it drops only the values that were used least recently', () => {
  const cache = createCache<string, number>(new TestClock(start), 2, Infinity);
  cache.set('a', 1);
  cache.set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
});

test('an answer serves while it is under way, and then while it is valid; a failure serves nobody later', async () => {
  const clock = new TestClock(start);
  const cache = createCache<string, Promise<boolean>>(clock, 10, 60_000);
  const lifeOf = (good: boolean) => (good ? 60_000 : 10_000);
  const bad = keepAnswer(cache, clock, 'bad', Promise.resolve(false), lifeOf);
  const failed = keepAnswer(cache, clock, 'failed', Promise.reject(new Error('no')), lifeOf);
  expect([cache.get('bad'), cache.get('failed')]).toEqual([bad, failed]);
  await expect(failed).rejects.toThrow('no');
  expect(cache.get('failed')).toBeUndefined();
  await after(clock, 9_999);
  expect(cache.get('bad')).toBe(bad);
  await after(clock, 1);
  expect(cache.get('bad')).toBeUndefined();
});

test('each service has its own cache', () => {
  const cacheOf = cachePerService<string, number>(10, 1000);
  const clock = new TestClock(start);
  const [one, other] = [
    { github: {}, clock },
    { github: {}, clock },
  ];
  cacheOf(one).set('a', 1);
  expect([cacheOf(one).get('a'), cacheOf(other).get('a')]).toEqual([1, undefined]);
});
