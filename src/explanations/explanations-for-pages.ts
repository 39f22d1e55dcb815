import type { Clock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { unavailable } from '../errors.ts';
import { type FoundRepository, fullName } from '../repositories/find-repository.ts';
import { explainPullRequest, type PullRequestExplanation } from './explain-pull-request.ts';

/** Milliseconds that one look at GitHub serves, while nothing was looked at anew. */
const freshFor = 10_000;
/** Looks a minute and installation: a good half of GitHub's hourly budget is left for what holds pull requests. */
export const looksPerMinute = 30;
const minute = 60_000;
const mostKept = 1000;

/**
 * Explanations for pages, which anybody may load as often as they like: nobody must use up by it what GitHub lets us
 * ask in an hour.
 */
export class ExplanationsForPages {
  readonly #clock: Clock;
  readonly #kept = new Map<string, { explanation: PullRequestExplanation; until: number }>();
  readonly #looks = new Map<bigint, { count: number; until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws Refusal as `explainPullRequest`; unavailable also where so many looks were taken in this minute. */
  async get(deps: Deps, repository: FoundRepository, number: bigint): Promise<PullRequestExplanation> {
    const key = `${repository.id} ${number} ${repository.readings}`;
    const kept = this.#kept.get(key);
    if (kept && kept.until > this.#clock.now()) return kept.explanation;
    this.#take(repository);
    const until = this.#clock.now() + freshFor;
    const explanation = await explainPullRequest(deps, repository, number);
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(key, { explanation, until });
    return explanation;
  }

  #take(repository: FoundRepository): void {
    const now = this.#clock.now();
    const { id } = repository.installation;
    const known = this.#looks.get(id);
    const looks = known && known.until > now ? known : { count: 0, until: now + minute };
    if (looks.count >= looksPerMinute)
      throw unavailable(
        `Too many pages of ${fullName(repository)} were loaded. Load this one in a minute.`,
        60,
      );
    looks.count += 1;
    this.#looks.set(id, looks);
  }
}
