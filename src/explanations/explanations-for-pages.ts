import { mayAskNow } from '../github/ask-github.ts';
import { Answers } from '../github/cache.ts';
import { type Clock, within } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import { Refusal, tooManyRequests, unavailable } from '../errors.ts';
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

/**
 * Explanations for pages. Anybody may load pages as often as they like, so this limits how much of GitHub's hourly rate
 * limit they use.
 */
export class ExplanationsForPages {
  /** That a pull request does not exist counts as an answer. */
  readonly #answers: Answers<PullRequestExplanation | Refusal>;

  constructor(clock: Clock) {
    this.#answers = new Answers(clock, mostKept, () => freshFor);
  }

  /**
   * @throws Refusal like `explainPullRequest`; too-many-requests if the explanations of this minute are used up;
   * unavailable if the rest of GitHub's hourly rate limit is reserved.
   */
  async get(deps: Deps, repository: FoundRepository, number: bigint): Promise<PullRequestExplanation> {
    const key = `${repository.id} ${number} ${repository.observations}`;
    const answer = await within(
      patience,
      this.#answers.get(key, () => explain(deps, repository, number)),
    );
    if (!answer) throw unavailable('GitHub is slow to answer. Reload this page in a moment.');
    if (answer instanceof Refusal) throw answer;
    return answer;
  }
}

/** Counts for the person who asks, although the answer serves others too. */
async function explain(
  { questions, ...deps }: Deps,
  repository: FoundRepository,
  number: bigint,
): Promise<PullRequestExplanation | Refusal> {
  await questions?.beforeLook();
  const { private: isPrivate, installation } = repository;
  const answer = await mayAskNow(deps, installation.id, isPrivate ? reserve : publicReserve, {
    name: `looks ${installation.id}`,
    perMinute: isPrivate ? looksPerMinute : publicLooksPerMinute,
  });
  if (answer === 'reserved')
    throw unavailable(
      'Holdfast reserves the rest of this hour’s GitHub rate limit for freezes. Load this page later.',
      60,
    );
  if (answer === 'too many')
    throw tooManyRequests(
      `Too many pages of ${fullName(repository)} were loaded. Load this one in a minute.`,
      60,
    );
  try {
    return await explainPullRequest(deps, repository, number);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'not-found') return error;
    throw error;
  }
}
