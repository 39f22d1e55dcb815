import type { Tx } from '../database/database.ts';
import type { Account } from '../generated/prisma/client.ts';
import { next } from './keep-plan.ts';
import type { PlanRepository } from './matched-repositories.ts';
import type { Occurrence } from './occurrences.ts';
import { type Detached, detachedFreezes } from './read-freezes.ts';
import type { StoredPlan } from './plan-store.ts';

/** A plan with what it comes to now. */
export type ShownPlan = {
  plan: StoredPlan;
  matched: number;
  /** Full names of those among them in which no freeze could hold. */
  notEnforced: string[];
  nextOccurrences: Occurrence[];
  detached: Detached[];
};

/** A plan that was made or changed. @property warnings what to warn of, in sentences. */
export type SavedPlan = ShownPlan & { warnings: string[] };

/** So many occurrences are shown, the ongoing one first. */
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
