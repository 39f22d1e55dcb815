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
import { switches } from './switches.ts';

// Constant texts with variables, so that a test can check each against GitHub's own schema. `commits` is the head
// commit; `allCommits` are all commits. A list within a list costs once for each item of the outer list, so the first
// page of such a list is short.

const fields = /* GraphQL */ `
  fragment PullRequestFields on PullRequest {
    id
    number
    url
    state
    title
    isDraft
    locked
    author {
      __typename
      login
    }
    baseRefName
    headRefName
    headRefOid
    repository {
      name
      nameWithOwner
    }
    headRepository {
      nameWithOwner
    }
    isCrossRepository
    createdAt
    updatedAt
    closedAt
    mergedAt
    additions
    deletions
    changedFiles
    mergeable
    potentialMergeCommit {
      oid
      status {
        context(name: $context) {
          state
          description
          createdAt
        }
      }
    }
    autoMergeRequest {
      enabledAt
    }
    mergeQueueEntry {
      position
    }
    body @include(if: $withBody)
    milestone @include(if: $withMilestone) {
      title
    }
    reviewDecision @include(if: $withReviewDecision)
    mergedBy @include(if: $withMerger) {
      __typename
      login
    }
    mergeCommit @include(if: $withMerger) {
      oid
    }
    base: baseRef @include(if: $withBehind) {
      target {
        oid
      }
    }
    baseRef @include(if: $withRequiredChecks) {
      refUpdateRule {
        requiredStatusCheckContexts
      }
      rules(first: 100) {
        nodes {
          type
          parameters {
            ... on RequiredStatusChecksParameters {
              requiredStatusChecks {
                context
              }
            }
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
    labels(first: 100) @include(if: $withLabels) {
      ...LabelPage
    }
    assignees(first: 100) @include(if: $withAssignees) {
      ...AssigneePage
    }
    reviewRequests(first: 100) @include(if: $withReviewRequests) {
      ...ReviewRequestPage
    }
    latestOpinionatedReviews(first: 100) @include(if: $withReviews) {
      ...ReviewPage
    }
    reviews(first: 100, states: COMMENTED) @include(if: $withComments) {
      ...ReviewPage
    }
    reviewThreads(first: 20) @include(if: $withReviewThreads) {
      ...ReviewThreadPage
    }
    files(first: 100) @include(if: $withFiles) {
      nodes {
        path
        changeType
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
    allCommits: commits(first: 20) @include(if: $withCommits) {
      ...CommitPage
    }
    commits(last: 1) {
      totalCount
      nodes {
        commit {
          oid
          status {
            context(name: $context) {
              state
              description
              createdAt
            }
          }
          statusCheckRollup @include(if: $withChecks) {
            contexts(first: 100) {
              ...ContextPage
            }
          }
          deployments(first: 100, orderBy: { field: CREATED_AT, direction: DESC })
            @include(if: $withDeployments) {
            ...DeploymentPage
          }
        }
      }
    }
  }
  ${labelPage}
  ${assigneePage}
  ${reviewRequestPage}
  ${reviewPage}
  ${reviewThreadPage}
  ${commitPage}
  ${contextPage}
  ${deploymentPage}
`;

// A head can be a test merge commit. A page of all pull requests shows these, so only single ones ask.
const headMerges = /* GraphQL */ `
  fragment HeadMerges on PullRequest {
    commits(last: 1) {
      nodes {
        commit {
          parents(first: 2) {
            nodes {
              oid
            }
          }
        }
      }
    }
  }
`;

const declaredSwitches = Object.keys(switches)
  .map((name) => `$${name}: Boolean!`)
  .join(', ');

/** A page of a list of pull requests, at most 100. */
const pageQuery = (operation: string, states: string, field: string, direction: string) => /* GraphQL */ `
  query ${operation}(
    $owner: String!, $name: String!, $first: Int!, $after: String, $context: String!, ${declaredSwitches}
  ) {
    repository(owner: $owner, name: $name) {
      isPrivate
      pullRequests(
        states: ${states}, first: $first, after: $after, orderBy: { field: ${field}, direction: ${direction} }
      ) {
        nodes {
          ...PullRequestFields
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
  ${fields}
`;

/** A page of the open pull requests of a repository. */
export const openPullRequestsQuery = pageQuery('OpenPullRequests', 'OPEN', 'CREATED_AT', 'ASC');

/** A page of the closed pull requests that were not merged. The last change comes first. */
export const closedPullRequestsQuery = pageQuery('ClosedPullRequests', 'CLOSED', 'UPDATED_AT', 'DESC');

/** One pull request, open or not. */
export const pullRequestQuery = /* GraphQL */ `
  query PullRequest(
    $owner: String!, $name: String!, $number: Int!, $context: String!, ${declaredSwitches}
  ) {
    repository(owner: $owner, name: $name) {
      pullRequest(number: $number) {
        ...PullRequestFields
        ...HeadMerges
      }
    }
  }
  ${fields}
  ${headMerges}
`;

/** Pull requests by node id. At most 100 ids. */
export const pullRequestNodesQuery = /* GraphQL */ `
  query PullRequestNodes($ids: [ID!]!, $context: String!, ${declaredSwitches}) {
    nodes(ids: $ids) {
      ...PullRequestFields
      ...HeadMerges
    }
  }
  ${fields}
  ${headMerges}
`;
