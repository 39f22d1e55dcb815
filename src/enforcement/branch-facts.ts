import type { Fact } from '../github/pull-requests/fact.ts';

/** Why a branch is looked at. `stacked`: it is the base of one open pull request and the head of another. */
export type Reason = 'default' | 'freeze' | 'base' | 'stacked';

export type Branch = { name: string; reason: Reason };

/** What requires our status check on a branch. */
export type Requirement = {
  by:
    | { kind: 'protection' }
    | { kind: 'ruleset'; id: number; level: string; source: string; name: string | null };
  /** The App whose status counts; null: any. */
  appId: number | null;
  /** Who may merge past it, in words; none: nobody. */
  bypass: Fact<string[]>;
};

export type BranchFacts = Branch & {
  /** False: GitHub has no such branch now. */
  exists: Fact<boolean>;
  requirements: Requirement[];
  /** Why some requirements may be missing from the list; empty when all were read. */
  notRead: string[];
  hasQueue: Fact<boolean>;
};

/** A ruleset that names our check and does not enforce it. */
export type DormantRuleset = Extract<Requirement['by'], { kind: 'ruleset' }> & { enforcement: string };
