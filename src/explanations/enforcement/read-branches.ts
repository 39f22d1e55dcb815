import type { Fact } from '../../github/pull-requests/pull-request.ts';
import { stackPlacesIn, stacksOf } from '../../github/pull-requests/stacks.ts';
import { type Asking, askInTime } from './ask.ts';
import type { LookedAtBranch } from './judge-branch.ts';
import { namedBranches } from '../../freezes/judge-freeze.ts';

const openBasesQuery = /* GraphQL */ `
  query OpenBases($owner: String!, $name: String!, $after: String) {
    repository(owner: $owner, name: $name) {
      pullRequests(states: OPEN, first: 100, after: $after, orderBy: { field: UPDATED_AT, direction: DESC }) {
        nodes {
          number
          baseRefName
          headRefName
          isCrossRepository
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`;

type OpenPullRequest = {
  number: number;
  baseRefName: string;
  headRefName: string;
  isCrossRepository: boolean;
};

type OpenBasesAnswer = {
  repository: {
    pullRequests: {
      nodes: (OpenPullRequest | null)[];
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    };
  } | null;
};

/** Pages of open pull requests, those that changed last first: more bases than these have are looked at by nobody. */
const mostPagesOfBases = 5;

/** The branches that freezes can touch, as far as they could be found. */
export type TouchedBranches = {
  defaultBranch: Fact<string>;
  /** Of open pull requests, and which of them are heads of others. */
  bases: Fact<LookedAtBranch[]>;
  /** Named by conditions of present and scheduled freezes. */
  named: LookedAtBranch[];
};

/** Finds the branches that freezes of a repository can touch. @param freezes whose conditions may name some. */
export async function readBranches(
  asking: Asking,
  freezes: Parameters<typeof namedBranches>[0][],
): Promise<TouchedBranches> {
  const [defaultBranch, bases] = await Promise.all([readDefaultBranch(asking), readOpenBases(asking)]);
  const names = [...new Set(freezes.flatMap(namedBranches))];
  return { defaultBranch, bases, named: names.map((name) => ({ name, reason: 'freeze' })) };
}

/** The name of the repository's default branch. */
export const readDefaultBranch = (asking: Asking): Promise<Fact<string>> =>
  askInTime(
    asking,
    'installation',
    async ({ rest }, named) => (await rest.repos.get(named)).data.default_branch,
  );

function readOpenBases(asking: Asking): Promise<Fact<LookedAtBranch[]>> {
  return askInTime(asking, 'installation', async (client, { owner, repo: name, request }) => {
    const open: OpenPullRequest[] = [];
    let after: string | null = null;
    for (let page = 0; page < mostPagesOfBases; page++) {
      const answer: OpenBasesAnswer = await client.graphql(openBasesQuery, { owner, name, after, request });
      if (!answer.repository) throw new Error("GitHub's answer lacks the repository");
      const { nodes, pageInfo } = answer.repository.pullRequests;
      open.push(...nodes.filter((node) => node !== null));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    const heads = new Set(
      open.filter(({ isCrossRepository }) => !isCrossRepository).map(({ headRefName }) => headRefName),
    );
    // GitHub judges each pull request of a stack by the rules of the stack's base.
    const inStacks = stackPlacesIn(stacksOf(asking.repository));
    const bases = open.map(({ number, baseRefName }) => inStacks.get(number)?.base ?? baseRefName);
    return [...new Set(bases)].map((base) => ({ name: base, reason: heads.has(base) ? 'chained' : 'base' }));
  });
}

/** Each branch once, for its weightiest reason; the default branch first. */
export function allBranches({ defaultBranch, bases, named }: TouchedBranches): LookedAtBranch[] {
  const all: LookedAtBranch[] = [
    ...(defaultBranch.known ? [{ name: defaultBranch.value, reason: 'default' as const }] : []),
    ...named,
    ...(bases.known ? bases.value : []),
  ];
  return [...new Map(all.toReversed().map((branch) => [branch.name, branch])).values()].toReversed();
}
