import type { Tx } from '../database/database.ts';
import type { Account } from '../generated/prisma/client.ts';
import { next } from './keep-plan.ts';
import type { PlanRepository } from './matched-repositories.ts';
import type { Occurrence } from './occurrences.ts';
import { type Detached, detachedFreezes } from './read-freezes.ts';
import type { StoredPlan } from './plan-store.ts';

/** A plan with its current repositories and occurrences. */
export type ShownPlan = {
  plan: StoredPlan;
  matched: number;
  /** Full names of the repositories where a freeze could hold nothing. */
  notEnforced: string[];
  nextOccurrences: Occurrence[];
  detached: Detached[];
};

/** A plan that was created or changed. @property warnings in sentences. */
export type SavedPlan = ShownPlan & { warnings: string[] };

/** How many occurrences are shown, the ongoing one first. */
export const mostShown = 10;

/** @param matched the repositories that it matches. */
export async function showPlan(
  tx: Tx,
  account: Pick<Account, 'login'>,
  plan: StoredPlan,
  now: Date,
  matched: PlanRepository[],
): Promise<ShownPlan> {
  return {
    plan,
    matched: matched.length,
    notEnforced: matched.flatMap(({ name, isFreezable }) =>
      isFreezable ? [] : [`${account.login}/${name}`],
    ),
    nextOccurrences: next(plan, now, mostShown),
    detached: await detachedFreezes(tx, plan.id, now),
  };
}
