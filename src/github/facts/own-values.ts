import type { AttributeValues } from '../../conditions/attributes.ts';
import {
  field,
  base,
  fieldGroup,
  listField,
  listGroup,
  pageField,
  type AttributeGroup,
  map,
  type AskedSubject,
} from './attribute-group.ts';
import { didNotGive, type Fact, known, unknownFact } from '../pull-requests/pull-request.ts';
import type { ActorAnswer, PullRequestAnswer } from '../pull-requests/pull-request-answer.ts';

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
    'created-at': instantOfFact(answer.createdAt),
    'updated-at': instantOfFact(answer.updatedAt),
    'closed-at': instantOfFact(answer.closedAt),
    'merged-at': instantOfFact(answer.mergedAt),
    'added-lines': additions,
    'deleted-lines': deletions,
    'modified-lines': additions + deletions,
    '#files': answer.changedFiles,
    '#commits': answer.head.totalCount,
  };
}

const headRepository = field<{ nameWithOwner: string }>(
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

/** GraphQL calls a bot `dependabot`. Everywhere else, and in conditions, it is `dependabot[bot]`. */
export function loginOf(actor: ActorAnswer): string | null {
  if (!actor) return null;
  return actor.__typename === 'Bot' ? `${actor.login}[bot]` : actor.login;
}

/** Milliseconds since the epoch. */
export const instantOfFact = (time: string | null): number | null =>
  time === null ? null : Date.parse(time);

const labelValues = listField<{ name: string }>(
  'labels',
  'labels',
  (which) => `labels(${which}) ${pageField('name')}`,
);
export const ofLabels = listGroup(
  'labels',
  ['label'],
  labelValues,
  (items) => ({ label: items.map(({ name }) => name) }),
  ['label'],
);

const assignees = listField<{ login: string }>(
  'assignees',
  'assignees',
  (which) => `assignees(${which}) ${pageField('login')}`,
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

// Whether it conflicts, how far it is behind, who pushed it last, and who merged it.

// A push to the base may change whether a pull request conflicts or is behind.
export const ofConflict: AttributeGroup = {
  needs: ['conflict'],
  attributes: ['conflict'],
  fields: [],
  changedBy: ['push'],
  read: async ({ answer }) => known({ conflict: answer.mergeable === 'CONFLICTING' }),
};

/** How many commits the base branch has that the pull request lacks. GitHub compares only two commits with one question. */
async function readBehind(subject: AskedSubject): Promise<Fact<number>> {
  const { baseRefName, headRefOid } = subject.answer;
  const key = await subject.shas();
  const question = {
    what: 'distance from its base',
    logged: 'a pull request could not be compared with its base',
    key,
  };
  return subject.request(question, async (client, repository) => {
    // Without the base's SHA, it is compared by name. By its SHA, GitHub also finds the head of a fork.
    const basehead = key ?? `${baseRefName}...${headRefOid}`;
    const { data } = await client.rest.repos.compareCommitsWithBasehead({
      ...repository,
      basehead,
      per_page: 1,
    });
    return known(data.behind_by);
  });
}

export const ofBehind: AttributeGroup = {
  needs: ['behind'],
  attributes: ['commits-behind'],
  fields: [base],
  changedBy: ['push'],
  read: async (subject) => map(await readBehind(subject), (behind) => ({ 'commits-behind': behind })),
};

/**
 * The login of the person or bot that pushed the head commit. Commits cannot tell: git takes every name, and a signature
 * says who made a commit, not who pushed it. GitHub's list of a repository's activities has who was signed in.
 */
async function readLastPusher({ answer, value, request }: AskedSubject): Promise<Fact<string>> {
  const { headRefName, headRefOid, isCrossRepository } = answer;
  const from = await value(headRepository);
  if (isCrossRepository || !from.known || !from.value)
    return unknownFact('Holdfast cannot read who pushes to a fork');
  const question = {
    what: 'last push',
    logged: 'the last push to a pull request could not be read',
    // Who pushed a commit to a branch never changes.
    key: `${headRefOid} ${headRefName}`,
  };
  return request(question, async (client, repository) => {
    const ref = `refs/heads/${headRefName}`;
    const { data } = await client.rest.repos.listActivities({ ...repository, ref, per_page: 1 });
    const last = data[0];
    // A push that is not in the list yet leaves an older one there.
    return last?.after === headRefOid && last.actor
      ? known(last.actor.login)
      : unknownFact(didNotGive(question.what));
  });
}

export const ofLastPush: AttributeGroup = {
  needs: ['last-push'],
  attributes: ['last-pushed-by'],
  fields: [headRepository],
  read: async (subject) => map(await readLastPusher(subject), (login) => ({ 'last-pushed-by': login })),
};

const mergedBy = field<NonNullable<ActorAnswer>>('mergedBy', 'merger', 'mergedBy { __typename login }');
export const ofMerger = fieldGroup(['merger'], ['merged-by'], mergedBy, (actor) => ({
  'merged-by': loginOf(actor),
}));

const mergeCommit = field<{ oid: string }>('mergeCommit', 'merge commit', 'mergeCommit { oid }');
export const ofMergeCommit = fieldGroup(['merger'], ['merge-commit-sha'], mergeCommit, (commit) => ({
  'merge-commit-sha': commit?.oid ?? null,
}));
