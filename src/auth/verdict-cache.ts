import { createHmac, randomBytes } from 'node:crypto';
import { type Cache, createCache } from '../cache.ts';
import type { Clock } from '../clock.ts';
import { SingleFlight } from '../github/single-flight.ts';

const positiveLife = 60_000;
const negativeLife = 10_000;
const mostEntries = 10_000;

/**
 * Caches what GitHub said about a token: a yes for 60 s, a no for 10 s. It has tokens only as HMACs under a key that
 * exists only in this process, so a dump or a log of the cache shows no token.
 */
export class VerdictCache<Verdict extends NonNullable<unknown> | null> {
  readonly #secret = randomBytes(32);
  readonly #verdicts: Cache<string, Verdict>;
  readonly #underWay = new SingleFlight<Verdict>();
  readonly #clock: Clock;
  readonly #isPositive: (verdict: Verdict) => boolean;
  readonly #isNo: (verdict: Verdict) => boolean;

  /** @param isNo the answers that `refresh` can take from the cache: only those that allow nothing. */
  constructor(
    clock: Clock,
    isPositive: (verdict: Verdict) => boolean,
    isNo: (verdict: Verdict) => boolean = (verdict) => !isPositive(verdict),
  ) {
    this.#clock = clock;
    this.#verdicts = createCache(clock, mostEntries, positiveLife);
    this.#isPositive = isPositive;
    this.#isNo = isNo;
  }

  /**
   * The cached verdict on these parts (the token first), or the answer of `ask`. Asks once at a time; keeps no failure.
   */
  async get(parts: string[], ask: () => Promise<Verdict>): Promise<Verdict> {
    const key = this.#keyOf(parts);
    const verdict = this.#verdicts.get(key);
    return verdict !== undefined ? verdict : this.#underWay.run(key, () => this.#ask(key, ask));
  }

  /**
   * The answer of `ask`, asked now, once at a time, and cached. A cached no still counts: a person without rights must
   * not use up the questions of the owner's installation.
   */
  async refresh(parts: string[], ask: () => Promise<Verdict>): Promise<Verdict> {
    const key = this.#keyOf(parts);
    const verdict = this.#verdicts.get(key);
    if (verdict !== undefined && this.#isNo(verdict)) return verdict;
    return this.#underWay.run(key, () => this.#ask(key, ask));
  }

  #keyOf(parts: string[]): string {
    return createHmac('sha256', this.#secret).update(JSON.stringify(parts)).digest('base64');
  }

  async #ask(key: string, ask: () => Promise<Verdict>): Promise<Verdict> {
    // Counts from the question, not from the answer, so that a revocation in between does not count later.
    const asked = this.#clock.now();
    const verdict = await ask();
    this.#verdicts.set(key, verdict, this.#isPositive(verdict) ? positiveLife : negativeLife, asked);
    return verdict;
  }
}
