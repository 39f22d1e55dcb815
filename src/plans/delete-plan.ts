import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Account } from '../generated/prisma/client.ts';
import type { Administered } from '../installations/find-account.ts';
import { requestReconciles } from './keep-plan.ts';
import { assertMayChange } from './matched-repositories.ts';
import { attributesOfPlan } from './plan.ts';
import { deleteFreezes } from './plan-freezes.ts';
import { lockPlan, markPlanDeleted, requirePlan } from './plan-store.ts';

/**
 * Deletes a plan and its freezes that have not ended, except for freezes that were changed or deleted separately.
 * @param administered the repositories that the caller is an admin of.
 * @param beforeSaving runs first in the same transaction.
 * @throws Refusal conflict if the plan now affects other repositories too; not-found if it is over or deleted.
 */
export async function deletePlan(
  deps: Deps,
  actor: Actor,
  account: Account,
  administered: Administered,
  id: string,
  reason: string,
  beforeSaving: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    await beforeSaving(tx);
    await lockPlan(tx, id);
    const plan = await requirePlan(tx, deps, account, id);
    await assertMayChange(tx, administered, plan, now);
    await markPlanDeleted(tx, id, actor, reason, now);
    const metadata = { freeze_plan_id: id, freeze_plan_attributes: attributesOfPlan(plan), reason };
    await appendEvent(tx, { accountId: account.id }, { type: 'freeze_plan.delete', metadata }, actor, now);
    await requestReconciles(deps, tx, await deleteFreezes({ tx, plan, by: actor, now }, reason), now);
  });
  deps.log.info({ account: account.login, plan: id, by: actor.name }, 'freeze plan deleted');
}
