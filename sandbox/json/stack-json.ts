import { instantJson } from './instant-json.ts';
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
    merged_at: instantJson(pr.merged?.at),
    head: { ref: pr.head.ref, sha: pr.head.sha },
  })),
});

/** The place of a pull request in its stack, as a field of pull requests. Those that are in none do not have it. */
export function stackPlaceJson(pr: PullRequest) {
  const stack = stackOf(pr);
  if (!stack) return {};
  const { id, number, base, pullRequests } = stack;
  const position = pullRequests.findIndex((each) => each.number === pr.number) + 1;
  const sha = pr.repository.branches.get(base) ?? '';
  return { stack: { id, number, size: pullRequests.length, position, base: { ref: base, sha } } };
}
