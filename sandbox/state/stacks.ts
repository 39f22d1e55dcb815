import type { PullRequest, Repository, Stack } from './model.ts';

/** The stack that a pull request is in, merged ones included; undefined if it is in none. */
export const stackOf = ({ repository, number }: PullRequest): Stack | undefined =>
  repository.stacks.find(({ pullRequests }) => pullRequests.some((each) => each.number === number));

/** The branch whose rules apply to a pull request: of a stack, the one that all of it merges into. */
export const trunkOf = (pr: PullRequest): string => stackOf(pr)?.base ?? pr.base;

/** What merging a pull request merges: the open ones below it in its stack, bottom first, and itself. */
export function mergedWith(pr: PullRequest): PullRequest[] {
  const members = stackOf(pr)?.pullRequests ?? [];
  const below = members.slice(
    0,
    Math.max(
      0,
      members.findIndex(({ number }) => number === pr.number),
    ),
  );
  return [...below.filter(({ state }) => state === 'open').map((each) => inside(pr.repository, each)), pr];
}

/** A state of the repository may be an older one than that of its pull requests. */
const inside = (repository: Repository, pr: PullRequest): PullRequest =>
  pr.repository === repository ? pr : { ...pr, repository };
