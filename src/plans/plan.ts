import type { ConditionInput } from '../conditions/ast.ts';
import type { Holdable } from '../freezes/freeze.ts';
import type { Recurrence, Schedule } from './occurrences.ts';

/** A plan creates a freeze for each matching repository and each occurrence. */
export type Plan = {
  id: string;
  accountId: bigint;
  name: string;
  reason: string;
  /** Replaces the reason for everybody but admins and insiders; null to show the reason. */
  publicReason: string | null;
  /** Globs of the owner's repository names. */
  repositories: { include: string[]; exclude: string[] };
  matchingConditions: ConditionInput[];
  excludeConditions: ConditionInput[];
  holds: Holdable[];
  environments: string[];
} & Schedule;

/** A plan from a request, not validated yet. `start: null` means now. */
export type PlanInput = Omit<
  Plan,
  'id' | 'accountId' | 'start' | 'recurrence' | 'matchingConditions' | 'excludeConditions'
> & {
  start: string | null;
  recurrence: Recurrence | null;
  matchingConditions: unknown[];
  excludeConditions: unknown[];
};

/** A plan in the form of the audit log and the API, without its id. */
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
