import { classifyGitHubError } from '../github-error.ts';
import type { ContextAnswer } from '../facts/checks.ts';
import { type ActorAnswer, loginOf } from '../facts/own-values.ts';
import { type LoadFrom, loadScopes, names } from './load-pull-requests.ts';

/** A pull request in GitHub's merge queue, for people who look at it. */
export type Queued = {
  number: number;
  title: string;
  url: string;
  author: { id: number; login: string } | null;
  labels: string[];
  scopes: string[];
  /** The branch of the queue. */
  branch: string;
  /** From 1, the front. */
  position: number;
  /** Whether somebody moved it to the front. */
  isJump: boolean;
  queuedAt: Date;
  /** Seconds that GitHub expects it to take; null if GitHub does not say. */
  mergesIn: number | null;
  /** Its merge group; null until GitHub has built one. */
  group: {
    headSha: string;
    builtAt: Date;
    state: 'QUEUED' | 'AWAITING_CHECKS' | 'MERGEABLE' | 'UNMERGEABLE' | 'LOCKED';
    /** The checks of its commit, at most 100. */
    checks: { name: string; state: string }[];
  } | null;
};

const check = '__typename ... on CheckRun { name conclusion } ... on StatusContext { context state }';
const queued = /* GraphQL */ `
  position
  jump
  state
  enqueuedAt
  estimatedTimeToMerge
  headCommit {
    oid
    committedDate
    statusCheckRollup { contexts(first: 100) { nodes { ${check} } } }
  }
  pullRequest {
    number
    title
    url
    baseRefName
    author { __typename login ... on User { databaseId } ... on Bot { databaseId } }
    labels(first: 100) { nodes { name } }
  }
`;

export const queuedQuery = /* GraphQL */ `
  query Queued($owner: String!, $name: String!, $branch: String) {
    repository(owner: $owner, name: $name) {
      mergeQueue(branch: $branch) { entries(first: 100) { nodes { ${queued} } } }
    }
  }
`;

export const queuedOneQuery = /* GraphQL */ `
  query QueuedOne($owner: String!, $name: String!, $number: Int!) {
    repository(owner: $owner, name: $name) {
      pullRequest(number: $number) { mergeQueueEntry { ${queued} } }
    }
  }
`;

type QueuedEntryAnswer = {
  position: number;
  jump: boolean;
  state: NonNullable<Queued['group']>['state'];
  enqueuedAt: string;
  estimatedTimeToMerge: number | null;
  headCommit: {
    oid: string;
    committedDate: string;
    statusCheckRollup: { contexts: { nodes: (ContextAnswer | null)[] | null } } | null;
  } | null;
  pullRequest: {
    number: number;
    title: string;
    url: string;
    baseRefName: string;
    author: (NonNullable<ActorAnswer> & { databaseId?: number | null }) | null;
    labels: { nodes: ({ name: string } | null)[] | null } | null;
  } | null;
};

/**
 * The merge queue of a branch, front first, at most 100 entries.
 * @param branch null for the default branch.
 * @throws GitHub's error.
 */
export async function readQueued(from: LoadFrom, branch: string | null): Promise<Queued[]> {
  type Answer = {
    repository: {
      mergeQueue: { entries: { nodes: (QueuedEntryAnswer | null)[] | null } | null } | null;
    } | null;
  };
  const answer: Answer = await from.client.graphql(queuedQuery, { ...names(from), branch });
  const entries = answer.repository?.mergeQueue?.entries?.nodes ?? [];
  const queued = await withScopes(from, entries);
  return queued.toSorted((one, other) => one.position - other.position);
}

/** The entry of one pull request; null if it is in no queue. @throws GitHub's error. */
export async function readQueuedOne(from: LoadFrom, number: number): Promise<Queued | null> {
  type Answer = {
    repository: { pullRequest: { mergeQueueEntry: QueuedEntryAnswer | null } | null } | null;
  };
  let answer: Answer;
  try {
    answer = await from.client.graphql(queuedOneQuery, { ...names(from), number });
  } catch (error) {
    if (classifyGitHubError(error, from.deps.clock.now()).kind === 'absent') return null;
    throw error;
  }
  const entry = answer.repository?.pullRequest?.mergeQueueEntry ?? null;
  return (await withScopes(from, [entry]))[0] ?? null;
}

async function withScopes(
  { deps, repository }: LoadFrom,
  entries: (QueuedEntryAnswer | null)[],
): Promise<Queued[]> {
  const queued = entries.flatMap((entry) => (entry ? (queuedOf(entry) ?? []) : []));
  const numbers = queued.map(({ number }) => number);
  const scopes = numbers.length > 0 ? await loadScopes(deps.db, repository.id, numbers) : new Map();
  return queued.map((one) => ({ ...one, scopes: scopes.get(one.number)?.names ?? [] }));
}

function queuedOf({ pullRequest, ...entry }: QueuedEntryAnswer): Queued | null {
  if (!pullRequest) return null;
  const { author, labels } = pullRequest;
  const { headCommit } = entry;
  const login = loginOf(author);
  return {
    number: pullRequest.number,
    title: pullRequest.title,
    url: pullRequest.url,
    author: login === null ? null : { id: author!.databaseId ?? 0, login },
    labels: (labels?.nodes ?? []).flatMap((label) => label?.name ?? []),
    scopes: [],
    branch: pullRequest.baseRefName,
    position: entry.position,
    isJump: entry.jump,
    queuedAt: new Date(entry.enqueuedAt),
    mergesIn: entry.estimatedTimeToMerge,
    group: headCommit && {
      headSha: headCommit.oid,
      builtAt: new Date(headCommit.committedDate),
      state: entry.state,
      checks: (headCommit.statusCheckRollup?.contexts.nodes ?? []).flatMap((each) =>
        each ? checkOf(each) : [],
      ),
    },
  };
}

/** The states of checks as clients of the interface know them. */
function checkOf(context: ContextAnswer): { name: string; state: string } {
  if (context.__typename === 'StatusContext')
    return { name: context.context, state: context.state.toLowerCase().replace('expected', 'pending') };
  return { name: context.name, state: (context.conclusion ?? 'pending').toLowerCase() };
}
