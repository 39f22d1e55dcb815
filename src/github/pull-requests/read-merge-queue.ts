import { emptyPage, type FactsPage, pageField, withOwnStatus } from '../facts/attribute-group.ts';
import { readToEnd } from './ask-in-part.ts';
import { type LoadFrom, loadScopes } from './load-pull-requests.ts';
import { ownNames, ours } from './own-repository.ts';
import { check, type CheckAnswer, checkOf, type QueuedCheck } from './queued-check.ts';
import {
  type CommitStatusAnswer,
  didNotGive,
  known,
  unknownFact,
  type PresentStatus,
  statusIn,
} from './pull-request.ts';
import { classifyGitHubError } from '../github-error.ts';
import { loginOf } from '../facts/own-values.ts';
import type { ActorAnswer } from './pull-request-answer.ts';

/** A merge queue at GitHub, with its entries in order. */
export type MergeQueue = { timeoutMinutes: number; entries: QueueEntry[] };

export type QueueEntry = {
  number: number;
  nodeId: string;
  /** When its group was built, or when it was added if there is no group yet. */
  builtAt: Date;
  /** The head of its merge group; null until GitHub has built that. */
  headSha: string | null;
  /** Our status there. */
  status: PresentStatus;
};

/** GitHub's default, for an answer without a value. */
const usualTimeout = 60;

const entry = /* GraphQL */ `
  position
  enqueuedAt
  headCommit { committedDate ${withOwnStatus} }
  pullRequest { id number }
`;
/** A page of a branch's merge queue, with our status on the head of each merge group. */
export const mergeQueueQuery = /* GraphQL */ `
  query MergeQueue($owner: String!, $name: String!, $branch: String!, $context: String!, $after: String) {
    repository(owner: $owner, name: $name) {
      databaseId
      mergeQueue(branch: $branch) {
        configuration { checkResponseTimeout }
        entries(first: 100, after: $after) ${pageField(entry)}
      }
    }
  }
`;

type EntryAnswer = {
  position: number;
  enqueuedAt: string;
  headCommit: (CommitStatusAnswer & { committedDate: string }) | null;
  pullRequest: { id: string; number: number } | null;
};

type MergeQueueAnswer = {
  repository: {
    databaseId: number;
    mergeQueue: {
      configuration: { checkResponseTimeout: number | null } | null;
      entries: FactsPage<EntryAnswer> | null;
    } | null;
  } | null;
};

/**
 * The merge queue of a branch; one without entries if the branch has none.
 * @throws GitHub's errors, also for a partial answer, so that nothing looks absent by mistake.
 */
export async function readMergeQueue(from: LoadFrom, branch: string): Promise<MergeQueue> {
  const { client, deps } = from;
  const variables = { ...ownNames(from), branch, context: deps.config.statusContext };
  let timeoutMinutes = 0;
  const missed = unknownFact(didNotGive('merge queue'));
  const entries = await readToEnd<EntryAnswer>(missed, async (after) => {
    const answer: MergeQueueAnswer = await client.graphql(mergeQueueQuery, { ...variables, after });
    const queue = ours(from, answer.repository)?.mergeQueue;
    if (!queue) return known(emptyPage);
    timeoutMinutes = inMinutes(queue.configuration?.checkResponseTimeout) || timeoutMinutes || usualTimeout;
    return known(queue.entries);
  });
  if (!entries.known) throw new Error(entries.reason);
  const inOrder = entries.value.toSorted((one, other) => one.position - other.position);
  return { timeoutMinutes, entries: inOrder.map(entryOf) };
}

/** The longest that the settings of a queue allow. */
const longestTimeout = 360;

/** The schema says minutes. People have seen 21600, which is the longest time-out in seconds. */
const inMinutes = (timeout: number | null | undefined): number | null | undefined =>
  timeout && timeout > longestTimeout ? timeout / 60 : timeout;

function entryOf(node: EntryAnswer): QueueEntry {
  if (!node.pullRequest) throw new Error("GitHub's answer lacks a pull request of the merge queue");
  return {
    number: node.pullRequest.number,
    nodeId: node.pullRequest.id,
    builtAt: latest(node.enqueuedAt, node.headCommit?.committedDate),
    headSha: node.headCommit?.oid ?? null,
    status: node.headCommit ? statusIn(node.headCommit) : null,
  };
}

const latest = (one: string, other: string | undefined): Date =>
  new Date(Math.max(Date.parse(one), other === undefined ? 0 : Date.parse(other)));

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
    checks: QueuedCheck[];
  } | null;
};

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
      databaseId
      mergeQueue(branch: $branch) { entries(first: 100) { nodes { ${queued} } } }
    }
  }
`;

export const queuedOneQuery = /* GraphQL */ `
  query QueuedOne($owner: String!, $name: String!, $number: Int!) {
    repository(owner: $owner, name: $name) {
      databaseId
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
    statusCheckRollup: { contexts: { nodes: (CheckAnswer | null)[] | null } } | null;
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
      databaseId: number;
      mergeQueue: { entries: { nodes: (QueuedEntryAnswer | null)[] | null } | null } | null;
    } | null;
  };
  const answer: Answer = await from.client.graphql(queuedQuery, { ...ownNames(from), branch });
  const entries = ours(from, answer.repository)?.mergeQueue?.entries?.nodes ?? [];
  const queued = await withScopes(from, entries);
  return queued.toSorted((one, other) => one.position - other.position);
}

/** The entry of one pull request; null if it is in no queue. @throws GitHub's error. */
export async function readQueuedOne(from: LoadFrom, number: number): Promise<Queued | null> {
  type Answer = {
    repository: {
      databaseId: number;
      pullRequest: { mergeQueueEntry: QueuedEntryAnswer | null } | null;
    } | null;
  };
  let answer: Answer;
  try {
    answer = await from.client.graphql(queuedOneQuery, { ...ownNames(from), number });
  } catch (error) {
    if (classifyGitHubError(error, from.deps.clock.now()).kind === 'absent') return null;
    throw error;
  }
  const entry = ours(from, answer.repository)?.pullRequest?.mergeQueueEntry ?? null;
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
