import type { FactNeeds } from '../conditions/needed-facts.ts';
import type { Deps } from '../deps.ts';
import type { GitHubClient } from '../github/github-app.ts';
import type { FoundRepository } from '../repositories/find-repository.ts';
import { loadScopes } from '../scopes/load-scopes.ts';
import { askForPullRequests, isTooMuch, type ReadPullRequest } from './ask-for-pull-requests.ts';
import { atMost } from './at-most.ts';
import { loginOf } from './facts/login-of.ts';
import type { PullRequestFacts } from './pull-request.ts';
import { type PresentStatus, statusIn } from './present-status.ts';
import type { Page, PullRequestAnswer } from './queries/answers.ts';
import {
  openPullRequestsQuery,
  pullRequestNodesQuery,
  pullRequestQuery,
} from './queries/pull-request-queries.ts';
import { readFacts, type Shared } from './read-facts.ts';
import { readTeams } from './read-teams.ts';

/** A pull request as it stands at GitHub: what conditions read, our present status, and how urgent it is. */
export type LoadedPullRequest = {
  facts: PullRequestFacts;
  isOpen: boolean;
  isDraft: boolean;
  title: string;
  /** The login, with `[bot]` for bots; null for a deleted account. */
  author: string | null;
  status: PresentStatus;
  isAutoMerging: boolean;
  /** The branch whose merge queue it is in. */
  queueBranch: string | null;
  isMergeable: boolean;
};

/** Where to read, and which facts the present conditions need. */
export type LoadFrom = {
  deps: Pick<Deps, 'db' | 'config' | 'log'>;
  client: GitHubClient;
  repository: FoundRepository;
  needs: FactNeeds;
  /** Once it is aborted nothing more is asked. */
  signal?: AbortSignal;
};

/** GitHub gives no more at once. */
const most = 100;
/** How many it can answer in its time where 100 are too many. */
const few = 20;
/** Pull requests whose further facts are read at the same time. */
const concurrency = 5;

/** A repository as GitHub shows it: every open pull request, and whether it is private. */
export type LoadedRepository = { pullRequests: LoadedPullRequest[]; isPrivate: boolean };

/** Every open pull request of a repository, as `loadRepository` reads them. */
export const loadOpenPullRequests = async (from: LoadFrom): Promise<LoadedPullRequest[]> =>
  (await loadRepository(from)).pullRequests;

/**
 * Every open pull request of a repository, in pages of 100. Facts that GitHub left out are marked as not known.
 * @throws what GitHub throws when a page, or a pull request on it, is missing altogether.
 */
export async function loadRepository(from: LoadFrom): Promise<LoadedRepository> {
  const read: ReadPullRequest[] = [];
  let size = most;
  let after: string | null = null;
  for (;;) {
    let page: Awaited<ReturnType<typeof readOpen>>;
    try {
      page = await readOpen(from, size, after);
    } catch (error) {
      if (size === few || !isTooMuch(error)) throw error;
      size = few;
      continue;
    }
    read.push(...page.read);
    if (!page.hasNextPage) return { pullRequests: await complete(from, read), isPrivate: page.isPrivate };
    after = page.endCursor;
  }
}

/** One pull request, open or not; null when the repository has none of this number. */
export async function loadPullRequest(from: LoadFrom, number: number): Promise<LoadedPullRequest | null> {
  type Answer = { repository: { pullRequest: PullRequestAnswer | null } | null };
  const { read } = await askForPullRequests<Answer>(from, {
    query: pullRequestQuery,
    variables: { ...names(from), number },
    path: ['repository', 'pullRequest'],
    pullRequestsOf: ({ repository }) => [repository?.pullRequest ?? null],
  });
  return read[0] ? (await complete(from, [read[0]]))[0]! : null;
}

/** Pull requests by node id, at most 100. Those that are gone are left out. */
export async function loadPullRequestNodes(from: LoadFrom, ids: string[]): Promise<LoadedPullRequest[]> {
  return complete(from, await readNodes(from, ids, most));
}

const names = ({ repository }: LoadFrom) => ({ owner: repository.account.login, name: repository.name });

const incomplete = (what: string) => new Error(`GitHub's answer lacks ${what}`);

/** A page of the open pull requests. */
async function readOpen(from: LoadFrom, first: number, after: string | null) {
  from.signal?.throwIfAborted();
  type Answer = { repository: { isPrivate: boolean; pullRequests: Page<PullRequestAnswer> } | null };
  const { read, answer } = await askForPullRequests<Answer>(
    from,
    {
      query: openPullRequestsQuery,
      variables: { ...names(from), first, after },
      path: ['repository', 'pullRequests', 'nodes'],
      pullRequestsOf({ repository }) {
        if (!repository?.pullRequests?.nodes) throw incomplete('a page of pull requests');
        return repository.pullRequests.nodes;
      },
    },
    first > few,
  );
  const whole = read.filter((pullRequest) => pullRequest !== null);
  const { isPrivate, pullRequests } = answer.repository!;
  const { hasNextPage, endCursor } = pullRequests.pageInfo;
  if (whole.length < read.length) throw incomplete('a pull request');
  if (hasNextPage && (endCursor === null || endCursor === after)) throw incomplete('the next page');
  return { read: whole, isPrivate, hasNextPage, endCursor };
}

async function readNodes(from: LoadFrom, ids: string[], size: number): Promise<ReadPullRequest[]> {
  const read: (ReadPullRequest | null)[] = [];
  try {
    for (let at = 0; at < ids.length; at += size) {
      const question = {
        query: pullRequestNodesQuery,
        variables: { ids: ids.slice(at, at + size) },
        path: ['nodes'],
        pullRequestsOf: ({ nodes }: { nodes: (PullRequestAnswer | null)[] }) => nodes,
      };
      read.push(...(await askForPullRequests(from, question, size > few)).read);
    }
  } catch (error) {
    if (size === few || !isTooMuch(error)) throw error;
    return readNodes(from, ids, few);
  }
  return read.filter((pullRequest) => pullRequest !== null);
}

async function complete(from: LoadFrom, read: ReadPullRequest[]): Promise<LoadedPullRequest[]> {
  if (read.length === 0) return [];
  const { deps, repository, needs } = from;
  const numbers = read.map(({ answer }) => answer.number);
  const shared: Shared = {
    teams: await readTeams(from, needs.teams),
    scopes: needs.facts.has('scopes') ? await loadScopes(deps.db, repository.id, numbers) : null,
    mergedOnes: new Map(),
  };
  return atMost(concurrency, read, async (one) => {
    from.signal?.throwIfAborted();
    return { facts: await readFacts(from, shared, one), ...statusOf(one.answer) };
  });
}

/** How it stands, whatever conditions ask. */
function statusOf(answer: PullRequestAnswer): Omit<LoadedPullRequest, 'facts'> {
  return {
    isOpen: answer.state === 'OPEN',
    isDraft: answer.isDraft,
    title: answer.title,
    author: loginOf(answer.author),
    status: presentStatus(answer),
    isAutoMerging: answer.autoMergeRequest !== null,
    queueBranch: answer.mergeQueueEntry === null ? null : answer.baseRefName,
    isMergeable: answer.mergeable === 'MERGEABLE',
  };
}

/** Our status on the head commit, in REST's words; null where there is none. */
function presentStatus({ commits, headRefOid }: PullRequestAnswer): PresentStatus {
  const commit = commits?.nodes?.[0]?.commit;
  return commit?.oid === headRefOid ? statusIn(commit) : null;
}
