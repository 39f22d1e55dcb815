import { LRUCache } from 'lru-cache';
import type { Clock } from '../time/clock.ts';
import { isTooManyRequests } from '../errors.ts';

/** What a cache can hold: `undefined` would look like an absent value. */
type Cacheable = NonNullable<unknown> | null;

/** Keeps a limited number of values. Beyond the limit, it drops the values that were used least recently. */
export type Cache<Key extends NonNullable<unknown>, Value extends Cacheable> = {
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
 * @param sizeOf for how many a value counts. One that counts for more than `most` is not kept.
 */
export function createCache<Key extends NonNullable<unknown>, Value extends Cacheable>(
  clock: Clock,
  most: number,
  life: number,
  sizeOf: (value: Value) => number = () => 1,
): Cache<Key, Value> {
  const values = new LRUCache<Key, { value: Value }>({
    // With `max`, it would take the memory for that many values at once.
    maxSize: most,
    sizeCalculation: ({ value }) => sizeOf(value),
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

/** One for each GitHub in this process: ids belong to a GitHub, and tests run several. */
function perService<Value>(make: (clock: Clock) => Value) {
  const made = new WeakMap<object, Value>();
  return ({ github, clock }: { github: object; clock: Clock }): Value => {
    const value = made.get(github) ?? make(clock);
    made.set(github, value);
    return value;
  };
}

export const cachePerService = <Key extends NonNullable<unknown>, Value extends Cacheable>(
  most: number,
  life: number,
  sizeOf?: (value: Value) => number,
) => perService((clock) => createCache<Key, Value>(clock, most, life, sizeOf));

/** Answers to questions: each is asked once at a time, and kept from the question on while it is valid. */
export class Answers<Answer> {
  readonly #clock: Clock;
  readonly #kept: Cache<string, { answer: Promise<Answer>; asked: number }>;
  readonly #lifeOf: (answer: Answer) => number;

  /** @param most how many it keeps; @param lifeOf milliseconds, from the question on; 0: not kept. */
  constructor(clock: Clock, most: number, lifeOf: (answer: Answer) => number) {
    this.#clock = clock;
    this.#kept = createCache(clock, most, Infinity);
    this.#lifeOf = lifeOf;
  }

  /** @param longest milliseconds since the question; by default as long as it is kept. */
  known(key: string, longest = Infinity): Promise<Answer> | undefined {
    const kept = this.#kept.get(key);
    return kept && this.#clock.now() - kept.asked < longest ? kept.answer : undefined;
  }

  /** The answer that is kept or under way, or that of `ask`. Does not keep failures. @param longest as of `known`. */
  get(key: string, ask: () => Promise<Answer>, longest = Infinity): Promise<Answer> {
    return (
      this.known(key, longest)?.catch((error: unknown) => {
        // The limit was for the first caller. Another caller now asks for the rest.
        if (isTooManyRequests(error)) return this.get(key, ask, longest);
        throw error;
      }) ?? this.refresh(key, ask)
    );
  }

  refresh(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const asked = this.#clock.now();
    const answer = ask();
    this.#kept.set(key, { answer, asked });
    const keep = (life: number) => {
      if (this.known(key) !== answer) return;
      if (life > 0) this.#kept.set(key, { answer, asked }, life, asked);
      else this.#kept.delete(key);
    };
    answer.then(
      (given) => keep(this.#lifeOf(given)),
      () => keep(0),
    );
    return answer;
  }
}

export const answersPerService = <Answer>(most: number, lifeOf: (answer: Answer) => number) =>
  perService((clock) => new Answers(clock, most, lifeOf));
