// Constant texts with variables, so that a test can check each of them against GitHub's own schema.

const fields = /* GraphQL */ `
  fragment PullRequestFields on PullRequest {
    id
    number
    state
    title
    isDraft
    author {
      __typename
      login
    }
    baseRefName
    headRefName
    headRefOid
    mergeable
    autoMergeRequest {
      enabledAt
    }
    mergeQueueEntry {
      position
    }
    labels(first: 100) @include(if: $withLabels) {
      nodes {
        name
      }
      pageInfo {
        hasNextPage
      }
    }
    files(first: 100) @include(if: $withFiles) {
      nodes {
        path
        changeType
      }
      pageInfo {
        hasNextPage
      }
    }
    commits(last: 1) {
      nodes {
        commit {
          oid
          status {
            context(name: $context) {
              state
              description
            }
          }
        }
      }
    }
  }
`;

/** A page of the open pull requests of a repository. */
export const openPullRequestsQuery = /* GraphQL */ `
  query OpenPullRequests(
    $owner: String!
    $name: String!
    $after: String
    $context: String!
    $withLabels: Boolean!
    $withFiles: Boolean!
  ) {
    repository(owner: $owner, name: $name) {
      pullRequests(states: OPEN, first: 100, after: $after, orderBy: { field: CREATED_AT, direction: ASC }) {
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

/** One pull request, open or not. */
export const pullRequestQuery = /* GraphQL */ `
  query PullRequest(
    $owner: String!
    $name: String!
    $number: Int!
    $context: String!
    $withLabels: Boolean!
    $withFiles: Boolean!
  ) {
    repository(owner: $owner, name: $name) {
      pullRequest(number: $number) {
        ...PullRequestFields
      }
    }
  }
  ${fields}
`;

/** Pull requests by node id. At most 100 ids. */
export const pullRequestNodesQuery = /* GraphQL */ `
  query PullRequestNodes($ids: [ID!]!, $context: String!, $withLabels: Boolean!, $withFiles: Boolean!) {
    nodes(ids: $ids) {
      ...PullRequestFields
    }
  }
  ${fields}
`;

/** What GitHub answers for `PullRequestFields`. A null where the schema allows one may be a failure. */
export type PullRequestAnswer = {
  id: string;
  number: number;
  state: 'OPEN' | 'CLOSED' | 'MERGED';
  title: string;
  isDraft: boolean;
  author: { __typename: string; login: string } | null;
  baseRefName: string;
  headRefName: string;
  headRefOid: string;
  mergeable: 'MERGEABLE' | 'CONFLICTING' | 'UNKNOWN';
  autoMergeRequest: { enabledAt: string | null } | null;
  mergeQueueEntry: { position: number } | null;
  labels?: { nodes: ({ name: string } | null)[] | null; pageInfo: { hasNextPage: boolean } } | null;
  files?: {
    nodes: ({ path: string; changeType: string } | null)[] | null;
    pageInfo: { hasNextPage: boolean };
  } | null;
  commits: {
    nodes:
      | ({
          commit: {
            oid: string;
            status: { context: { state: string; description: string | null } | null } | null;
          };
        } | null)[]
      | null;
  } | null;
};
