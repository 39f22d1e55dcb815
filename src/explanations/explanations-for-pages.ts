import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { Refusal, tooManyRequests, unavailable } from '../errors.ts';
import { takeOne } from '../limits/minute-counts.ts';
import { type FoundRepository, fullName } from '../repositories/find-repository.ts';
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

/**
 * Explanations for pages, which anybody may load as often as they like: nobody must use up by it what GitHub lets us
 * ask in an hour.
 */
export class ExplanationsForPages {
  readonly #clock: Clock;
  readonly #kept = new Map<string, { explanation: Promise<PullRequestExplanation>; until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws Refusal as `explainPullRequest`; too-many-requests where so many looks were taken in this minute. */
  async get(deps: Deps, repository: FoundRepository, number: bigint): Promise<PullRequestExplanation> {
    const key = `${repository.id} ${number} ${repository.readings}`;
    const kept = this.#kept.get(key);
    if (kept && kept.until > this.#clock.now()) return inTime(kept.explanation);
    // Counted for whoever asks; the answer serves others too.
    const { beforeQuestion, ...own } = deps;
    await beforeQuestion?.();
    if (!(await this.#mayLook(deps, repository)))
      throw tooManyRequests(
        `Too many pages of ${fullName(repository)} were loaded. Load this one in a minute.`,
        60,
      );
    const explanation = explainPullRequest(own, repository, number);
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(key, { explanation, until: this.#clock.now() + freshFor });
    // That there is none is an answer; that GitHub gave none is not.
    explanation.catch((error: unknown) => {
      if (!(error instanceof Refusal) || error.code !== 'not-found') this.#kept.delete(key);
    });
    return inTime(explanation);
  }

  async #mayLook(deps: Deps, { private: isPrivate, installation }: FoundRepository): Promise<boolean> {
    const left = deps.github.budgetLeft(installation.id, this.#clock.now());
    if (left < (isPrivate ? reserve : publicReserve)) return false;
    const most = isPrivate ? looksPerMinute : publicLooksPerMinute;
    return takeOne(deps, `looks ${installation.id}`, most);
  }
}

async function inTime(answer: Promise<PullRequestExplanation>): Promise<PullRequestExplanation> {
  const explanation = await within(patience, answer);
  if (!explanation) throw unavailable('GitHub takes its time. Load this in a moment.');
  return explanation;
}
