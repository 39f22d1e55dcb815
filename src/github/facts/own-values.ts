import type { AttributeValues } from '../../conditions/attributes.ts';
import type { PullRequestAnswer } from '../pull-requests/queries.ts';
import { field, fieldGroup, list, listGroup, page } from './attribute-group.ts';

/** The values that every pull request has: those that need no query of their own, and GitHub's own counts. */
export function readOwnValues(answer: PullRequestAnswer): AttributeValues {
  const { additions, deletions, repository } = answer;
  return {
    number: answer.number,
    title: answer.title,
    author: loginOf(answer.author),
    base: answer.baseRefName,
    head: answer.headRefName,
    'repository-name': repository.name,
    'repository-full-name': repository.nameWithOwner,
    draft: answer.isDraft,
    locked: answer.locked,
    closed: answer.state !== 'OPEN',
    merged: answer.state === 'MERGED',
    'created-at': instantOf(answer.createdAt),
    'updated-at': instantOf(answer.updatedAt),
    'closed-at': instantOf(answer.closedAt),
    'merged-at': instantOf(answer.mergedAt),
    'added-lines': additions,
    'deleted-lines': deletions,
    'modified-lines': additions + deletions,
    '#files': answer.changedFiles,
    '#commits': answer.head.totalCount,
  };
}

export const headRepository = field<{ nameWithOwner: string }>(
  'headRepository',
  'head repository',
  'headRepository { nameWithOwner }',
);

/** If the head repository was deleted, it was a fork: the repository itself exists. */
export const ofHeadRepository = fieldGroup(
  null,
  ['from-fork', 'head-repo-full-name'],
  headRepository,
  (repository, { isCrossRepository }) => ({
    'head-repo-full-name': repository?.nameWithOwner ?? null,
    'from-fork': isCrossRepository || repository === null,
  }),
);

/** A GraphQL actor; null if the account was deleted. */
export type ActorAnswer = { __typename: string; login: string } | null;

/** GraphQL calls a bot `dependabot`. Everywhere else, and in conditions, it is `dependabot[bot]`. */
export function loginOf(actor: ActorAnswer): string | null {
  if (!actor) return null;
  return actor.__typename === 'Bot' ? `${actor.login}[bot]` : actor.login;
}

/** Milliseconds since the epoch. */
export const instantOf = (time: string | null): number | null => (time === null ? null : Date.parse(time));

const labels = list<{ name: string }>('labels', 'labels', (which) => `labels(${which}) ${page('name')}`);
export const ofLabels = listGroup(
  'labels',
  ['label'],
  labels,
  (items) => ({ label: items.map(({ name }) => name) }),
  ['label'],
);

const assignees = list<{ login: string }>(
  'assignees',
  'assignees',
  (which) => `assignees(${which}) ${page('login')}`,
);
export const ofAssignees = listGroup('assignees', ['assignee'], assignees, (people) => ({
  assignee: people.map(({ login }) => login),
}));

const milestone = field<{ title: string }>('milestone', 'milestone', 'milestone { title }');
export const ofMilestone = fieldGroup(
  ['milestone'],
  ['milestone'],
  milestone,
  (value) => ({ milestone: value?.title ?? null }),
  ['milestone'],
);
