import type { ConditionFacts } from '../../conditions/attributes.ts';

/**
 * A stack of GitHub: pull requests that merge from the bottom up. Merging one merges all below it, and the rules of the
 * stack's base apply to each of them.
 * @property base the branch that the stack merges into.
 * @property size how many pull requests it has, merged ones included.
 * @property places its pull requests, each with its position: 1 is the bottom one.
 */
export type Stack = {
  number: number;
  base: string;
  size: number;
  places: { pullRequest: number; position: number }[];
};

/** Where a pull request is in a stack. */
export type StackPlace = Omit<Stack, 'places'> & { position: number };

/** The value that we asked GitHub for, or why it is not known. */
export type Fact<Value> = { known: true; value: Value } | { known: false; reason: string };

export const known = <Value>(value: Value): Fact<Value> => ({ known: true, value });
export const unknownFact = (reason: string): Fact<never> => ({ known: false, reason });

// Each reason completes "could not be judged: …" in a commit status.

/** @param what a part of the pull request: `labels`. */
export const didNotGive = (what: string): string => `GitHub did not give its ${what}`;

/**
 * An installation has its old permissions until somebody accepts the new ones.
 * @param permission what GitHub names as enough.
 */
export const mayNotRead = (what: string, permission?: string): string =>
  `Holdfast cannot read ${what} here: accept its new permissions${permission ? ` (${permission})` : ''}`;

/** The known facts of a pull request, for judging it. */
export type PullRequestFacts = ConditionFacts & {
  number: number;
  /** GitHub's GraphQL id. */
  nodeId: string;
  headSha: string;
  stack?: StackPlace | null;
  /** How many of its checks pass, fail and are under way, if that was asked; empty if GitHub does not say. */
  checkCounts?: number[];
};

/** The greatest integer of GraphQL, and so the greatest number of a pull request or an issue. */
export const greatestNumber = 2_147_483_647n;

/** When a pull request last changed, by GitHub's clock, in whole seconds. */
export function changedAtOf({ values }: PullRequestFacts): Date | null {
  const instant = values['updated-at'];
  return typeof instant === 'number' ? new Date(instant) : null;
}

/** A closed or merged pull request as if it were open, to see what freezes would do with it. */
export const asOpen = (facts: PullRequestFacts): PullRequestFacts => ({
  ...facts,
  values: {
    ...facts.values,
    closed: false,
    merged: false,
    'closed-at': null,
    'merged-at': null,
    'merged-by': null,
    'merge-commit-sha': null,
  },
});

/** A commit with our status on it, as `withOwnStatus` asks for it. */
export type CommitStatusAnswer = {
  oid: string;
  status?: { context: { state: string; description: string | null; createdAt: string } | null } | null;
};

/** Our status on a commit, in REST's words, with its time by GitHub's clock; null if there is none. */
export type PresentStatus = { state: string; description: string; at: Date } | null;

export function statusIn({ status }: CommitStatusAnswer): PresentStatus {
  const context = status?.context;
  if (!context) return null;
  const { state, description, createdAt } = context;
  return { state: state.toLowerCase(), description: description ?? '', at: new Date(createdAt) };
}
