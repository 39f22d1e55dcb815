import type { AttributeValues, CommitFacts } from '../../conditions/attributes.ts';
import type { CommitAnswer } from '../queries/answers.ts';
import { instantOf } from './read-own-values.ts';

/** The commits, first to last, and the facts that follow from them. */
export function readCommits(commits: CommitAnswer[]): AttributeValues {
  const facts = commits.map(factsOf);
  return {
    commits: facts,
    'commits-unverified': facts
      .filter((commit) => !commit.commit_verification_verified)
      .map(({ commit_message }) => commit_message!),
    'linear-history': commits.every(({ parents }) => parents.totalCount === 1),
  };
}

const factsOf = ({ author, committer, ...commit }: CommitAnswer): CommitFacts => ({
  author: author?.name ?? null,
  email_author: author?.email ?? null,
  date_author: instantOf(author?.date ?? null),
  committer: committer?.name ?? null,
  email_committer: committer?.email ?? null,
  date_committer: instantOf(committer?.date ?? null),
  commit_message: commit.message,
  commit_verification_verified: commit.signature?.isValid ?? false,
});
