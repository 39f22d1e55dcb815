import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';

/** What a cache may hold: `undefined` would look like nothing. */
type Kept = NonNullable<unknown> | null;

/** Remembers a bounded number of values; beyond it, those that were used least recently are forgotten. */
export type Cache<Key extends NonNullable<unknown>, Value extends Kept> = {
  /** `undefined` where nothing is kept, or not any more. */
  get(key: Key): Value | undefined;
  /**
   * @param life milliseconds that this one is kept, where it is another time than that of the cache.
   * @param since when that time began, in milliseconds since the epoch; else now.
   */
  set(key: Key, value: Value, life?: number, since?: number): void;
  delete(key: Key): void;
  /** All that are kept. */
  values(): Value[];
};

/**
 * A cache on the service's clock.
 * @param most how many values it holds; @param life milliseconds that each is kept; Infinity for as long as it has room.
 */
export function createCache<Key extends NonNullable<unknown>, Value extends Kept>(
  clock: Clock,
  most: number,
  life: number,
): Cache<Key, Value> {
  const values = new LRUCache<Key, { value: Value }>({
    max: most,
    ttl: ttlOf(life),
    ttlResolution: 0,
    perf: { now: () => clock.now() },
  });
  return {
    get: (key) => values.get(key)?.value,
    set: (key, value, its = life, since = clock.now()) =>
      void values.set(key, { value }, { ttl: ttlOf(its), start: since }),
    delete: (key) => void values.delete(key),
    values: () => [...values.values()].map(({ value }) => value),
  };
}

/** To lru-cache 0 is without end, and a life's last millisecond is in time; by ours one of 10 s has ended after 10 s. */
const ttlOf = (life: number): number => (life === Infinity ? 0 : life - 1);

/**
 * Keeps the answer to a question: from the question on while it is under way, then as long as it is good for. That of
 * one that failed is not kept.
 * @param lifeOf milliseconds, from the question on.
 */
export function keepAnswer<Key extends NonNullable<unknown>, Answer>(
  cache: Cache<Key, Promise<Answer>>,
  clock: Clock,
  key: Key,
  answer: Promise<Answer>,
  lifeOf: (answer: Answer) => number,
): Promise<Answer> {
  const asked = clock.now();
  cache.set(key, answer);
  const isLast = () => cache.get(key) === answer;
  answer.then(
    (given) => isLast() && cache.set(key, answer, lifeOf(given), asked),
    () => isLast() && cache.delete(key),
  );
  return answer;
}

/** A cache for each service of this process, by its GitHub: ids are GitHub's, and tests run several. */
export function cachePerService<Key extends NonNullable<unknown>, Value extends Kept>(
  most: number,
  life: number,
): (service: { github: object; clock: Clock }) => Cache<Key, Value> {
  const caches = new WeakMap<object, Cache<Key, Value>>();
  return ({ github, clock }) => {
    const cache = caches.get(github) ?? createCache<Key, Value>(clock, most, life);
    caches.set(github, cache);
    return cache;
  };
}
