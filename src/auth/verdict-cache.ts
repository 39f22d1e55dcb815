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
  readonly #isNo: (verdict: Verdict) => boolean;

  /** @param isNo which answers `refresh` takes from memory: none that lets anybody do anything. */
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

  /** The remembered verdict on these parts (the token first), or the answer of `ask`, asked once at a time. Failures are not kept. */
  async get(parts: string[], ask: () => Promise<Verdict>): Promise<Verdict> {
    const key = this.#keyOf(parts);
    const verdict = this.#verdicts.get(key);
    return verdict !== undefined ? verdict : this.#underWay.run(key, () => this.#ask(key, ask));
  }

  /**
   * The answer of `ask`, asked now, once at a time; it is remembered. A remembered no stands: whoever may do nothing
   * does not use up what the owner's installation may ask.
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
    // Counted from the question, not from the answer: a revocation in between must not live longer.
    const asked = this.#clock.now();
    const verdict = await ask();
    this.#verdicts.set(key, verdict, this.#isPositive(verdict) ? positiveLife : negativeLife, asked);
    return verdict;
  }
}
