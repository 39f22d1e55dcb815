import type { AttributeValues } from '../../conditions/attributes.ts';
import type { PullRequestAnswer } from '../queries/answers.ts';
import { loginOf } from './login-of.ts';

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
    '#commits': answer.commits.totalCount,
  };
}

/** If the head repository was deleted, it was a fork: the repository itself exists. */
export const readHeadRepository = ({
  headRepository,
  isCrossRepository,
}: PullRequestAnswer): AttributeValues => ({
  'head-repo-full-name': headRepository?.nameWithOwner ?? null,
  'from-fork': isCrossRepository || headRepository === null,
});

/** Milliseconds since the epoch. */
export const instantOf = (time: string | null): number | null => (time === null ? null : Date.parse(time));
