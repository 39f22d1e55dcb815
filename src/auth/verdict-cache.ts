import { createHmac, randomBytes } from 'node:crypto';
import { classifyGitHubError, isGitHubStatus } from '../github/github-error.ts';
import { Answers, type Cache, createCache } from '../github/cache.ts';
import type { Clock } from '../time/clock.ts';

const yesLife = 60_000;
const noLife = 10_000;
const mostEntries = 10_000;

/** How long a verdict counts, and which one also counts for somebody who asks again and again. */
export type CachedJudgement<Verdict> = {
  isYes: (verdict: Verdict) => boolean;
  /** It must allow nothing. By default, what is not a yes. */
  isNo?: (verdict: Verdict) => boolean;
  /** Milliseconds. */
  noLife?: number;
};

/**
 * Caches what GitHub said about a caller: a yes for 60 s, a no for 10 s. It has tokens only as HMACs under a key that
 * exists only in this process, so a dump or a log of the cache shows no token.
 */
export class VerdictCache<Verdict extends NonNullable<unknown> | null> {
  readonly #secret = randomBytes(32);
  readonly #verdicts: Cache<string, Verdict>;
  readonly #underWay: Answers<Verdict>;
  readonly #clock: Clock;
  readonly #judgement: Required<CachedJudgement<Verdict>>;

  constructor(clock: Clock, judgement: CachedJudgement<Verdict>) {
    this.#clock = clock;
    this.#verdicts = createCache(clock, mostEntries, yesLife);
    this.#underWay = new Answers(clock, mostEntries, () => 0);
    this.#judgement = { noLife, isNo: (verdict) => !judgement.isYes(verdict), ...judgement };
  }

  /**
   * The cached verdict on these parts, or the answer of `ask`. Asks once at a time; keeps no failure.
   * @param isLive asks now, unless the cached verdict is a no: a person without rights must not use up the questions of
   *   the owner's installation.
   */
  async get(parts: string[], ask: () => Promise<Verdict>, isLive = false): Promise<Verdict> {
    const key = createHmac('sha256', this.#secret).update(JSON.stringify(parts)).digest('base64');
    const known = this.#verdicts.get(key);
    if (known !== undefined && (!isLive || this.#judgement.isNo(known))) return known;
    return this.#underWay.get(key, async () => {
      // Counts from the question, not from the answer, so that a revocation in between does not count later.
      const askedAt = this.#clock.now();
      const verdict = await ask();
      const life = this.#judgement.isYes(verdict) ? yesLife : this.#judgement.noLife;
      this.#verdicts.set(key, verdict, life, askedAt);
      return verdict;
    });
  }
}

/** GitHub's answer; `refused` if GitHub clearly says no, which a rate limit, an outage or a refusal of our own key does not. */
export async function unlessRefused<Answer>(
  { clock }: { clock: Clock },
  refused: Answer,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    const isRefusal =
      isGitHubStatus(error, 401, 403, 404) &&
      !['limited', 'down'].includes(classifyGitHubError(error, clock.now()).kind);
    if (isRefusal) return refused;
    throw error;
  }
}
