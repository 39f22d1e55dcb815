import { instantJson } from './instant-json.ts';
import { stackOf } from '../state/stacks.ts';
import { accountJson } from './account-json.ts';
import { nodeId } from '../state/ids.ts';
import type { PullRequest, Repository, Stack } from '../state/model.ts';
import { fullNameOf, type World } from '../state/world.ts';

const nameOf = (
  world: World,
  { id, number, base, createdAt, pullRequests }: Stack,
  repository: Repository,
) => ({
  id,
  number,
  node_id: nodeId('Stack', id),
  url: `${world.url}/repos/${fullNameOf(repository)}/stacks/${number}`,
  base: { ref: base },
  open: pullRequests.some(({ state }) => state === 'open'),
  created_at: instantJson(createdAt),
});

/** A stack in the list of all. */
export const stackSummary = (world: World, stack: Stack, repository: Repository) => ({
  ...nameOf(world, stack, repository),
  pull_requests: stack.pullRequests.map((pr) => ({
    number: pr.number,
    state: pr.state,
    draft: pr.draft,
    merged_at: instantJson(pr.merged?.at),
    head: { ref: pr.head.ref, sha: pr.head.sha },
  })),
});

/** One stack, with more of its pull requests. */
export function stackJson(world: World, stack: Stack, repository: Repository) {
  const side = ({ id, name }: Repository, ref: string, sha: string) => ({
    ref,
    sha,
    repo: { id, name, url: `${world.url}/repos/${fullNameOf(repository)}` },
  });
  const pullRequests = stack.pullRequests.map((pr) => ({
    id: pr.id,
    node_id: pr.nodeId,
    number: pr.number,
    url: `${world.url}/repos/${fullNameOf(repository)}/pulls/${pr.number}`,
    html_url: `${world.url}/${fullNameOf(repository)}/pull/${pr.number}`,
    title: pr.title,
    state: pr.state,
    draft: pr.draft,
    merged_at: instantJson(pr.merged?.at),
    user: accountJson(world, pr.author),
    head: side(pr.head.repository, pr.head.ref, pr.head.sha),
    base: side(repository, pr.base, repository.branches.get(pr.base) ?? ''),
  }));
  return { ...nameOf(world, stack, repository), pull_requests: pullRequests };
}

/** The place of a pull request in its stack, as a field of pull requests. Those that are in none do not have it. */
export function stackPlaceJson(pr: PullRequest) {
  const stack = stackOf(pr);
  if (!stack) return {};
  const { id, number, base, pullRequests } = stack;
  const position = pullRequests.findIndex((each) => each.number === pr.number) + 1;
  const sha = pr.repository.branches.get(base) ?? '';
  return { stack: { id, number, size: pullRequests.length, position, base: { ref: base, sha } } };
}
