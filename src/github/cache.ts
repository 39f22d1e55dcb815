import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';

/** What a cache can hold: `undefined` would look like an absent value. */
type Kept = NonNullable<unknown> | null;

/** Keeps a limited number of values. Beyond the limit, it drops the values that were used least recently. */
export type Cache<Key extends NonNullable<unknown>, Value extends Kept> = {
  /** `undefined` if there is no value, or no longer. */
  get(key: Key): Value | undefined;
  /**
   * @param life milliseconds to keep this value, if not as long as the cache says.
   * @param since when that time began, in milliseconds since the epoch; by default now.
   */
  set(key: Key, value: Value, life?: number, since?: number): void;
  delete(key: Key): void;
  /** All that are kept. */
  values(): Value[];
};

/**
 * A cache on the service's clock.
 * @param most how many values it holds; @param life milliseconds to keep each; Infinity: as long as there is room.
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

/**
 * For lru-cache, 0 means no end, and the last millisecond still counts. For us, a life of 10 s has ended after 10 s.
 */
const ttlOf = (life: number): number => (life === Infinity ? 0 : life - 1);

/**
 * Keeps the answer to a question, from the question on, for as long as the answer is valid. Does not keep failures.
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

/** A cache for each GitHub in this process: ids belong to a GitHub, and tests run several. */
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
