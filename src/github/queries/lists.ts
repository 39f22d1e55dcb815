import type {
  CommitAnswer,
  ContextAnswer,
  DeploymentAnswer,
  HeadCommitAnswer,
  ListAnswer,
  Page,
  PullRequestAnswer,
  ReviewAnswer,
  ReviewRequestAnswer,
  ReviewThreadAnswer,
} from './answers.ts';
import {
  assigneePage,
  commitPage,
  contextPage,
  deploymentPage,
  labelPage,
  reviewPage,
  reviewRequestPage,
  reviewThreadPage,
} from './list-fragments.ts';
import type { Part } from './parts.ts';

/** A list of a pull request that can be longer than its first page. */
export type List<Item> = {
  /** Its name for readers: "GitHub did not give its …". */
  what: string;
  /** The field of the pull request, or of its head commit, that it is under. */
  part: Part;
  /** Reads the next page after `$after`, for the pull request `$id`. */
  moreQuery: string;
  /** undefined if it was switched off; null if GitHub did not give it. */
  of(answer: PullRequestAnswer, headSha: string): ListAnswer<Item>;
};

export const labelList: List<{ name: string }> = {
  what: 'labels',
  part: 'labels',
  moreQuery: more('Labels', 'labels(first: 100, after: $after) { ...LabelPage }', labelPage),
  of: ({ labels }) => labels,
};

export const assigneeList: List<{ login: string }> = {
  what: 'assignees',
  part: 'assignees',
  moreQuery: more('Assignees', 'assignees(first: 100, after: $after) { ...AssigneePage }', assigneePage),
  of: ({ assignees }) => assignees,
};

export const reviewRequestList: List<ReviewRequestAnswer> = {
  what: 'review requests',
  part: 'reviewRequests',
  moreQuery: more(
    'ReviewRequests',
    'reviewRequests(first: 100, after: $after) { ...ReviewRequestPage }',
    reviewRequestPage,
  ),
  of: ({ reviewRequests }) => reviewRequests,
};

export const reviewList: List<ReviewAnswer> = {
  what: 'reviews',
  part: 'latestOpinionatedReviews',
  moreQuery: more(
    'Reviews',
    'latestOpinionatedReviews(first: 100, after: $after) { ...ReviewPage }',
    reviewPage,
  ),
  of: ({ latestOpinionatedReviews }) => latestOpinionatedReviews,
};

export const commentList: List<ReviewAnswer> = {
  what: 'reviewing comments',
  part: 'reviews',
  moreQuery: more(
    'Comments',
    'reviews(first: 100, after: $after, states: COMMENTED) { ...ReviewPage }',
    reviewPage,
  ),
  of: ({ reviews }) => reviews,
};

export const reviewThreadList: List<ReviewThreadAnswer> = {
  what: 'review threads',
  part: 'reviewThreads',
  moreQuery: more(
    'ReviewThreads',
    'reviewThreads(first: 100, after: $after) { ...ReviewThreadPage }',
    reviewThreadPage,
  ),
  of: ({ reviewThreads }) => reviewThreads,
};

/** In git's order, with the head at the end. */
export const commitList: List<{ commit: CommitAnswer }> = {
  what: 'commits',
  part: 'allCommits',
  moreQuery: more('Commits', 'allCommits: commits(first: 100, after: $after) { ...CommitPage }', commitPage),
  of: ({ allCommits }) => allCommits,
};

export const checkList: List<ContextAnswer> = {
  what: 'checks',
  part: 'statusCheckRollup',
  moreQuery: moreOfHead(
    'Checks',
    'statusCheckRollup { contexts(first: 100, after: $after) { ...ContextPage } }',
    contextPage,
  ),
  // A commit without checks has no rollup.
  of: (answer, headSha) =>
    ofHead(answer, headSha, ({ statusCheckRollup }) =>
      statusCheckRollup === null ? nothing : statusCheckRollup?.contexts,
    ),
};

export const deploymentList: List<DeploymentAnswer> = {
  what: 'deployments',
  part: 'deployments',
  moreQuery: moreOfHead(
    'Deployments',
    'deployments(first: 100, after: $after, orderBy: { field: CREATED_AT, direction: DESC }) { ...DeploymentPage }',
    deploymentPage,
  ),
  of: (answer, headSha) => ofHead(answer, headSha, ({ deployments }) => deployments),
};

const nothing: Page<never> = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };

function more(name: string, selection: string, fragment: string): string {
  return /* GraphQL */ `
    query ${name}($id: ID!, $after: String) {
      node(id: $id) {
        ... on PullRequest {
          ${selection}
        }
      }
    }
    ${fragment}
  `;
}

function moreOfHead(name: string, selection: string, fragment: string): string {
  return more(name, `commits(last: 1) { nodes { commit { oid ${selection} } } }`, fragment);
}

/** Also null if the head has moved, or if GitHub lists another commit as the last one. */
function ofHead<Value>(
  { commits }: PullRequestAnswer,
  headSha: string,
  of: (commit: HeadCommitAnswer) => Value,
): Value | null {
  const commit = commits?.nodes?.[0]?.commit;
  return commit?.oid === headSha ? of(commit) : null;
}
