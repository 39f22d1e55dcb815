import type { ConditionInput } from '../conditions/ast.ts';
import type { Holdable } from '../freezes/freeze.ts';
import type { Recurrence, Schedule } from './occurrences.ts';

/** A plan: it makes a freeze for each repository that it matches and each time that it occurs. */
export type Plan = {
  id: string;
  accountId: bigint;
  name: string;
  reason: string;
  /** What everybody but admins and insiders reads instead; null: the reason. */
  publicReason: string | null;
  /** Globs over the names of the owner's repositories. */
  repositories: { include: string[]; exclude: string[] };
  matchingConditions: ConditionInput[];
  excludeConditions: ConditionInput[];
  holds: Holdable[];
  environments: string[];
} & Schedule;

/** A plan as a request gives it, not yet checked. `start: null` is now. */
export type PlanInput = Omit<
  Plan,
  'id' | 'accountId' | 'start' | 'recurrence' | 'matchingConditions' | 'excludeConditions'
> & {
  start: string | null;
  recurrence: Recurrence | null;
  matchingConditions: unknown[];
  excludeConditions: unknown[];
};

/** A plan as the audit log keeps it, and as clients read it, less its id. */
export const attributesOfPlan = (plan: Omit<Plan, 'id' | 'accountId'>) => ({
  name: plan.name,
  reason: plan.reason,
  public_reason: plan.publicReason,
  repositories: plan.repositories,
  start: plan.start,
  end: plan.end,
  timezone: plan.timezone,
  recurrence: plan.recurrence,
  matching_conditions: plan.matchingConditions,
  exclude_conditions: plan.excludeConditions,
  holds: plan.holds,
  environments: plan.environments,
});
