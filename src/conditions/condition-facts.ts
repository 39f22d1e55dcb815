import type { AttributeValues } from './attributes.ts';

/** All facts about a pull request that conditions read. */
export type ConditionFacts = {
  /** A missing value is unknown. */
  values: AttributeValues;
  /** Why something is unknown, by attribute name, or by team as it was written. */
  whyNotKnown: Readonly<Record<string, string>>;
  /** Whether CI says that the pull request touches every scope. */
  hasEveryScope: boolean;
  /** The stack that it is in, if any: the rules of the stack's base apply to it. */
  stack?: { base: string } | null;
  /** The logins of team members, by team as it was written, in lower case: `@acme/core`. */
  teams: ReadonlyMap<string, ReadonlySet<string>>;
};
