import type { GraphQLResolveInfo } from 'graphql';
import { instantJson } from '../json/instant-json.ts';
import { accountNode } from './account-node.ts';
import { atLeast, canSee, roleOf } from '../state/access.ts';
import { commitNode, pullRequestCommitNode, testMergeNode } from './commit-node.ts';
import { connection, type ConnectionArguments } from './connection.ts';
import { fullNameOf } from '../state/world.ts';
import { mergeQueueNode, queueEntryNode } from './merge-queue-node.ts';
import { queueOf } from '../state/merge-queue-rules.ts';
import { nodeId } from '../state/ids.ts';
import { refusal } from './refusal.ts';
import { repositoryNode } from './repository-node.ts';
import type { ChangedFile, Label, PullRequest, Review, ReviewThread } from '../state/model.ts';
import { reviewDecision } from '../state/review-decision.ts';
import { baseRefNode } from './base-ref-node.ts';
import { teamNode } from './team-node.ts';
import type { View } from './view.ts';

type ConnectionResolver = (
  args: ConnectionArguments & { states?: string[] | null },
  context: unknown,
  info: GraphQLResolveInfo,
) => unknown;

const changeTypes = {
  added: 'ADDED',
  changed: 'CHANGED',
  copied: 'COPIED',
  modified: 'MODIFIED',
  removed: 'DELETED',
  renamed: 'RENAMED',
};

/** A pull request in GraphQL. The sandbox refuses a field that is not here, so add it if you need it. */
export function pullRequestNode(view: View, pr: PullRequest): object {
  const { repository, head } = pr;
  const fullName = fullNameOf(repository);
  const withheld = (field: string) => {
    if (!view.faults.withholds(`${fullName}#${pr.number}`, field)) return;
    throw refusal('SERVICE_UNAVAILABLE', `Something went wrong while loading \`${field}\`.`);
  };
  const connections: Record<string, ConnectionResolver> = {
    labels: (args, _, info) => connection(pr.labels, args, info, (label) => labelNode(pr, label)),
    files: (args, _, info) => connection(pr.files, args, info, fileNode),
    commits: (args, _, info) =>
      connection(pr.commits, args, info, (sha) => pullRequestCommitNode(view, pr, sha)),
    assignees: (args, _, info) => connection(pr.assignees, args, info, accountNode),
    reviewRequests: (args, _, info) =>
      connection([...pr.reviewRequests, ...pr.teamRequests], args, info, (reviewer) => ({
        __typename: 'ReviewRequest',
        id: `${pr.nodeId}_${reviewer.id}`,
        asCodeOwner: false,
        requestedReviewer: () => ('slug' in reviewer ? teamNode(reviewer) : accountNode(reviewer)),
      })),
    reviews: (args, _, info) => {
      const wanted = pr.reviews.filter((review) => !args.states || args.states.includes(review.state));
      return connection(wanted, args, info, (review) => reviewNode(pr, review));
    },
    latestReviews: (args, _, info) => {
      const latest = new Map(pr.reviews.map((review) => [review.by.id, review]));
      return connection([...latest.values()], args, info, (review) => reviewNode(pr, review));
    },
    // The last review of each person that is more than a comment.
    latestOpinionatedReviews: (args, _, info) => {
      const opinions = pr.reviews.filter(({ state }) => state !== 'COMMENTED' && state !== 'PENDING');
      const latest = new Map(opinions.map((review) => [review.by.id, review]));
      return connection([...latest.values()], args, info, (review) => reviewNode(pr, review));
    },
    reviewThreads: (args, _, info) => connection(pr.threads, args, info, (thread) => threadNode(pr, thread)),
  };
  const guarded = Object.entries(connections).map(([field, resolve]): [string, ConnectionResolver] => [
    field,
    (...args) => {
      withheld(field);
      return resolve(...args);
    },
  ]);
  return {
    __typename: 'PullRequest',
    id: pr.nodeId,
    databaseId: pr.id,
    fullDatabaseId: String(pr.id),
    number: pr.number,
    state: pr.merged ? 'MERGED' : pr.state.toUpperCase(),
    title: pr.title,
    body: () => {
      withheld('body');
      return pr.body;
    },
    bodyText: pr.body,
    isDraft: pr.draft,
    closed: pr.state === 'closed',
    closedAt: instantJson(pr.closedAt),
    merged: pr.merged !== null,
    mergedAt: instantJson(pr.merged?.at),
    mergedBy: () => pr.merged && accountNode(pr.merged.by),
    mergeCommit: () => pr.merged && commitNode(repository, pr.merged.sha),
    mergeable: mergeableOf(pr),
    potentialMergeCommit: () => {
      withheld('potentialMergeCommit');
      return testMergeNode(view, pr);
    },
    mergeStateStatus: () => view.world.mergeStates.ask(pr).toUpperCase(),
    locked: pr.locked,
    author: () => {
      withheld('author');
      return accountNode(pr.author);
    },
    authorAssociation: 'CONTRIBUTOR',
    url: `${view.world.url}/${fullName}/pull/${pr.number}`,
    resourcePath: `/${fullName}/pull/${pr.number}`,
    repository: () => repositoryNode(view, repository),
    baseRepository: () => repositoryNode(view, repository),
    baseRefName: pr.base,
    baseRefOid: () => repository.branches.get(pr.base),
    headRefName: head.ref,
    headRefOid: head.sha,
    // Null after the fork is gone, or if the token cannot see it.
    headRepository: () =>
      view.world.repositories.has(head.repository.id) && canSee(view.principal, head.repository)
        ? repositoryNode(view, head.repository)
        : null,
    headRepositoryOwner: () => accountNode(head.repository.owner),
    isCrossRepository: head.repository !== repository,
    autoMergeRequest: () => pr.autoMerge && autoMergeNode(pr.autoMerge),
    isInMergeQueue: pr.mergeQueueEntry !== null,
    mergeQueue: () => {
      const queue = queueOf(pr);
      return queue ? mergeQueueNode(view, queue) : null;
    },
    mergeQueueEntry: () => pr.mergeQueueEntry && queueEntryNode(view, pr.mergeQueueEntry),
    milestone: () => pr.milestone && milestoneNode(pr.milestone),
    createdAt: instantJson(pr.createdAt),
    updatedAt: instantJson(pr.updatedAt),
    additions: () => pr.files.reduce((sum, file) => sum + file.additions, 0),
    deletions: () => pr.files.reduce((sum, file) => sum + file.deletions, 0),
    changedFiles: pr.files.length,
    ...Object.fromEntries(guarded),
    reviewDecision: () => {
      withheld('reviewDecision');
      return reviewDecision(pr);
    },
    baseRef: () => {
      withheld('baseRef');
      return baseRefNode(pr);
    },
  };
}

function mergeableOf(pr: PullRequest) {
  if (pr.state !== 'open' || pr.isMergeUnderWay) return 'UNKNOWN';
  return pr.isConflicting ? 'CONFLICTING' : 'MERGEABLE';
}

function labelNode(pr: PullRequest, label: Label) {
  const id = nodeId('Label', pr.repository.id, label.id);
  return { __typename: 'Label', id, name: label.name, color: label.color, description: null };
}

function fileNode(file: ChangedFile) {
  const { path, additions, deletions, status } = file;
  return {
    __typename: 'PullRequestChangedFile',
    path,
    additions,
    deletions,
    changeType: changeTypes[status],
  };
}

function reviewNode(pr: PullRequest, review: Review) {
  return {
    __typename: 'PullRequestReview',
    id: nodeId('PullRequestReview', pr.repository.id, review.id),
    fullDatabaseId: String(review.id),
    state: review.state,
    body: review.body,
    submittedAt: instantJson(review.submittedAt),
    author: () => accountNode(review.by),
    authorCanPushToRepository: atLeast(roleOf(review.by, pr.repository), 'write'),
    commit: () => commitNode(pr.repository, review.commitSha),
  };
}

function threadNode(pr: PullRequest, thread: ReviewThread) {
  return {
    __typename: 'PullRequestReviewThread',
    id: nodeId('PullRequestReviewThread', pr.repository.id, thread.id),
    isResolved: thread.isResolved,
    comments: (args: ConnectionArguments, _: unknown, info: GraphQLResolveInfo) =>
      connection([thread.body], args, info, (body) => ({ __typename: 'PullRequestReviewComment', body })),
  };
}

function autoMergeNode({ enabledAt, enabledBy }: NonNullable<PullRequest['autoMerge']>) {
  return {
    __typename: 'AutoMergeRequest',
    enabledAt: instantJson(enabledAt),
    enabledBy: () => accountNode(enabledBy),
    mergeMethod: 'MERGE',
  };
}

function milestoneNode({ id, number, title }: NonNullable<PullRequest['milestone']>) {
  return { __typename: 'Milestone', id: nodeId('Milestone', id), number, title };
}
