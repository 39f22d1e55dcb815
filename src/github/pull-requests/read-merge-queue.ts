import { emptyPage, type Page, page } from '../facts/attribute-group.ts';
import { readToEnd } from './ask-in-part.ts';
import { didNotGive, known, notKnown } from './fact.ts';
import { type LoadFrom, names } from './load-pull-requests.ts';
import { type CommitStatusAnswer, type PresentStatus, statusIn, withOwnStatus } from './present-status.ts';

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
      mergeQueue(branch: $branch) {
        configuration { checkResponseTimeout }
        entries(first: 100, after: $after) ${page(entry)}
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
    mergeQueue: {
      configuration: { checkResponseTimeout: number | null } | null;
      entries: Page<EntryAnswer> | null;
    } | null;
  } | null;
};

/**
 * The merge queue of a branch; one without entries if the branch has none.
 * @throws GitHub's errors, also for a partial answer, so that nothing looks absent by mistake.
 */
export async function readMergeQueue(from: LoadFrom, branch: string): Promise<MergeQueue> {
  const { client, deps } = from;
  const variables = { ...names(from), branch, context: deps.config.statusContext };
  let timeoutMinutes = 0;
  const missed = notKnown(didNotGive('merge queue'));
  const entries = await readToEnd<EntryAnswer>(missed, async (after) => {
    const answer: MergeQueueAnswer = await client.graphql(mergeQueueQuery, { ...variables, after });
    const queue = answer.repository?.mergeQueue;
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
