import { type Cache, createCache } from '../cache.ts';
import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { Refusal, tooManyRequests, unavailable } from '../errors.ts';
import { SingleFlight } from '../github/single-flight.ts';
import { takeOne } from '../github/limits/minute-counts.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { within } from '../within.ts';
import { explainPullRequest, type PullRequestExplanation } from './explain-pull-request.ts';

/** Milliseconds that one look at GitHub serves, while nothing was looked at anew. */
const freshFor = 10_000;
/** Looks a minute and installation. */
const looksPerMinute = 30;
/** So many of them at most are for what everybody may load. */
export const publicLooksPerMinute = 20;
/**
 * Shares of GitHub's hourly budget that are left for what holds pull requests: one look costs many questions where
 * conditions read the files of a large pull request.
 */
const reserve = 1 / 4;
const publicReserve = 1 / 2;
const mostKept = 1000;
/** Milliseconds that somebody waits for GitHub before the page shows what is known. What comes later serves the next. */
const patience = 5000;

/** A look that is under way or done; in an object, as nobody waits for it unasked. */
type Look = { explanation: Promise<PullRequestExplanation> };

/**
 * Explanations for pages, which anybody may load as often as they like: nobody must use up by it what GitHub lets us
 * ask in an hour.
 */
export class ExplanationsForPages {
  readonly #clock: Clock;
  readonly #kept: Cache<string, Look>;
  readonly #beginnings = new SingleFlight<Look>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#kept = createCache(clock, mostKept, freshFor);
  }

  /**
   * @throws Refusal as `explainPullRequest`; too-many-requests where so many looks were taken in this minute;
   * unavailable where GitHub's budget of this hour is kept for what holds pull requests.
   */
  async get(deps: Deps, repository: FoundRepository, number: bigint): Promise<PullRequestExplanation> {
    const key = `${repository.id} ${number} ${repository.observations}`;
    const look =
      this.#kept.get(key) ??
      (await this.#beginnings.run(key, () => this.#begin(deps, repository, number, key)));
    return inTime(look.explanation);
  }

  /** Counted for whoever asks; the answer serves others too. */
  async #begin(deps: Deps, repository: FoundRepository, number: bigint, key: string): Promise<Look> {
    const { beforeQuestion, ...own } = deps;
    await beforeQuestion?.();
    await this.#count(deps, repository);
    const explanation = explainPullRequest(own, repository, number);
    const look = { explanation };
    this.#kept.set(key, look);
    // That there is none is an answer; that GitHub gave none is not.
    explanation.catch((error: unknown) => {
      if (!(error instanceof Refusal) || error.code !== 'not-found') this.#kept.delete(key);
    });
    return look;
  }

  async #count(deps: Deps, repository: FoundRepository): Promise<void> {
    const { private: isPrivate, installation } = repository;
    const left = deps.github.budgetLeft(installation.id, this.#clock.now());
    if (left < (isPrivate ? reserve : publicReserve))
      throw unavailable(
        'Holdfast reserves the rest of this hour’s GitHub rate limit for freezes. Load this page later.',
        60,
      );
    const most = isPrivate ? looksPerMinute : publicLooksPerMinute;
    if (!(await takeOne(deps, `looks ${installation.id}`, most)))
      throw tooManyRequests(
        `Too many pages of ${fullName(repository)} were loaded. Load this one in a minute.`,
        60,
      );
  }
}

async function inTime(answer: Promise<PullRequestExplanation>): Promise<PullRequestExplanation> {
  const explanation = await within(patience, answer);
  if (!explanation) throw unavailable('GitHub is slow to answer. Reload this page in a moment.');
  return explanation;
}
