import { type Cache, createCache } from '../github/cache.ts';
import { type Clock, within } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { Refusal, tooManyRequests, unavailable } from '../errors.ts';
import { SingleFlight } from '../github/single-flight.ts';
import { takeOne } from '../github/limits/minute-counts.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { explainPullRequest, type PullRequestExplanation } from './explain-pull-request.ts';

/** Milliseconds to cache an explanation, unless the repository is observed again. */
const freshFor = 10_000;
/** Explanations per minute and installation. */
const looksPerMinute = 30;
/** The share for public pages, which everybody may load. */
export const publicLooksPerMinute = 20;
/**
 * The shares of GitHub's hourly rate limit that we reserve for holding pull requests. An explanation costs many requests
 * if conditions read the files of a large pull request.
 */
const reserve = 1 / 4;
const publicReserve = 1 / 2;
const mostKept = 1000;
/** Milliseconds to wait for GitHub before the page shows what we know. A later answer serves the next request. */
const patience = 5000;

/** A pending or finished explanation. Wrapped in an object, so that returning it does not await it. */
type Look = { explanation: Promise<PullRequestExplanation> };

/**
 * Explanations for pages. Anybody may load pages as often as they like, so this limits how much of GitHub's hourly rate
 * limit they use.
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
   * @throws Refusal like `explainPullRequest`; too-many-requests if the explanations of this minute are used up;
   * unavailable if the rest of GitHub's hourly rate limit is reserved.
   */
  async get(deps: Deps, repository: FoundRepository, number: bigint): Promise<PullRequestExplanation> {
    const key = `${repository.id} ${number} ${repository.observations}`;
    const look =
      this.#kept.get(key) ??
      (await this.#beginnings.run(key, () => this.#begin(deps, repository, number, key)));
    return inTime(look.explanation);
  }

  /** Counts for the person who asks, although the answer serves others too. */
  async #begin(deps: Deps, repository: FoundRepository, number: bigint, key: string): Promise<Look> {
    const { questions, ...own } = deps;
    await questions?.beforeLook();
    await this.#count(deps, repository);
    const explanation = explainPullRequest(own, repository, number);
    const look = { explanation };
    this.#kept.set(key, look);
    // Cache that a pull request does not exist, but not that GitHub did not answer.
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
