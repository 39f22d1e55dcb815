import type { AttributeName, CommitField } from './attributes.ts';
import type { ClockTest } from './time/wall-clock.ts';

/** A condition in the form that clients send and we store. */
export type ConditionInput =
  string | { and: ConditionInput[] } | { or: ConditionInput[] } | { not: ConditionInput };

/** Orderings; of text by code points. */
export type Range = '>=' | '<=' | '>' | '<';
type Equality = '=' | '!=';
export type Comparison = Equality | Range;
/** `~=` searches for a regular expression, `*=` matches a glob. */
export type Operator = Comparison | '~=' | '*=';

/** One comparison: `-label~=^risk`. */
export type Leaf = {
  kind: 'leaf';
  /** As it was written. */
  text: string;
  attribute: AttributeName;
  /** For `commits[-1].author`: which commit, and which field. */
  commit: { index: number | '*'; field: CommitField } | null;
  /** Whether `-` precedes it. */
  isNegated: boolean;
  /** Whether `#` precedes it, which asks how many or how long. */
  isCounted: boolean;
  test: Test;
};

/** The test on the attribute's values. */
export type Test =
  | { type: 'is-true' }
  | { type: 'text'; operator: Comparison; value: AuthorText<string> }
  | { type: 'pattern'; operator: '~=' | '*='; matches: AuthorText<TextTest> }
  /** As it was written, in lower case: `@core` or `@acme/core`. */
  | { type: 'team'; operator: Equality; team: string }
  /** A check from one App: `@github-actions/ci/lint`. */
  | { type: 'app-check'; operator: Equality; value: string }
  | { type: 'number'; operator: Comparison; value: number }
  /** In milliseconds since the epoch, or before now. */
  | { type: 'instant'; operator: Range; at: number }
  | { type: 'age'; operator: Range; ago: number }
  /** A test that only needs the clock. */
  | { type: 'clock'; operator: Equality; clock: ClockTest }
  | { type: 'now'; operator: Range; at: number };

/** Whether a text matches. Built once and called often. */
export type TextTest = ((text: string) => boolean) & {
  /** How many steps of a program its pattern is compiled to; absent for few. */
  readonly size?: number;
};

/** A value built from text. If the text contains `{{ author }}`, it is built again for each author. */
export type AuthorText<Made> =
  { usesAuthor: false; value: Made } | { usesAuthor: true; of: (author: string) => Made };

export type ConditionNode =
  Leaf | { kind: 'and' | 'or'; nodes: ConditionNode[] } | { kind: 'not'; node: ConditionNode };
