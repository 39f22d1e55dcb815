import { jobs } from '../database/queue/jobs.ts';
import { conflict } from '../errors.ts';
import { appendEvent } from '../events/append-event.ts';
import { restorableFor, reviveExemptions } from '../freezes/restore-freeze.ts';
import { nowOf } from '../time/clock.ts';
import { assertRoomForPlan, type PlanChanger } from './change-plan.ts';
import { requestReconciles } from './keep-plan.ts';
import { assertMayChange } from './matched-repositories.ts';
import { restoreFreezes } from './plan-freezes.ts';
import { knownPlan, lockPlan, markPlanRestored, requirePlan } from './plan-store.ts';
import { attributesOfPlan } from './plan.ts';

/**
 * Restores a plan that was deleted in the last minute, and the freezes that its deletion ended, as they were.
 * @throws Refusal conflict if it is not deleted, if that was too long ago, if the owner has too many plans, or if it affects
 *   other repositories too; not-found if it would be over.
 */
export async function restorePlan(
  { deps, actor, account, administered }: PlanChanger,
  id: string,
): Promise<void> {
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    const known = await knownPlan(tx, { id, accountId: account.id }, now);
    if (known) await assertRoomForPlan(tx, account, known.plan, now);
    await lockPlan(tx, id);
    const since = new Date(now.getTime() - restorableFor);
    const where = { id, accountId: account.id, deletedAt: { gt: since } };
    const deletedAt = (await tx.freezePlan.findFirst({ where, select: { deletedAt: true } }))?.deletedAt;
    if (!deletedAt)
      throw conflict(
        `The plan ${id} was not ended in the last ${restorableFor / 1000} seconds, so it cannot be restored. Create another plan.`,
      );
    const ended = await tx.freeze.findMany({
      where: { planId: id, detached: false, deletedAt },
      select: { id: true, repository: { select: { name: true } } },
    });
    await markPlanRestored(tx, id, actor, now);
    const plan = await requirePlan(tx, deps, account, id);
    const names = ended.map(({ repository }) => repository.name);
    await assertMayChange(tx, administered, plan, now, names);
    const metadata = { freeze_plan_id: id, freeze_plan_attributes: attributesOfPlan(plan) };
    await appendEvent(tx, { accountId: account.id }, { type: 'freeze_plan.restore', metadata }, actor, now);
    const requests = await restoreFreezes({ tx, plan, by: actor, now }, deletedAt);
    const ids = ended.map((each) => each.id);
    await reviveExemptions(tx, ids, deletedAt, now);
    await requestReconciles(deps, tx, requests, now, [jobs.keepPlan(id)]);
  });
  deps.log.info({ account: account.login, plan: id, by: actor.name }, 'freeze plan restored');
}
