import { expect, test } from 'vitest';
import { tooManyRequests } from '../../src/errors.ts';
import { Answers, cachePerService, createCache } from '../../src/github/cache.ts';
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
  const answers = new Answers<boolean>(clock, 10, (good) => (good ? 60_000 : 10_000));
  const bad = answers.get('bad', async () => {
    await after(clock, 1_000);
    return false;
  });
  const failed = answers.get('failed', () => Promise.reject(new Error('no')));
  expect([answers.known('bad'), answers.known('failed')]).toEqual([bad, failed]);
  await expect(failed).rejects.toThrow('no');
  expect(answers.known('failed')).toBeUndefined();
  await bad;
  await after(clock, 8_999);
  expect(answers.known('bad')).toBe(bad);
  // Since the question, not the answer.
  await after(clock, 1);
  expect(answers.known('bad')).toBeUndefined();
});

test('without a life, an answer serves only while it is under way', async () => {
  const answers = new Answers<number>(new TestClock(start), 10, () => 0);
  let asked = 0;
  const ask = async () => ++asked;
  expect(await Promise.all([answers.get('key', ask), answers.get('key', ask)])).toEqual([1, 1]);
  expect(await answers.get('key', ask)).toBe(2);
});

test('if the first caller is limited, one of the others asks for all', async () => {
  const answers = new Answers<string>(new TestClock(start), 10, () => 0);
  let asked = 0;
  const first = answers.get('key', async () => {
    throw tooManyRequests('too much', 1);
  });
  const others = Array.from({ length: 5 }, () => answers.get('key', async () => `answer ${++asked}`));
  await expect(first).rejects.toThrow('too much');
  expect(await Promise.all(others)).toEqual(Array(5).fill('answer 1'));
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
