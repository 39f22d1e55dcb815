import type { AttributeValues, CommitFacts } from '../../conditions/attributes.ts';
import { type Fact, known, notKnown } from '../pull-requests/fact.ts';
import { andThen, type AttributeGroup, list, map, page, type Subject } from './attribute-group.ts';
import { instantOf } from './own-values.ts';

export type CommitAnswer = {
  message: string;
  /** `user` has REST's login, also of bots: `dependabot[bot]`. */
  author: (GitActorAnswer & { user: { login: string } | null }) | null;
  committer: GitActorAnswer | null;
  signature: { isValid: boolean; wasSignedByGitHub: boolean } | null;
  parents: { totalCount: number };
};

type GitActorAnswer = { name: string | null; email: string | null; date: string | null };

/** GitHub requires a number for `parents`. */
const commit = /* GraphQL */ `
  commit {
    message
    author { name email date user { login } }
    committer { name email date }
    signature { isValid wasSignedByGitHub }
    parents(first: 1) { totalCount }
  }
`;

/** In git's order, with the head at the end. */
export const commitList = list<{ commit: CommitAnswer }>(
  'commits',
  'commits',
  (which) => `commits(${which}) ${page(commit)}`,
  { first: 20 },
);

/** All commits: GitHub may list fewer than it counts. */
export async function readAllCommits({ list, answer }: Subject): Promise<Fact<CommitAnswer[]>> {
  return andThen(await list(commitList), (commits) =>
    commits.length < answer.head.totalCount
      ? notKnown(`GitHub lists only ${commits.length} of its ${answer.head.totalCount} commits`)
      : known(commits.map(({ commit }) => commit)),
  );
}

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

export const ofCommits: AttributeGroup = {
  needs: ['commits'],
  attributes: ['commits', 'commits-unverified', 'linear-history'],
  fields: [commitList],
  read: async (subject) => map(await readAllCommits(subject), readCommits),
};
