import type { AttributeValues, CommitFacts } from '../../conditions/attributes.ts';
import { type Fact, known, unknownFact } from '../pull-requests/pull-request.ts';
import {
  andThen,
  type AttributeGroup,
  base,
  listField,
  map,
  pageField,
  type AskedSubject,
} from './attribute-group.ts';
import { instantOfFact, loginOf } from './own-values.ts';

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
export const listOfCommits = listField<{ commit: CommitAnswer }>(
  'commits',
  'commits',
  (which) => `commits(${which}) ${pageField(commit)}`,
  { first: 20, isOfShas: true },
);

/** All commits: GitHub may list fewer than it counts. */
async function readAllCommits({ list, answer }: AskedSubject): Promise<Fact<CommitAnswer[]>> {
  return andThen(await list(listOfCommits), (commits) =>
    commits.length < answer.head.totalCount
      ? unknownFact(`GitHub lists only ${commits.length} of its ${answer.head.totalCount} commits`)
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
  date_author: instantOfFact(author?.date ?? null),
  committer: committer?.name ?? null,
  email_committer: committer?.email ?? null,
  date_committer: instantOfFact(committer?.date ?? null),
  commit_message: commit.message,
  commit_verification_verified: commit.signature?.isValid ?? false,
});

export const ofCommits: AttributeGroup = {
  needs: ['commits'],
  attributes: ['commits', 'commits-unverified', 'linear-history'],
  fields: [listOfCommits, base],
  read: async (subject) => map(await readAllCommits(subject), readCommits),
};

/**
 * What Dependabot updates. Pull requests of others have nothing, no matter what their commits say. Somebody who pushes to
 * Dependabot's branch adds what its messages do not say, so every commit must be Dependabot's.
 */
export function readDependabot(author: string | null, commits: Fact<CommitAnswer[]>): Fact<AttributeValues> {
  if (author !== dependabot) return known(valuesOf({ names: [], types: [], updates: [] }));
  if (!commits.known) return commits;
  if (!commits.value.every(isOfDependabot))
    return unknownFact('not every commit of it is by Dependabot and verified');
  const metadata = dependabotMetadata(commits.value.map(({ message }) => message));
  return metadata ? known(valuesOf(metadata)) : unknownFact('no commit of it says what Dependabot updates');
}

const dependabot = 'dependabot[bot]';

/** Everybody can sign a commit that names Dependabot as its author. GitHub itself signs Dependabot's. */
const isOfDependabot = ({ author, signature }: CommitAnswer): boolean =>
  author?.user?.login === dependabot &&
  signature !== null &&
  signature.isValid &&
  signature.wasSignedByGitHub;

const valuesOf = ({ names, types, updates }: DependabotMetadata) => ({
  'dependabot-dependency-name': names,
  'dependabot-dependency-type': types,
  'dependabot-update-type': updates,
});

export const ofDependabot: AttributeGroup = {
  needs: ['commits'],
  attributes: ['dependabot-dependency-name', 'dependabot-dependency-type', 'dependabot-update-type'],
  fields: [listOfCommits, base],
  read: async (subject) => readDependabot(loginOf(subject.answer.author), await readAllCommits(subject)),
};

/** What Dependabot says about its update: names such as `@types/node`, types, and kinds of update. */
type DependabotMetadata = { names: string[]; types: string[]; updates: string[] };

/**
 * Reads the block that Dependabot writes into its commit messages; null if no message has one.
 *
 *     ---
 *     updated-dependencies:
 *     - dependency-name: "@types/node"
 *       dependency-type: direct:development
 *       update-type: version-update:semver-patch
 *     ...
 */
export function dependabotMetadata(messages: string[]): DependabotMetadata | null {
  const blocks = messages.map(blockOf).filter((block) => block !== null);
  if (blocks.length === 0) return null;
  const entries = blocks.flat().flatMap((line) => [...line.matchAll(entry)]);
  const valuesOf = (key: string) => [
    ...new Set(entries.filter((each) => each[1] === key).map((each) => unquoted(each[2]!))),
  ];
  return {
    names: valuesOf('dependency-name'),
    types: valuesOf('dependency-type'),
    updates: valuesOf('update-type'),
  };
}

const entry = /^(?:- | {2})([a-z-]+): (\S.*)$/g;

/** The lines below `updated-dependencies:`. */
function blockOf(message: string): string[] | null {
  const lines = message.split(/\r?\n/).map((line) => line.trimEnd());
  const title = lines.findIndex((line, at) => line === 'updated-dependencies:' && lines[at - 1] === '---');
  const end = lines.indexOf('...', title);
  return title < 0 || end < 0 ? null : lines.slice(title + 1, end);
}

/** YAML quotes a name that begins with `@`. */
function unquoted(text: string): string {
  const [, quote, inner] = /^(["'])(.*)\1$/.exec(text) ?? [];
  if (inner === undefined) return text;
  return quote === '"' ? inner.replace(/\\(.)/g, '$1') : inner.replaceAll("''", "'");
}
