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

/** GitHub's answer to a caller who asks too fast. @param retryAfter seconds. */
export function secondaryLimit(status: 403 | 429, retryAfter: number): GitHubError {
  const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
  return new GitHubError(status, message, {}, { 'retry-after': String(retryAfter) });
}
