import { stackOf } from '../state/stacks.ts';
import type { PullRequest, Stack } from '../state/model.ts';

/** A stack as `/stacks` shows it. */
export const stackJson = ({ id, number, base, pullRequests }: Stack) => ({
  id,
  number,
  base: { ref: base },
  open: pullRequests.some(({ state }) => state === 'open'),
  pull_requests: pullRequests.map((pr) => ({
    number: pr.number,
    state: pr.state,
    draft: pr.draft,
    merged_at: pr.merged?.at.toISOString() ?? null,
    head: { ref: pr.head.ref, sha: pr.head.sha },
  })),
});

/** The place of a pull request in its stack, as pull requests show it; null if it is in none. */
export function stackPlaceJson(pr: PullRequest) {
  const stack = stackOf(pr);
  if (!stack) return null;
  const { id, number, base, pullRequests } = stack;
  return {
    id,
    number,
    size: pullRequests.length,
    position: pullRequests.findIndex((each) => each.number === pr.number) + 1,
    base: { ref: base, sha: pr.repository.branches.get(base) ?? '' },
  };
}
