import type { CommitStatusAnswer } from './pull-request.ts';

/** A GraphQL actor; null if the account was deleted. */
export type ActorAnswer = { __typename: string; login: string } | null;

/** A pull request, beside the fields of the groups of attributes. If the schema allows null, a null may be a failure. */
export type PullRequestAnswer = {
  id: string;
  number: number;
  url: string;
  state: 'OPEN' | 'CLOSED' | 'MERGED';
  title: string;
  isDraft: boolean;
  locked: boolean;
  author: ActorAnswer;
  baseRefName: string;
  headRefName: string;
  headRefOid: string;
  repository: { databaseId: number; name: string; nameWithOwner: string };
  isCrossRepository: boolean;
  headRepositoryOwner?: { login: string } | null;
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  mergedAt: string | null;
  additions: number;
  deletions: number;
  changedFiles: number;
  mergeable: 'MERGEABLE' | 'CONFLICTING' | 'UNKNOWN';
  potentialMergeCommit: CommitStatusAnswer | null;
  autoMergeRequest: { enabledAt: string | null } | null;
  mergeQueueEntry: { position: number } | null;
  head: { totalCount: number; nodes: ({ commit: HeadAnswer } | null)[] | null };
};

type HeadAnswer = CommitStatusAnswer & { parents?: { nodes: ({ oid: string } | null)[] | null } };

/** The head commit, if GitHub lists it as the last one. */
export function headOf({ head, headRefOid }: PullRequestAnswer): HeadAnswer | null {
  const commit = head?.nodes?.[0]?.commit;
  return commit?.oid === headRefOid ? commit : null;
}
