import type { Need } from '../../conditions/needs.ts';
import { attributeGroups, isNeeded } from '../facts/attribute-groups.ts';
import { withOwnStatus } from '../facts/attribute-group.ts';

// Constant texts with variables, so that a test can check each against GitHub's own schema.

const attributeFields = [...new Set(attributeGroups.flatMap((group) => group.fields))];
/** Those that every question asks for. */
const always = attributeGroups.filter(({ needs }) => needs === null).flatMap((group) => group.fields);
/** Those with a variable that asks for them. */
const optional = attributeFields.filter((field) => !always.includes(field));

/**
 * The variables that ask for the fields that these needs want.
 * @param leftOut names of fields to leave out although they are needed.
 */
export function variablesFor(
  needed: ReadonlySet<Need>,
  leftOut: ReadonlySet<string> = new Set(),
): Record<string, boolean> {
  const wanted = new Set(
    attributeGroups.filter((group) => isNeeded(group, needed)).flatMap((group) => group.fields),
  );
  return Object.fromEntries(
    optional.map((field) => [field.name, wanted.has(field) && !leftOut.has(field.name)]),
  );
}

/** Whether a field can be left out, to be read on its own. */
export const canBeLeftOut = (name: string): boolean => optional.some((field) => field.name === name);

/**
 * The field that an error is about, if the rest stays valid without it; null otherwise.
 * @param path within the pull request: `head`, `nodes`, 0, `commit`, `deployments`.
 */
export function missingFieldAt([name, , , , ofHead]: readonly (string | number)[]): string | null {
  if (name === 'head' && typeof ofHead === 'string' && mayBeMissing.ofHead.has(ofHead)) return ofHead;
  return typeof name === 'string' && mayBeMissing.own.has(name) ? name : null;
}

const groupNames = (ofHead: boolean) =>
  attributeFields.filter((field) => field.ofHead === ofHead).map(({ name }) => name);
const mayBeMissing = {
  // Without the test merge commit, it counts as not known yet. The next three say only how urgent it is: the queue's
  // entry may need another permission.
  own: new Set([
    ...['potentialMergeCommit', 'autoMergeRequest', 'mergeQueueEntry', 'headRepositoryOwner', 'head'],
    ...groupNames(false),
  ]),
  ofHead: new Set(['status', 'parents', ...groupNames(true)]),
};

const selected = (ofHead: boolean): string =>
  attributeFields
    .filter((field) => field.ofHead === ofHead)
    .map((field) =>
      optional.includes(field) ? `... @include(if: $${field.name}) { ${field.selection} }` : field.selection,
    )
    .join('\n');

// `commits` are all commits.
const pullRequestFields = /* GraphQL */ `
  fragment PullRequestFields on PullRequest {
    id
    number
    url
    state
    title
    isDraft
    locked
    author { __typename login }
    baseRefName
    headRefName
    headRefOid
    repository { databaseId name nameWithOwner }
    isCrossRepository
    headRepositoryOwner { login }
    createdAt
    updatedAt
    closedAt
    mergedAt
    additions
    deletions
    changedFiles
    mergeable
    potentialMergeCommit { ${withOwnStatus} }
    autoMergeRequest { enabledAt }
    mergeQueueEntry { position }
    ${selected(false)}
    head: commits(last: 1) {
      totalCount
      nodes { commit { ${withOwnStatus} ${selected(true)} } }
    }
  }
`;

// A head can be a test merge commit. A page of all pull requests shows these, so only single ones ask.
const headMerges = /* GraphQL */ `
  fragment HeadMerges on PullRequest {
    head: commits(last: 1) {
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

const queryVariables = ['$context: String!', ...optional.map(({ name }) => `$${name}: Boolean!`)].join(', ');

/** A page of a list of pull requests, at most 100. */
const pageQuery = (operation: string, states: string, field: string, direction: string) => /* GraphQL */ `
  query ${operation}($owner: String!, $name: String!, $first: Int!, $after: String, ${queryVariables}) {
    repository(owner: $owner, name: $name) {
      databaseId
      isPrivate
      defaultBranchRef { name }
      pullRequests(
        states: ${states}, first: $first, after: $after, orderBy: { field: ${field}, direction: ${direction} }
      ) {
        nodes { ...PullRequestFields }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
  ${pullRequestFields}
`;

/** A page of the open pull requests of a repository. */
export const openPullRequestsQuery = pageQuery('OpenPullRequests', 'OPEN', 'CREATED_AT', 'ASC');

/** A page of the closed pull requests that were not merged. The last change comes first. */
export const closedPullRequestsQuery = pageQuery('ClosedPullRequests', 'CLOSED', 'UPDATED_AT', 'DESC');

/** One pull request, open or not. */
export const pullRequestQuery = /* GraphQL */ `
  query PullRequest($owner: String!, $name: String!, $number: Int!, ${queryVariables}) {
    repository(owner: $owner, name: $name) {
      databaseId
      pullRequest(number: $number) { ...PullRequestFields ...HeadMerges }
    }
  }
  ${pullRequestFields}
  ${headMerges}
`;

/** Pull requests by node id. At most 100 ids. */
export const pullRequestNodesQuery = /* GraphQL */ `
  query PullRequestNodes($ids: [ID!]!, ${queryVariables}) {
    nodes(ids: $ids) { ...PullRequestFields ...HeadMerges }
  }
  ${pullRequestFields}
  ${headMerges}
`;
