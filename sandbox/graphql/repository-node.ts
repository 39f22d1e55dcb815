import type { GraphQLResolveInfo } from 'graphql';
import { instantJson } from '../json/instant-json.ts';
import { accountNode } from './account-node.ts';
import { connection, type ConnectionArguments } from './connection.ts';
import type { View } from './view.ts';
import { fullNameOf } from '../state/world.ts';
import { mergeQueueNode } from './merge-queue-node.ts';
import { pullRequestNode } from './pull-request-node.ts';
import { isExplicit } from '../state/access.ts';
import { matches } from './people-search.ts';
import { refusal } from './refusal.ts';
import type { PullRequest, Repository } from '../state/model.ts';

interface PullRequestsArguments extends ConnectionArguments {
  states?: string[] | null;
  baseRefName?: string | null;
  headRefName?: string | null;
  labels?: string[] | null;
  orderBy?: { field: string; direction: 'ASC' | 'DESC' } | null;
}

/** A repository in GraphQL. */
export function repositoryNode(view: View, repository: Repository): object {
  const fullName = fullNameOf(repository);
  return {
    __typename: 'Repository',
    id: repository.nodeId,
    databaseId: repository.id,
    name: repository.name,
    nameWithOwner: fullName,
    owner: () => accountNode(repository.owner),
    url: `https://github.com/${fullName}`,
    resourcePath: `/${fullName}`,
    isPrivate: repository.private,
    isArchived: repository.archived,
    isFork: repository.fork,
    isDisabled: false,
    visibility: repository.private ? 'PRIVATE' : 'PUBLIC',
    createdAt: instantJson(repository.createdAt),
    defaultBranchRef: { __typename: 'Ref', id: `${repository.nodeId}_ref`, name: repository.defaultBranch },
    object: ({ expression }: { expression: string }) => fileNode(repository, expression),
    pullRequests: (args: PullRequestsArguments, _: unknown, info: GraphQLResolveInfo) => {
      const { key, items } = selected(view.world.formerVersions.pullRequests(repository, view.asOf), args);
      return connection(items, args, info, (pr) => pullRequestNode(view, pr), key);
    },
    // Whoever has access by more than that it is public.
    mentionableUsers: (
      { query, ...args }: ConnectionArguments & { query?: string | null },
      _: unknown,
      info: GraphQLResolveInfo,
    ) => {
      const found = [...view.world.accounts.values()].filter(
        (each) =>
          each.type === 'User' && isExplicit(each, repository) && matches(query ?? '', each.login, each.name),
      );
      return connection(found, args, info, accountNode);
    },
    mergeQueue: ({ branch }: { branch?: string | null }) => {
      const queue = repository.mergeQueues.get(branch ?? repository.defaultBranch);
      return queue ? mergeQueueNode(view, queue) : null;
    },
    pullRequest: ({ number }: { number: number }) => {
      const now = repository.pullRequests.get(number);
      const pr = now && view.world.formerVersions.pullRequest(now, view.asOf);
      if (pr) return pullRequestNode(view, pr);
      throw refusal('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`);
    },
  };
}

/** A file of the default branch, or a folder with its files: `HEAD:.github/workflows`. */
function fileNode({ files }: Repository, expression: string): object | null {
  const path = expression.replace(/^HEAD:/, '');
  const text = files.get(path);
  if (text !== undefined) return { __typename: 'Blob', text, byteSize: Buffer.byteLength(text) };
  const names = [...files.keys()].filter((each) => each.startsWith(`${path}/`));
  if (names.length === 0) return null;
  const entries = names.map((name) => ({
    __typename: 'TreeEntry',
    name: name.slice(path.length + 1),
    object: () => fileNode({ files } as Repository, `HEAD:${name}`),
  }));
  return { __typename: 'Tree', entries };
}

/** The requested pull requests, in order, with a key that rises in that order. */
function selected(all: PullRequest[], args: PullRequestsArguments) {
  const { states, baseRefName, headRefName, labels, orderBy } = args;
  const sign = orderBy?.direction === 'DESC' ? -1 : 1;
  const updated = orderBy?.field === 'UPDATED_AT';
  // The number orders two pull requests that were updated in the same millisecond.
  const key = (pr: PullRequest) =>
    sign * (updated ? pr.updatedAt.getTime() * 1_000 + (pr.number % 1_000) : pr.number);
  const items = all
    .filter(
      (pr) =>
        (!states || states.includes(stateOf(pr))) &&
        (!baseRefName || pr.base === baseRefName) &&
        (!headRefName || pr.head.ref === headRefName) &&
        (!labels || pr.labels.some((label) => labels.includes(label.name))),
    )
    .sort((one, other) => key(one) - key(other));
  return { key, items };
}

function stateOf(pr: PullRequest): string {
  return pr.merged ? 'MERGED' : pr.state.toUpperCase();
}
