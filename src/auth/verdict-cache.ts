import { createHmac, randomBytes } from 'node:crypto';
import { type Cache, createCache } from '../cache.ts';
import type { Clock } from '../clock.ts';
import { SingleFlight } from '../github/single-flight.ts';

const positiveLife = 60_000;
const negativeLife = 10_000;
const mostEntries = 10_000;

/**
 * Remembers for a short time what GitHub said of a token: 60 s for a yes, 10 s for a no. Tokens are kept as
 * HMACs under a key that lives and dies with the process, so a memory dump or a log of the cache shows none.
 */
export class VerdictCache<Verdict extends NonNullable<unknown> | null> {
  readonly #secret = randomBytes(32);
  readonly #verdicts: Cache<string, Verdict>;
  readonly #underWay = new SingleFlight<Verdict>();
  readonly #clock: Clock;
  readonly #isPositive: (verdict: Verdict) => boolean;

  constructor(clock: Clock, isPositive: (verdict: Verdict) => boolean) {
    this.#clock = clock;
    this.#verdicts = createCache(clock, mostEntries, positiveLife);
    this.#isPositive = isPositive;
  }

  /** The remembered verdict on these parts (the token first), or the answer of `ask`, asked once at a time. Failures are not kept. */
  async get(parts: string[], ask: () => Promise<Verdict>): Promise<Verdict> {
    const key = this.#keyOf(parts);
    const verdict = this.#verdicts.get(key);
    return verdict !== undefined ? verdict : this.#underWay.run(key, () => this.#ask(key, ask));
  }

  /** The answer of `ask`, asked now, whatever is remembered; it is remembered in its place. */
  async refresh(parts: string[], ask: () => Promise<Verdict>): Promise<Verdict> {
    return this.#ask(this.#keyOf(parts), ask);
  }

  #keyOf(parts: string[]): string {
    return createHmac('sha256', this.#secret).update(JSON.stringify(parts)).digest('base64');
  }

  async #ask(key: string, ask: () => Promise<Verdict>): Promise<Verdict> {
    // Counted from the question, not from the answer: a revocation in between must not live longer.
    const asked = this.#clock.now();
    const verdict = await ask();
    this.#verdicts.set(key, verdict, this.#isPositive(verdict) ? positiveLife : negativeLife, asked);
    return verdict;
  }
}
