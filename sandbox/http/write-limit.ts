import { GitHubError } from './github-error.ts';

const minute = 60_000;
const pause = 60;

/**
 * A secondary limit: how many REST writes GitHub accepts from a holder within any minute. No header shows it. It uses
 * the clock of data, so that a test can let minutes pass.
 */
export class WriteLimit {
  perMinute = Infinity;
  /** The number of refused writes. */
  refusals = 0;
  readonly #taken = new Map<string, number[]>();
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Counts a write, or throws the 403 of a limit. @param holder of the budget. */
  take(holder: string): void {
    const now = this.#now().getTime();
    const taken = this.#taken.get(holder) ?? [];
    this.#taken.set(holder, taken);
    while (taken[0]! <= now - minute) taken.shift();
    if (taken.length < this.perMinute) {
      taken.push(now);
      return;
    }
    this.refusals += 1;
    throw secondaryLimit(403, pause);
  }
}

const tooFast = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
/** As GitHub said it until 2021, and older Enterprise Servers still say it. */
const abuse =
  'You have triggered an abuse detection mechanism. Please wait a few minutes before you try again.';

/**
 * GitHub's answer to a caller who asks too fast. With status 200, it is one of GraphQL.
 * @param retryAfter seconds; null: GitHub does not say.
 */
export function secondaryLimit(
  status: 200 | 403 | 429,
  retryAfter: number | null,
  isOld = false,
): GitHubError {
  const headers: Record<string, string> = retryAfter === null ? {} : { 'retry-after': String(retryAfter) };
  const message = isOld ? abuse : tooFast;
  return status === 200
    ? new GraphqlRefusal(message, headers)
    : new GitHubError(status, message, {}, headers);
}

/** An answer of GraphQL that has nothing but an error. */
class GraphqlRefusal extends GitHubError {
  constructor(message: string, headers: Record<string, string>) {
    super(200, message, {}, headers);
  }

  override get body() {
    return { errors: [{ message: this.message }] } as never;
  }
}
