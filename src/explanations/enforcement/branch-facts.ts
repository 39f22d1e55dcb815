import type { Fact } from '../../github/pull-requests/fact.ts';

/**
 * Why we check a branch. `chained`: it is the base of one open pull request and the head of another, and GitHub knows of
 * no stack.
 */
export type Reason = 'default' | 'freeze' | 'base' | 'chained';

export type Branch = { name: string; reason: Reason };

/** A protection or ruleset that requires our status check on a branch. */
export type Requirement = {
  by:
    | { kind: 'protection' }
    | { kind: 'ruleset'; id: number; level: string; source: string; name: string | null };
  /** The App whose status counts; null for any source. */
  appId: number | null;
  /** Who may bypass it, in words; empty for nobody. */
  bypass: Fact<string[]>;
};

export type BranchFacts = Branch & {
  /** False if the branch does not exist. */
  exists: Fact<boolean>;
  requirements: Requirement[];
  /** Why the list of requirements may be incomplete; empty if we read all. */
  notRead: string[];
  hasQueue: Fact<boolean>;
};

/** A ruleset that names our check but does not enforce it. */
export type DormantRuleset = Extract<Requirement['by'], { kind: 'ruleset' }> & { enforcement: string };
