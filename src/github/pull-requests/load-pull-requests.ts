import pLimit from 'p-limit';
import type { FactNeeds } from '../../conditions/needs.ts';
import type { GitHubClient } from '../github-app.ts';
import { askForPullRequests, isTooMuch, type ReadPullRequest, askInPart } from './ask-in-part.ts';
import type { Tx } from '../../database/database.ts';
import type { FactsPage } from '../facts/attribute-group.ts';
import { loginOf } from '../facts/own-values.ts';
import { assertStillNamed, ownNames, ours } from './own-repository.ts';
import { type PresentStatus, type PullRequestFacts, statusIn, type Stack } from './pull-request.ts';
import {
  closedPullRequestsQuery,
  openPullRequestsQuery,
  pullRequestNodesQuery,
  pullRequestQuery,
} from './queries.ts';
import { readFacts, type Shared } from './read-facts.ts';
import { readTeams } from './read-teams.ts';
import { stackPlacesIn, readStacks } from './stacks.ts';
import type { GitHubDeps } from '../github-deps.ts';
import { headOf, type PullRequestAnswer } from './pull-request-answer.ts';

/** A pull request at GitHub: the facts that conditions read, our current status, and how urgent it is. */
export type LoadedPullRequest = {
  facts: PullRequestFacts;
  isOpen: boolean;
  isDraft: boolean;
  title: string;
  /** The login, with `[bot]` for bots; null for a deleted account. */
  author: string | null;
  status: PresentStatus;
  /** The test merge commit, and our status there, which counts before the head's. */
  testMerge: { sha: string; status: PresentStatus } | null;
  /** Whether GitHub has not made the test merge commit yet. False if there is none, after a conflict or a close. */
  isTestMergeUnderWay: boolean;
  /** The commits that its head merges, if it is a merge commit; null in a page of all pull requests. */
  headMerges: string | null;
  isAutoMerging: boolean;
  /** The branch whose merge queue it is in. */
  queueBranch: string | null;
  isMergeable: boolean;
  /** Its head branch; absent if that is in another repository. */
  headBranch?: string;
  /** Whose fork its head is in: a login, or `unknownFork`; empty if its head is in this repository. */
  headOwner: string;
};

/** The owner of a fork that is gone. No login has this character. */
const unknownFork = '?';

/** Where to read, and which facts the current conditions need. */
export type LoadFrom = {
  deps: Pick<GitHubDeps, 'db' | 'sql' | 'github' | 'clock' | 'config' | 'log'>;
  client: GitHubClient;
  repository: {
    id: bigint;
    name: string;
    account: { login: string; type: string };
    installation: { id: bigint };
  };
  needs: FactNeeds;
  /** Whether more facts change nothing for the reader. Then nothing more is asked about this pull request. */
  isDecided?: (facts: PullRequestFacts) => boolean;
  /** Whether it leaves the part of the hour alone that is kept for freezes that begin or end, and for holes. */
  leavesReserve?: boolean;
  /** The stacks as they were last read. `loadRepository` reads them again if there can be some. */
  stacks: Stack[];
  /** After an abort, nothing more is asked. */
  signal?: AbortSignal;
};

/** The largest page that GitHub gives. */
const mostPerPage = 100;
/** The page size that GitHub answers in time if 100 are too many. */
const few = 20;
/** How many pull requests' further facts are read at the same time. */
const concurrency = 5;

/** A repository at GitHub: every open pull request, the stacks, and whether it is private. */
type LoadedRepository = { pullRequests: LoadedPullRequest[]; stacks: Stack[]; isPrivate: boolean };

/** Every open pull request of a repository, as `loadRepository` reads them. */
export const loadOpenPullRequests = async (from: LoadFrom): Promise<LoadedPullRequest[]> =>
  (await loadRepository(from)).pullRequests;

/**
 * Reads every open pull request of a repository, in pages of 100. Marks facts that GitHub left out as not known.
 * @throws GitHub's error if a page, or a pull request on it, is missing.
 */
export async function loadRepository(from: LoadFrom): Promise<LoadedRepository> {
  const read: ReadPullRequest[] = [];
  let isPrivate = false;
  let defaultBranch: string | undefined;
  for await (const page of pagesOf(from, openPullRequestsQuery)) {
    read.push(...page.read);
    ({ isPrivate, defaultBranch } = page);
  }
  // Of a stack that has more than one open pull request, all but the bottom one merge into a head branch. Most
  // repositories have only pull requests into the default branch, and cost no further request.
  const mayBeStacked =
    from.stacks.length > 0 || read.some(({ answer }) => answer.baseRefName !== defaultBranch);
  const stacks = mayBeStacked ? await readStacks(from) : [];
  return { pullRequests: await complete({ ...from, stacks }, read), stacks, isPrivate };
}

/** How many closed pull requests are read: those that changed last. */
const mostClosed = 1000;

/**
 * The pull requests that were closed since then and not merged, among the last 1,000 that changed.
 * @throws as `loadRepository`.
 */
export async function loadClosedPullRequests(from: LoadFrom, since: Date): Promise<LoadedPullRequest[]> {
  const read: ReadPullRequest[] = [];
  let seen = 0;
  const isSince = (time: string | null) => time !== null && Date.parse(time) >= since.getTime();
  for await (const page of pagesOf(from, closedPullRequestsQuery)) {
    read.push(...page.read.filter(({ answer }) => isSince(answer.closedAt)));
    seen += page.read.length;
    // They come in the order of their changes, and closing is a change.
    if (seen >= mostClosed || page.read.some(({ answer }) => !isSince(answer.updatedAt))) break;
  }
  return complete(from, read);
}

/**
 * Asks for as many pull requests at once as GitHub answers in time. After a question that is too big, this one and the
 * next ones are smaller.
 */
function asManyAsItCan() {
  let size = mostPerPage;
  return async <Answer>(ask: (size: number) => Promise<Answer>): Promise<Answer> => {
    try {
      return await ask(size);
    } catch (error) {
      if (size === few || !isTooMuch(error)) throw error;
      size = few;
      return ask(size);
    }
  };
}

/** A list of pull requests, page by page. */
async function* pagesOf(from: LoadFrom, query: string) {
  const asMany = asManyAsItCan();
  let after: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<typeof readPage>> = await asMany((size) =>
      readPage(from, query, size, after),
    );
    yield page;
    if (!page.hasNextPage) return;
    after = page.endCursor;
  }
}

/** One pull request, open or not; null if the repository has none with this number. */
export async function loadPullRequest(from: LoadFrom, number: number): Promise<LoadedPullRequest | null> {
  type Answer = { repository: { databaseId: number; pullRequest: PullRequestAnswer | null } | null };
  const { read } = await askForPullRequests<Answer>(from, {
    query: pullRequestQuery,
    variables: { ...ownNames(from), number },
    path: ['repository', 'pullRequest'],
    pullRequestsOf: ({ repository }) => [ours(from, repository)?.pullRequest ?? null],
  });
  return read[0] ? (await complete(from, [read[0]]))[0]! : null;
}

/** Pull requests by node id. Leaves out those that are gone. */
export async function loadPullRequestNodes(from: LoadFrom, ids: string[]): Promise<LoadedPullRequest[]> {
  const all: (ReadPullRequest | null)[] = [];
  const asMany = asManyAsItCan();
  for (let rest = ids; rest.length > 0;) {
    const { read, asked } = await asMany(async (size) => {
      const asked = rest.slice(0, size);
      const question = {
        query: pullRequestNodesQuery,
        variables: { ids: asked },
        path: ['nodes'],
        pullRequestsOf: ({ nodes }: { nodes: (PullRequestAnswer | null)[] }) => nodes,
      };
      return { asked, ...(await askForPullRequests(from, question, size > few)) };
    });
    all.push(...read);
    rest = rest.slice(asked.length);
  }
  const found = all.filter((pullRequest) => pullRequest !== null);
  for (const { answer } of found) assertStillNamed(from, answer);
  return complete(from, found);
}

const incomplete = (what: string) => new Error(`GitHub's answer lacks ${what}`);

async function readPage(from: LoadFrom, query: string, first: number, after: string | null) {
  from.signal?.throwIfAborted();
  type Answer = {
    repository: {
      databaseId: number;
      isPrivate: boolean;
      defaultBranchRef: { name: string } | null;
      pullRequests: FactsPage<PullRequestAnswer>;
    } | null;
  };
  const { read, answer } = await askForPullRequests<Answer>(
    from,
    {
      query,
      variables: { ...ownNames(from), first, after },
      path: ['repository', 'pullRequests', 'nodes'],
      pullRequestsOf({ repository }) {
        const { nodes } = ours(from, repository)?.pullRequests ?? { nodes: null };
        if (!nodes) throw incomplete('a page of pull requests');
        return nodes;
      },
    },
    first > few,
  );
  const whole = read.filter((pullRequest) => pullRequest !== null);
  const { isPrivate, defaultBranchRef, pullRequests } = answer.repository!;
  const { hasNextPage, endCursor } = pullRequests.pageInfo;
  if (whole.length < read.length) throw incomplete('a pull request');
  if (hasNextPage && (endCursor === null || endCursor === after)) throw incomplete('the next page');
  return { read: whole, isPrivate, defaultBranch: defaultBranchRef?.name, hasNextPage, endCursor };
}

async function complete(from: LoadFrom, read: ReadPullRequest[]): Promise<LoadedPullRequest[]> {
  if (read.length === 0) return [];
  const { deps, repository, needs } = from;
  const numbers = read.map(({ answer }) => answer.number);
  const shared: Shared = {
    teams: await readTeams(from, needs.teams),
    scopes: needs.facts.has('scopes') ? await loadScopes(deps.db, repository.id, numbers) : null,
    answers: new Map(),
    places: stackPlacesIn(from.stacks),
  };
  const limit = pLimit(concurrency);
  return limit.map(read, async (one) => {
    try {
      from.signal?.throwIfAborted();
      return { facts: await readFacts(from, shared, one), ...statusOf(one.answer) };
    } catch (error) {
      // Nobody waits for the rest.
      limit.clearQueue();
      throw error;
    }
  });
}

/** The pushed scopes of these pull requests. A pull request without a push is not in the map. */
export async function loadScopes(
  tx: Tx,
  repositoryId: bigint,
  numbers: number[],
): Promise<Map<number, { names: string[]; all: boolean }>> {
  const rows = await tx.pullRequestScopes.findMany({ where: { repositoryId, number: { in: numbers } } });
  return new Map(rows.map((row) => [row.number.toNumber(), { names: row.scopes, all: row.allScopes }]));
}

/** The fields that do not depend on conditions. */
function statusOf(answer: PullRequestAnswer): Omit<LoadedPullRequest, 'facts'> {
  const { state, mergeable, potentialMergeCommit: testMerge } = answer;
  const head = headOf(answer);
  return {
    isOpen: state === 'OPEN',
    isDraft: answer.isDraft,
    title: answer.title,
    author: loginOf(answer.author),
    status: head && statusIn(head),
    testMerge: testMerge && { sha: testMerge.oid, status: statusIn(testMerge) },
    isTestMergeUnderWay: state === 'OPEN' && !testMerge && mergeable !== 'CONFLICTING',
    headMerges: head?.parents?.nodes?.[1]?.oid ?? null,
    isAutoMerging: answer.autoMergeRequest !== null,
    queueBranch: answer.mergeQueueEntry === null ? null : answer.baseRefName,
    isMergeable: mergeable === 'MERGEABLE',
    ...(!answer.isCrossRepository && { headBranch: answer.headRefName }),
    headOwner: answer.isCrossRepository ? (answer.headRepositoryOwner?.login ?? unknownFork) : '',
  };
}

/** GraphQL's `MergeStateStatus`. */
export type MergeState =
  'BEHIND' | 'BLOCKED' | 'CLEAN' | 'DIRTY' | 'DRAFT' | 'HAS_HOOKS' | 'UNKNOWN' | 'UNSTABLE';

export const mergeStatesQuery = /* GraphQL */ `
  query MergeStates($ids: [ID!]!) {
    nodes(ids: $ids) {
      ... on PullRequest {
        id
        headRefOid
        baseRefName
        isDraft
        mergeStateStatus
      }
    }
  }
`;

type Answer = {
  nodes: ({
    id: string;
    headRefOid: string;
    baseRefName: string;
    isDraft: boolean;
    mergeStateStatus: MergeState;
  } | null)[];
};

/** Whether GitHub would merge a pull request, and the head of that answer. */
export type ReadMergeState = { headSha: string; base: string; state: MergeState };

/** How many GitHub answers with one question. */
export const mostMergeStates = 100;

/**
 * Whether GitHub would merge pull requests, by node id. Leaves out those that are gone. GitHub answers for the App: if
 * a branch restricts who can push to it, it may be blocked only for the App.
 * @param ids at most `mostMergeStates`.
 * @throws GitHub's errors.
 */
export async function readMergeStates(
  client: GitHubClient,
  ids: string[],
): Promise<Map<string, ReadMergeState>> {
  // Old GitHub Enterprise Servers have this field only under the name of its preview.
  const question = { ids, mediaType: { previews: ['merge-info'] } };
  const { answer } = await askInPart<Answer>(client, mergeStatesQuery, question);
  return new Map(
    answer.nodes
      .filter((node) => node !== null)
      .map(({ id, headRefOid: headSha, baseRefName: base, isDraft, mergeStateStatus }) => [
        id,
        { headSha, base, state: isDraft ? 'DRAFT' : mergeStateStatus },
      ]),
  );
}
