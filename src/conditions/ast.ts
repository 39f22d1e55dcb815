import type { RE2JS } from 're2js';
import type { AttributeName } from './attributes.ts';

/** A condition as clients send it and as it is stored. */
export type ConditionInput =
  string | { and: ConditionInput[] } | { or: ConditionInput[] } | { not: ConditionInput };

export type Operator = '=' | '!=' | '~=';

/** One comparison: `-label~=^risk`. */
export type Leaf = {
  kind: 'leaf';
  /** As it was written. */
  text: string;
  attribute: AttributeName;
  /** The `-` in front. */
  isNegated: boolean;
  test: Test;
};

/** What is asked of the attribute's values. */
export type Test =
  { operator: 'is-true' } | { operator: '=' | '!='; value: string } | { operator: '~='; pattern: RE2JS };

export type ConditionNode =
  Leaf | { kind: 'and' | 'or'; nodes: ConditionNode[] } | { kind: 'not'; node: ConditionNode };
