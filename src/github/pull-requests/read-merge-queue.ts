import type { LoadFrom } from './load-pull-requests.ts';
import { type PresentStatus, statusIn } from './present-status.ts';
import {
  type MergeQueueAnswer,
  type MergeQueueEntryAnswer,
  mergeQueueQuery,
} from '../queries/other-queries.ts';

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

/**
 * The merge queue of a branch, in pages of 100 entries; null if the branch has none.
 * @throws GitHub's errors, also for a partial answer, so that nothing looks absent by mistake.
 */
export async function readMergeQueue(from: LoadFrom, branch: string): Promise<MergeQueue | null> {
  const { client, deps, repository } = from;
  const variables = {
    owner: repository.account.login,
    name: repository.name,
    branch,
    context: deps.config.statusContext,
  };
  const entries: Placed[] = [];
  let timeoutMinutes = usualTimeout;
  let after: string | null = null;
  for (;;) {
    const answer: MergeQueueAnswer = await client.graphql(mergeQueueQuery, { ...variables, after });
    const queue = answer.repository?.mergeQueue;
    if (!queue) return null;
    timeoutMinutes = inMinutes(queue.configuration?.checkResponseTimeout) ?? timeoutMinutes;
    const page = queue.entries;
    if (!page?.nodes) throw new Error("GitHub's answer lacks the entries of the merge queue");
    for (const node of page.nodes) entries.push(entryOf(node));
    if (!page.pageInfo.hasNextPage) return { timeoutMinutes, entries: inOrder(entries) };
    if (page.pageInfo.endCursor === after)
      throw new Error("GitHub's answer lacks the next page of the queue");
    after = page.pageInfo.endCursor;
  }
}

/** The longest that the settings of a queue allow. */
const longestTimeout = 360;

/** The schema says minutes. People have seen 21600, which is the longest time-out in seconds. */
const inMinutes = (timeout: number | null | undefined): number | null | undefined =>
  timeout && timeout > longestTimeout ? timeout / 60 : timeout;

type Placed = QueueEntry & { position: number };

function entryOf(node: MergeQueueEntryAnswer | null): Placed {
  if (!node?.pullRequest) throw new Error("GitHub's answer lacks a pull request of the merge queue");
  return {
    position: node.position,
    number: node.pullRequest.number,
    nodeId: node.pullRequest.id,
    builtAt: latest(node.enqueuedAt, node.headCommit?.committedDate),
    headSha: node.headCommit?.oid ?? null,
    status: node.headCommit ? statusIn(node.headCommit) : null,
  };
}

const latest = (one: string, other: string | undefined): Date =>
  new Date(Math.max(Date.parse(one), other === undefined ? 0 : Date.parse(other)));

const inOrder = (entries: Placed[]): QueueEntry[] =>
  entries.toSorted((one, other) => one.position - other.position);
