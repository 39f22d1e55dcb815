import { GraphqlResponseError } from '@octokit/graphql';
import type { FactNeeds } from '../conditions/needed-facts.ts';
import type { Deps } from '../deps.ts';
import type { GitHubClient } from '../github/github-app.ts';
import type { FoundRepository } from '../repositories/find-repository.ts';
import { loadScopes } from '../scopes/load-scopes.ts';
import { readChangedFiles } from './read-changed-files.ts';
import type { Fact, PullRequestFacts } from './pull-request.ts';
import {
  openPullRequestsQuery,
  type PullRequestAnswer,
  pullRequestNodesQuery,
  pullRequestQuery,
} from './queries.ts';

/** A pull request as it stands at GitHub: what conditions read, our present status, and how urgent it is. */
export type LoadedPullRequest = {
  facts: PullRequestFacts;
  isOpen: boolean;
  status: { state: string; description: string } | null;
  isQueued: boolean;
  isMergeable: boolean;
};

/** Where to read, and which facts the present conditions need. */
export type LoadFrom = {
  deps: Pick<Deps, 'db' | 'config' | 'log'>;
  client: GitHubClient;
  repository: FoundRepository;
  needs: FactNeeds;
};

/**
 * Every open pull request of a repository, in pages of 100. Facts that GitHub left out are marked as not known.
 * @throws what GitHub throws when a page, or a pull request on it, is missing altogether.
 */
export async function loadOpenPullRequests(from: LoadFrom): Promise<LoadedPullRequest[]> {
  type Page = {
    repository: {
      pullRequests: {
        nodes: (PullRequestAnswer | null)[] | null;
        pageInfo: { hasNextPage: boolean; endCursor: string | null };
      };
    } | null;
  };
  const answers: PullRequestAnswer[] = [];
  let after: string | null = null;
  do {
    const page: Page = await ask<Page>(from, openPullRequestsQuery, { ...names(from), after });
    const list = page.repository?.pullRequests;
    if (!list?.nodes) throw incomplete('a page of pull requests');
    for (const node of list.nodes) {
      if (!node) throw incomplete('a pull request');
      answers.push(node);
    }
    after = list.pageInfo.hasNextPage ? list.pageInfo.endCursor : null;
  } while (after !== null);
  return complete(from, answers);
}

/** One pull request, open or not; null when the repository has none of this number. */
export async function loadPullRequest(from: LoadFrom, number: number): Promise<LoadedPullRequest | null> {
  type Answer = { repository: { pullRequest: PullRequestAnswer | null } | null };
  const answer = await ask<Answer>(from, pullRequestQuery, { ...names(from), number });
  const pullRequest = answer.repository?.pullRequest;
  return pullRequest ? (await complete(from, [pullRequest]))[0]! : null;
}

/** Pull requests by node id, at most 100. Those that are gone are left out. */
export async function loadPullRequestNodes(from: LoadFrom, ids: string[]): Promise<LoadedPullRequest[]> {
  const answer = await ask<{ nodes: (PullRequestAnswer | null)[] }>(from, pullRequestNodesQuery, { ids });
  return complete(
    from,
    answer.nodes.filter((node) => node !== null),
  );
}

const names = ({ repository }: LoadFrom) => ({ owner: repository.account.login, name: repository.name });

/**
 * What GitHub answers. An answer in part counts only where we can tell what its nulls mean: facts that are not
 * known, or pull requests that are gone. Any other error is thrown, so that nothing is taken for absent.
 */
async function ask<Answer>(
  from: LoadFrom,
  query: string,
  variables: Record<string, unknown>,
): Promise<Answer> {
  const { client, deps, needs } = from;
  const shared = { context: deps.config.statusContext, withLabels: needs.labels, withFiles: needs.files };
  try {
    return await client.graphql<Answer>(query, { ...shared, ...variables });
  } catch (error) {
    if (!(error instanceof GraphqlResponseError) || !error.data) throw error;
    const errors = (error.errors ?? []) as GraphqlError[];
    if (!errors.every((each) => isAboutOneFact(each) || isGonePullRequest(each))) throw error;
    deps.log.warn({ err: error }, 'GitHub answered in part');
    return error.data as Answer;
  }
}

type GraphqlError = { type?: string; path?: (string | number)[] };

const isAboutOneFact = ({ path = [] }: GraphqlError): boolean =>
  path.some((step) => step === 'labels' || step === 'files' || step === 'commits');

const isGonePullRequest = ({ type, path = [] }: GraphqlError): boolean =>
  type === 'NOT_FOUND' && (path.at(-1) === 'pullRequest' || path[0] === 'nodes');

const incomplete = (what: string) => new Error(`GitHub's answer lacks ${what}`);

async function complete(from: LoadFrom, answers: PullRequestAnswer[]): Promise<LoadedPullRequest[]> {
  const { deps, repository, needs } = from;
  const numbers = answers.map(({ number }) => number);
  const scopes = needs.scopes ? await loadScopes(deps.db, repository.id, numbers) : new Map();
  const loaded: LoadedPullRequest[] = [];
  for (const answer of answers) {
    const files = needs.files ? await filesOf(from, answer) : notNeeded;
    const facts: PullRequestFacts = {
      number: answer.number,
      nodeId: answer.id,
      headSha: answer.headRefOid,
      isDraft: answer.isDraft,
      title: answer.title,
      author: authorOf(answer),
      base: answer.baseRefName,
      head: answer.headRefName,
      labels: needs.labels ? labelsOf(answer) : notNeeded,
      files,
      scopes: scopes.get(answer.number) ?? { names: [], all: false },
    };
    loaded.push({
      facts,
      isOpen: answer.state === 'OPEN',
      status: presentStatus(answer),
      isQueued: answer.mergeQueueEntry !== null || answer.autoMergeRequest !== null,
      isMergeable: answer.mergeable === 'MERGEABLE',
    });
  }
  return loaded;
}

const notNeeded: Fact<never> = { known: false, reason: 'not asked for' };

/** GraphQL calls a bot `dependabot`; everywhere else, and in conditions, it is `dependabot[bot]`. */
function authorOf({ author }: PullRequestAnswer): string | null {
  if (!author) return null;
  return author.__typename === 'Bot' ? `${author.login}[bot]` : author.login;
}

function labelsOf({ labels }: PullRequestAnswer): Fact<string[]> {
  // GitHub allows 100 labels on a pull request, so one page is all of them.
  if (!labels?.nodes || labels.nodes.includes(null))
    return { known: false, reason: 'GitHub did not give its labels' };
  return { known: true, value: labels.nodes.map((label) => label!.name) };
}

/** Over 100 files, or with a rename (whose old path GraphQL does not tell), the REST list is read instead. */
async function filesOf(from: LoadFrom, { files, number }: PullRequestAnswer): Promise<Fact<string[]>> {
  const nodes = files?.nodes;
  const isWhole =
    nodes && !files.pageInfo.hasNextPage && nodes.every((file) => file && file.changeType !== 'RENAMED');
  if (isWhole) return { known: true, value: nodes.map((file) => file!.path) };
  return readChangedFiles(from, number);
}

/** Our status on the head commit, in REST's words; null where there is none. */
function presentStatus({ commits, headRefOid }: PullRequestAnswer): LoadedPullRequest['status'] {
  const commit = commits?.nodes?.[0]?.commit;
  if (commit?.oid !== headRefOid) return null;
  const context = commit.status?.context;
  return context ? { state: context.state.toLowerCase(), description: context.description ?? '' } : null;
}
