import type { ActorAnswer } from '../facts/login-of.ts';
import type { CommitStatusAnswer, ContextAnswer, Page } from './answers.ts';

// Queries for facts outside the pull requests themselves.

/** Whether one pull request, of any repository, is merged. */
export const mergedQuery = /* GraphQL */ `
  query Merged($owner: String!, $name: String!, $number: Int!) {
    repository(owner: $owner, name: $name) {
      nameWithOwner
      pullRequest(number: $number) {
        merged
      }
    }
  }
`;

export type MergedAnswer = {
  repository: { nameWithOwner: string; pullRequest: { merged: boolean } | null } | null;
};

/** The description of one pull request. */
export const bodyQuery = /* GraphQL */ `
  query Body($id: ID!) {
    node(id: $id) {
      ... on PullRequest {
        body
      }
    }
  }
`;

export type BodyAnswer = { node: { body: string | null } | null };

/** A page of the members of a team, with those of its child teams. */
export const teamMembersQuery = /* GraphQL */ `
  query TeamMembers($organization: String!, $slug: String!, $after: String) {
    organization(login: $organization) {
      team(slug: $slug) {
        members(first: 100, after: $after) {
          nodes {
            login
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  }
`;

export type TeamMembersAnswer = {
  organization: { team: { members: Page<{ login: string }> | null } | null } | null;
};

/** A page of a branch's merge queue, with our status on the head of each merge group. */
export const mergeQueueQuery = /* GraphQL */ `
  query MergeQueue($owner: String!, $name: String!, $branch: String!, $context: String!, $after: String) {
    repository(owner: $owner, name: $name) {
      mergeQueue(branch: $branch) {
        configuration {
          checkResponseTimeout
        }
        entries(first: 100, after: $after) {
          nodes {
            position
            enqueuedAt
            headCommit {
              oid
              committedDate
              status {
                context(name: $context) {
                  state
                  description
                  createdAt
                }
              }
            }
            pullRequest {
              id
              number
            }
          }
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  }
`;

export type MergeQueueEntryAnswer = {
  position: number;
  enqueuedAt: string;
  headCommit: (CommitStatusAnswer & { committedDate: string }) | null;
  pullRequest: { id: string; number: number } | null;
};

export type MergeQueueAnswer = {
  repository: {
    mergeQueue: {
      configuration: { checkResponseTimeout: number | null } | null;
      entries: Page<MergeQueueEntryAnswer> | null;
    } | null;
  } | null;
};

const queuedFields = /* GraphQL */ `
  position
  jump
  state
  enqueuedAt
  estimatedTimeToMerge
  headCommit {
    oid
    committedDate
    statusCheckRollup {
      contexts(first: 100) {
        nodes {
          __typename
          ... on CheckRun {
            name
            conclusion
          }
          ... on StatusContext {
            context
            state
          }
        }
      }
    }
  }
  pullRequest {
    number
    title
    url
    baseRefName
    author {
      __typename
      login
      ... on User {
        databaseId
      }
      ... on Bot {
        databaseId
      }
    }
    labels(first: 100) {
      nodes {
        name
      }
    }
  }
`;

/** The merge queue of a branch, for people who look at it. */
export const queuedQuery = /* GraphQL */ `
  query Queued($owner: String!, $name: String!, $branch: String) {
    repository(owner: $owner, name: $name) {
      mergeQueue(branch: $branch) {
        entries(first: 100) {
          nodes {
            ${queuedFields}
          }
        }
      }
    }
  }
`;

/** The entry of one pull request in its queue. */
export const queuedOneQuery = /* GraphQL */ `
  query QueuedOne($owner: String!, $name: String!, $number: Int!) {
    repository(owner: $owner, name: $name) {
      pullRequest(number: $number) {
        mergeQueueEntry {
          ${queuedFields}
        }
      }
    }
  }
`;

export type QueuedEntryAnswer = {
  position: number;
  jump: boolean;
  state: 'QUEUED' | 'AWAITING_CHECKS' | 'MERGEABLE' | 'UNMERGEABLE' | 'LOCKED';
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
