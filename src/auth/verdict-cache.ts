import { createHmac, randomBytes } from 'node:crypto';
import { Answers, type Cache, createCache } from '../github/cache.ts';
import type { Clock } from '../clock.ts';

const yesLife = 60_000;
const noLife = 10_000;
const mostEntries = 10_000;

type Known<Verdict> = { verdict: Verdict; askedAt: number };

/**
 * Caches what GitHub said about a caller: a yes for 60 s, a no for 10 s. It has tokens only as HMACs under a key that
 * exists only in this process, so a dump or a log of the cache shows no token.
 */
export class VerdictCache<Verdict extends NonNullable<unknown> | null> {
  readonly #secret = randomBytes(32);
  readonly #known: Cache<string, Known<Verdict>>;
  readonly #underWay: Answers<Verdict>;
  readonly #clock: Clock;
  readonly #isYes: (verdict: Verdict) => boolean;
  readonly #noLife: number;

  /** @param lifeOfNo milliseconds. */
  constructor(clock: Clock, isYes: (verdict: Verdict) => boolean, lifeOfNo = noLife) {
    this.#clock = clock;
    this.#known = createCache(clock, mostEntries, Math.max(yesLife, lifeOfNo));
    this.#underWay = new Answers(clock, mostEntries, () => 0);
    this.#isYes = isYes;
    this.#noLife = lifeOfNo;
  }

  /**
   * The cached verdict on these parts, or the answer of `ask`. Asks once at a time; keeps no failure.
   * @param isYes what counts as a yes for this caller.
   */
  async get(parts: string[], ask: () => Promise<Verdict>, isYes = this.#isYes): Promise<Verdict> {
    const key = this.#keyOf(parts);
    const known = this.#known.get(key);
    if (known && this.#age(known) < (isYes(known.verdict) ? yesLife : this.#noLife)) return known.verdict;
    return this.#underWay.get(key, () => this.#ask(key, ask));
  }

  /**
   * The answer of `ask`, asked now, once at a time, and cached. A cached no still counts: a person without rights must
   * not use up the questions of the owner's installation.
   * @param isNo what counts as a no: it must allow nothing.
   */
  async refresh(
    parts: string[],
    ask: () => Promise<Verdict>,
    isNo = (verdict: Verdict) => !this.#isYes(verdict),
  ): Promise<Verdict> {
    const key = this.#keyOf(parts);
    const known = this.#known.get(key);
    if (known && isNo(known.verdict) && this.#age(known) < this.#noLife) return known.verdict;
    return this.#underWay.get(key, () => this.#ask(key, ask));
  }

  #age({ askedAt }: Known<Verdict>): number {
    return this.#clock.now() - askedAt;
  }

  #keyOf(parts: string[]): string {
    return createHmac('sha256', this.#secret).update(JSON.stringify(parts)).digest('base64');
  }

  async #ask(key: string, ask: () => Promise<Verdict>): Promise<Verdict> {
    // Counts from the question, not from the answer, so that a revocation in between does not count later.
    const askedAt = this.#clock.now();
    const verdict = await ask();
    this.#known.set(key, { verdict, askedAt }, undefined, askedAt);
    return verdict;
  }
}
