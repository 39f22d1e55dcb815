/** The value that we asked GitHub for, or why it is not known. */
export type Fact<Value> = { known: true; value: Value } | { known: false; reason: string };

export const known = <Value>(value: Value): Fact<Value> => ({ known: true, value });
export const notKnown = (reason: string): Fact<never> => ({ known: false, reason });

// Each reason completes "could not be judged: …" in a commit status.

/** @param what a part of the pull request: `labels`. */
export const didNotGive = (what: string): string => `GitHub did not give its ${what}`;

/** An installation has its old permissions until somebody accepts the new ones. */
export const mayNotRead = (what: string): string =>
  `Holdfast cannot read ${what} here: accept its new permissions`;
