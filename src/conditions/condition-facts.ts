import type { AttributeValues } from './attributes.ts';

/** Everything that conditions read of a pull request. */
export type ConditionFacts = {
  /** A value that is left out is not known. */
  values: AttributeValues;
  /** Why something is not known: by the attribute's name, or by a team as it was written. */
  whyNotKnown: Readonly<Record<string, string>>;
  /** CI says that the pull request touches every scope. */
  hasEveryScope: boolean;
  /** Logins of the teams' members, by the team as it was written, in small letters: `@acme/core`. */
  teams: ReadonlyMap<string, ReadonlySet<string>>;
};
