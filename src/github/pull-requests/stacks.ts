import { cachePerService } from '../cache.ts';
import { classifyGitHubError } from '../github-error.ts';
import type { LoadFrom } from './load-pull-requests.ts';
import type { Stack, StackPlace } from './pull-request.ts';

/** The stacks of a repository, from its row. */
export const stacksOf = ({ stacks }: { stacks: unknown }): Stack[] => stacks as Stack[];

/** The places of all pull requests in these stacks, by number. */
export const stackPlacesIn = (stacks: Stack[]): Map<number, StackPlace> =>
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

const stacksPerPage = 100;
/** Former stacks stay in GitHub's list. Where it is longer than so many pages, the open pull requests are fewer. */
const mostPagesOfStacks = 10;
/** Where GitHub does not have stacks, we look for them again after this time, in milliseconds. */
const noneFor = 3_600_000;
const withoutStacks = cachePerService<string, true>(1000, noneFor);

type StackAnswer = {
  number: number;
  base: { ref: string };
  /** False if all its pull requests are merged or closed. */
  open: boolean;
  pull_requests: { number: number }[];
};
type StackedAnswer = {
  number: number;
  /** GitHub leaves it out of a pull request that is in no stack. */
  stack?: { number: number; size: number; position: number; base: { ref: string } } | null;
};

/**
 * Every stack of a repository that has open pull requests. Stacks are a preview of GitHub: if it does not list them, or
 * lists too many former ones, the open pull requests say which stack they are in.
 * @throws GitHub's error.
 */
export async function readStacks(from: LoadFrom): Promise<Stack[]> {
  const nowhere = withoutStacks(from.deps);
  const key = String(from.repository.id);
  if (nowhere.get(key)) return [];
  const listed = await listStacks(from);
  if (Array.isArray(listed)) return listed;
  const { stacks, open } = await stacksOfOpen(from);
  // This GitHub, such as an Enterprise Server, has no stacks. A refusal does not say so.
  if (listed === 'absent' && open > 0 && stacks.length === 0) nowhere.set(key, true);
  return stacks;
}

/** @returns why GitHub does not list them, if it does not. */
async function listStacks(from: LoadFrom): Promise<Stack[] | 'absent' | 'refused' | 'too many'> {
  const all: StackAnswer[] = [];
  try {
    for (let page = 1; page <= mostPagesOfStacks; page++) {
      const asked = { ...placeInStack(from), per_page: stacksPerPage, page };
      const { data } = await from.client.request('GET /repos/{owner}/{repo}/stacks', asked);
      all.push(...(data as StackAnswer[]));
      if ((data as StackAnswer[]).length < stacksPerPage)
        return all.filter(({ open }) => open !== false).map(stackOf);
    }
    return 'too many';
  } catch (error) {
    const { kind } = classifyGitHubError(error, from.deps.clock.now());
    if (kind === 'absent') return kind;
    if (kind === 'forbidden') return 'refused';
    throw error;
  }
}

const placeInStack = ({ repository, signal }: LoadFrom) => ({
  owner: repository.account.login,
  repo: repository.name,
  request: { signal },
});

const stackOf = ({ number, base, pull_requests: members }: StackAnswer): Stack => ({
  number,
  base: base.ref,
  size: members.length,
  places: members.map((member, index) => ({ pullRequest: member.number, position: index + 1 })),
});

/** @returns also how many pull requests are open. */
async function stacksOfOpen(from: LoadFrom): Promise<{ stacks: Stack[]; open: number }> {
  const { rest } = from.client;
  const asked = { ...placeInStack(from), state: 'open', per_page: stacksPerPage } as const;
  const stacks = new Map<number, Stack>();
  let count = 0;
  for (let page = 1; ; page++) {
    const { data } = await rest.pulls.list({ ...asked, page });
    const open = data as StackedAnswer[];
    count += open.length;
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
    if (open.length < stacksPerPage) return { stacks: [...stacks.values()], open: count };
  }
}
