import type { ActorAnswer } from '../facts/login-of.ts';

// GitHub's answers to the queries of this folder. If the schema allows null, a null may be a failure. A field that was
// switched off is left out.

/** A page of a list. */
export type Page<Item> = {
  nodes: (Item | null)[] | null;
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
};

export type ListAnswer<Item> = Page<Item> | null | undefined;

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
  repository: { name: string; nameWithOwner: string };
  headRepository: { nameWithOwner: string } | null;
  isCrossRepository: boolean;
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
  body?: string | null;
  milestone?: { title: string } | null;
  reviewDecision?: string | null;
  mergedBy?: ActorAnswer;
  mergeCommit?: { oid: string } | null;
  baseRef?: BaseRefAnswer | null;
  /** The base branch as it is now. */
  base?: { target: { oid: string } | null } | null;
  labels?: ListAnswer<{ name: string }>;
  assignees?: ListAnswer<{ login: string }>;
  reviewRequests?: ListAnswer<ReviewRequestAnswer>;
  latestOpinionatedReviews?: ListAnswer<ReviewAnswer>;
  reviews?: ListAnswer<ReviewAnswer>;
  reviewThreads?: ListAnswer<ReviewThreadAnswer>;
  files?: ListAnswer<{ path: string; changeType: string }>;
  allCommits?: ListAnswer<{ commit: CommitAnswer }>;
  commits: { totalCount: number; nodes: ({ commit: HeadCommitAnswer } | null)[] | null };
};

/** A commit with our status on it. */
export type CommitStatusAnswer = {
  oid: string;
  status?: { context: { state: string; description: string | null; createdAt: string } | null } | null;
};

export type HeadCommitAnswer = CommitStatusAnswer & {
  statusCheckRollup?: { contexts: Page<ContextAnswer> } | null;
  deployments?: ListAnswer<DeploymentAnswer>;
  parents?: { nodes: ({ oid: string } | null)[] | null };
};

export type ReviewAnswer = { state: string; authorCanPushToRepository: boolean; author: ActorAnswer };

export type ReviewRequestAnswer = {
  requestedReviewer: ActorAnswer | { __typename: 'Team'; slug: string; combinedSlug: string };
};

export type ReviewThreadAnswer = {
  isResolved: boolean;
  comments: { nodes: ({ body: string } | null)[] | null };
};

export type CommitAnswer = {
  message: string;
  /** `user` has REST's login, also of bots: `dependabot[bot]`. */
  author: (GitActorAnswer & { user: { login: string } | null }) | null;
  committer: GitActorAnswer | null;
  signature: { isValid: boolean; wasSignedByGitHub: boolean } | null;
  parents: { totalCount: number };
};

type GitActorAnswer = { name: string | null; email: string | null; date: string | null };

export type ContextAnswer =
  | {
      __typename: 'CheckRun';
      name: string;
      status: string;
      conclusion: string | null;
      startedAt: string | null;
      completedAt: string | null;
      checkSuite: { app: { slug: string } | null };
    }
  | { __typename: 'StatusContext'; context: string; state: string; createdAt: string };

export type DeploymentAnswer = {
  environment: string | null;
  createdAt: string;
  latestStatus: { state: string } | null;
};

export type BaseRefAnswer = {
  refUpdateRule: { requiredStatusCheckContexts: (string | null)[] | null } | null;
  rules: ListAnswer<{ type: string; parameters: { requiredStatusChecks?: { context: string }[] } | null }>;
};
