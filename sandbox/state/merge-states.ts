import { type MergeableState, mergeableState } from './mergeability.ts';
import type { PullRequest } from './model.ts';
import { mergedWith } from './stacks.ts';

/**
 * GitHub's answer whether it would merge a pull request. GitHub computes it in the background: the first question after
 * the head or the base has moved gets `unknown` and starts the work. For some time after a status or a check, the
 * answer is the former one.
 */
export class MergeStates {
  readonly #now: () => Date;
  readonly #asked = new WeakMap<PullRequest, string>();
  /** How far the answers are behind what was posted, in milliseconds of `now`. */
  behind = 2_000;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** @param pr the shown version. An older version is the same pull request. */
  ask(pr: PullRequest): MergeableState {
    const { repository, number, head, base } = pr;
    const subject = repository.pullRequests.get(number) ?? pr;
    const moved = `${head.sha} ${base} ${repository.branches.get(base)}`;
    const isNew = this.#asked.get(subject) !== moved;
    this.#asked.set(subject, moved);
    return isNew ? 'unknown' : mergeableState({ ...pr, repository: this.#before(pr) });
  }

  #before(pr: PullRequest): PullRequest['repository'] {
    const { repository } = pr;
    const until = this.#now().getTime() - this.behind;
    const posted = mergedWith(pr).map(({ head: { sha } }) => {
      const all = repository.statuses.get(sha) ?? [];
      return [sha, all.filter(({ createdAt }) => +createdAt <= until)] as const;
    });
    return { ...repository, statuses: new Map(posted) };
  }
}
