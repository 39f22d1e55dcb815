import type { Clock } from '../clock.ts';

const minute = 60_000;
const mostKeys = 10_000;

/** Counts questions to GitHub that anybody can make us ask, by who or what they are counted for. */
export class MinuteBudget<Key> {
  readonly #clock: Clock;
  readonly #taken = new Map<Key, { count: number; until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one question of the present minute. @returns false where `most` of them are taken. */
  take(key: Key, most: number): boolean {
    const now = this.#clock.now();
    const known = this.#taken.get(key);
    const taken = known && known.until > now ? known : { count: 0, until: now + minute };
    if (taken.count >= most) return false;
    taken.count += 1;
    if (this.#taken.size >= mostKeys) this.#taken.clear();
    this.#taken.set(key, taken);
    return true;
  }
}
