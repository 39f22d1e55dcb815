import { cachePerService } from '../cache.ts';
import { classifyGitHubError } from '../github-error.ts';
import type { LoadFrom } from './load-pull-requests.ts';

/**
 * A stack of GitHub: pull requests that merge from the bottom up. Merging one merges all below it, and the rules of the
 * stack's base apply to each of them.
 * @property base the branch that the stack merges into.
 * @property size how many pull requests it has, merged ones included.
 * @property places its pull requests, each with its position: 1 is the bottom one.
 */
export type Stack = {
  number: number;
  base: string;
  size: number;
  places: { pullRequest: number; position: number }[];
};

/** Where a pull request is in a stack. */
export type StackPlace = Omit<Stack, 'places'> & { position: number };

/** The stacks of a repository, from its row. */
export const stacksOf = ({ stacks }: { stacks: unknown }): Stack[] => stacks as Stack[];

/** The places of all pull requests in these stacks, by number. */
export const placesIn = (stacks: Stack[]): Map<number, StackPlace> =>
  new Map(
    stacks.flatMap(({ places, ...stack }) =>
      places.map(({ pullRequest, position }) => [pullRequest, { ...stack, position }] as const),
    ),
  );

/** The numbers of the pull requests that share a stack with one of these. */
export function stackedWith(stacks: Stack[], numbers: Iterable<number>): number[] {
  const asked = new Set(numbers);
  return stacks
    .map(({ places }) => places.map(({ pullRequest }) => pullRequest))
    .filter((members) => members.some((number) => asked.has(number)))
    .flat();
}

const perPage = 100;
/** Where GitHub does not have stacks, we look for them again after this time, in milliseconds. */
const noneFor = 3_600_000;
const withoutStacks = cachePerService<string, true>(1000, noneFor);

type StackAnswer = { number: number; base: { ref: string }; pull_requests: { number: number }[] };
type StackedAnswer = {
  number: number;
  stack?: { number: number; size: number; position: number; base: { ref: string } } | null;
};

/**
 * Every stack of a repository that has open pull requests. Stacks are a preview of GitHub: if it does not list them, or
 * has more than a page of former ones, the open pull requests say which stack they are in.
 * @throws GitHub's error.
 */
export async function readStacks(from: LoadFrom): Promise<Stack[]> {
  const { client, repository, signal } = from;
  if (withoutStacks(from.deps).get(String(repository.id))) return [];
  const place = { owner: repository.account.login, repo: repository.name, request: { signal } };
  try {
    const answer = await client.request('GET /repos/{owner}/{repo}/stacks', { ...place, per_page: perPage });
    const stacks = answer.data as StackAnswer[];
    if (stacks.length < perPage) return stacks.map(stackOf);
  } catch (error) {
    const { kind } = classifyGitHubError(error, from.deps.clock.now());
    if (kind !== 'absent' && kind !== 'forbidden') throw error;
  }
  return stacksOfOpen(from, place);
}

const stackOf = ({ number, base, pull_requests: members }: StackAnswer): Stack => ({
  number,
  base: base.ref,
  size: members.length,
  places: members.map((member, index) => ({ pullRequest: member.number, position: index + 1 })),
});

async function stacksOfOpen(
  { client, deps, repository }: LoadFrom,
  place: { owner: string; repo: string; request: { signal?: AbortSignal } },
): Promise<Stack[]> {
  const stacks = new Map<number, Stack>();
  for (let page = 1; ; page++) {
    const { data } = await client.rest.pulls.list({ ...place, state: 'open', per_page: perPage, page });
    const open = data as StackedAnswer[];
    if (open[0] && open[0].stack === undefined) {
      // This GitHub, such as an Enterprise Server, has no stacks.
      withoutStacks(deps).set(String(repository.id), true);
      break;
    }
    for (const { number, stack } of open) {
      if (!stack) continue;
      const { position, size } = stack;
      const known = stacks.get(stack.number) ?? {
        number: stack.number,
        base: stack.base.ref,
        size,
        places: [],
      };
      known.places.push({ pullRequest: number, position });
      stacks.set(stack.number, known);
    }
    if (open.length < perPage) break;
  }
  return [...stacks.values()];
}
