import type { AttributeName } from './attributes.ts';
import type { CommitField } from './commit-fields.ts';
import type { TextTest } from './patterns/text-test.ts';
import type { ClockTest } from './time/clock-test.ts';

/** A condition as clients send it and as it is stored. */
export type ConditionInput =
  string | { and: ConditionInput[] } | { or: ConditionInput[] } | { not: ConditionInput };

/** Orderings; of text by code points. */
export type Range = '>=' | '<=' | '>' | '<';
export type Equality = '=' | '!=';
export type Comparison = Equality | Range;
/** `~=` searches for a regular expression, `*=` matches a glob. */
export type Operator = Comparison | '~=' | '*=';

/** One comparison: `-label~=^risk`. */
export type Leaf = {
  kind: 'leaf';
  /** As it was written. */
  text: string;
  attribute: AttributeName;
  /** Of `commits[-1].author`: which commit, and what of it. */
  commit: { index: number | '*'; field: CommitField } | null;
  /** The `-` in front. */
  isNegated: boolean;
  /** The `#` in front: asks how many, or how long. */
  isCounted: boolean;
  test: Test;
};

/** What is asked of the attribute's values. */
export type Test =
  | { type: 'is-true' }
  | { type: 'text'; operator: Comparison; value: AuthorText<string> }
  | { type: 'pattern'; operator: '~=' | '*='; matches: AuthorText<TextTest> }
  /** As it was written, in small letters: `@core` or `@acme/core`. */
  | { type: 'team'; operator: Equality; team: string }
  /** A check of one App: `@github-actions/ci/lint`. */
  | { type: 'app-check'; operator: Equality; value: string }
  | { type: 'number'; operator: Comparison; value: number }
  /** Milliseconds since the epoch, or before now. */
  | { type: 'instant'; operator: Range; at: number }
  | { type: 'age'; operator: Range; ago: number }
  /** What only the clock answers. */
  | { type: 'clock'; operator: Equality; clock: ClockTest }
  | { type: 'now'; operator: Range; at: number };

/** Something made from text that may contain `{{ author }}`, and is then made anew for each author. */
export type AuthorText<Made> =
  { usesAuthor: false; value: Made } | { usesAuthor: true; of: (author: string) => Made };

export type ConditionNode =
  Leaf | { kind: 'and' | 'or'; nodes: ConditionNode[] } | { kind: 'not'; node: ConditionNode };
