import { isDeepStrictEqual } from 'node:util';
import { nowOf } from '../clock.ts';
import { throughPrisma } from '../database/sql.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Account } from '../generated/prisma/client.ts';
import type { Administered } from '../installations/find-account.ts';
import { jobs } from '../queue/jobs.ts';
import { toInstant } from '../time/local-time.ts';
import { assertNotOver, checkPlan } from './check-plan.ts';
import { keepFreezes, requestReconciles, type Revision } from './keep-plan.ts';
import { matchedRepositories, assertMayChange } from './matched-repositories.ts';
import { firstOccurrence } from './occurrences.ts';
import { attributesOfPlan, type Plan, type PlanInput } from './plan.ts';
import { moveOccurrence } from './plan-freezes.ts';
import { lockPlan, savePlan, requirePlan } from './plan-store.ts';
import { type SavedPlan, showPlan, warnOfGivenEnds } from './show-plan.ts';

/** `undefined` keeps a field. */
export type PlanChange = Partial<Omit<PlanInput, 'repositories'>> & {
  repositories?: Partial<PlanInput['repositories']>;
};

/**
 * Changes a plan and its freezes: those that have not begun completely, and ongoing ones except for their start.
 * @param administered the repositories that the caller is an admin of.
 * @throws Refusal conflict if the plan now affects other repositories too; start-already-passed if the plan does not
 *   repeat, has begun and would get another start; not-found if it is over or deleted; invalid.
 */
export async function updatePlan(
  deps: Deps,
  actor: Actor,
  account: Account,
  administered: Administered,
  id: string,
  change: PlanChange,
): Promise<SavedPlan> {
  const now = nowOf(deps.clock);
  return deps.db.$transaction(async (tx) => {
    await lockPlan(tx, id);
    const before = await requirePlan(tx, deps, account, id);
    await assertMayChange(tx, administered, before, now, change.repositories?.include);
    const checked = checkPlan(revised(before, change), now);
    const after = { ...before, ...checked };
    assertStartStays(before, after, now);
    // An end in the past ends a plan that has begun. For a plan that has not begun, it makes no sense.
    if (!hasBegun(before, now)) assertNotOver(after, now);
    if (isDeepStrictEqual(before, after)) {
      const matched = await matchedRepositories(throughPrisma(tx), before);
      return { ...(await showPlan(tx, account, before, now, matched)), warnings: [] };
    }
    await savePlan(tx, after, actor, now);
    const metadata = {
      freeze_plan_id: id,
      freeze_plan_attributes_before: attributesOfPlan(before),
      freeze_plan_attributes_after: attributesOfPlan(after),
    };
    await appendEvent(tx, { accountId: account.id }, { type: 'freeze_plan.update', metadata }, actor, now);
    const [from, to] = [before.start.slice(0, 10), after.start.slice(0, 10)];
    if (before.recurrence === null && from !== to) await moveOccurrence(tx, id, from, to);
    const revision = revisionOf(before, after, change);
    const kept = await keepFreezes({ tx, plan: after, by: actor, now }, null, revision);
    deps.log.info({ account: account.login, plan: id, by: actor.name }, 'freeze plan changed');
    const shown = await showPlan(tx, account, after, now, kept.matched);
    const isWindowNew = revision.isMoved || revision.isEndChanged;
    const warnings = isWindowNew ? await warnOfGivenEnds(tx, after, [], now) : [];
    await requestReconciles(deps, tx, kept.requests, now, kept.isDone ? [] : [jobs.keepPlan(id)]);
    return { ...shown, warnings };
  });
}

/** Freezes of a plan that still has no end keep the ends that repositories gave them. */
function revisionOf(before: Plan, after: Plan, { end }: PlanChange): Revision {
  const windowOf = ({ start, end, timezone }: Plan) => ({ start, end, timezone });
  return {
    isMoved: !isDeepStrictEqual(windowOf(before), windowOf(after)),
    isEndChanged: end !== undefined && !(before.end === null && after.end === null),
  };
}

function revised(before: Plan, { repositories, ...change }: PlanChange): PlanInput {
  const { id: _id, accountId: _account, ...fields } = before;
  const said = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return {
    ...fields,
    ...said,
    repositories: {
      include: repositories?.include ?? before.repositories.include,
      exclude: repositories?.exclude ?? before.repositories.exclude,
    },
  };
}

const hasBegun = (plan: Plan, now: Date): boolean => firstOccurrence(plan)!.startsAt <= now;

const startOf = ({ start, timezone }: Plan): Date => toInstant(start, timezone, 'start');

function assertStartStays(before: Plan, after: Plan, now: Date): void {
  if (before.recurrence !== null || !hasBegun(before, now)) return;
  if (startOf(after).getTime() === startOf(before).getTime()) return;
  throw new Refusal(
    'start-already-passed',
    'This plan has begun and does not repeat, so its start cannot change. Leave out start and timezone, or delete it and make another.',
  );
}
