import type { Tx } from '../database/database.ts';
import { eachByItself, type PartialOutcome, Refusal } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { planChange, type PlannedChange } from '../freezes/check-freeze.ts';
import { saysTheSame } from '../freezes/freeze.ts';
import { type FreezeSpan, spansWithin } from '../freezes/list-freezes.ts';
import { deleteFreeze, saveChange, updateFreeze } from '../freezes/save-freeze.ts';
import { type FoundRepository, fullName, repositoriesOfIds } from '../installations/find-repository.ts';
import { nowOf } from '../time/clock.ts';
import { toLocalTime } from '../time/local-time.ts';
import { deletePlan, type PlanChanger, updatePlan } from './change-plan.ts';
import { isOnce } from './occurrences.ts';
import { listPlans, lockPlan, type StoredPlan } from './plan-store.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';

/** Something ongoing that people end with one checkbox: a plan in all its repositories, or freezes of one kind. */
export type Ongoing = {
  /** `plan ID` ends a plan. `freezes …` ends single freezes, such as those of a plan in some repositories. */
  value: string;
  reason: string;
  repositories: string[];
  freezes: FreezeSpan[];
  /** Who made it, or its plan. */
  createdBy: Actor;
  /** Set if the whole plan ends with it. */
  plan: StoredPlan | null;
};

const mostSpans = 200;

/**
 * What is ongoing in some repositories. A plan ends as a whole if it does not repeat, froze nothing else, and the caller
 * may end it. Of other plans, only the freezes in these repositories end.
 * @param mayAll whether the caller is an admin of the owner. If not, they may end plans that name these repositories.
 */
export async function ongoingIn(
  deps: Pick<FreezeDeps, 'db' | 'clock'>,
  account: { id: bigint },
  repositories: { id: bigint; name: string }[],
  mayAll: boolean,
): Promise<Ongoing[]> {
  const now = nowOf(deps.clock);
  const moment = { from: now, to: new Date(now.getTime() + 1) };
  const [spans, plans, others] = await Promise.all([
    spansWithin(
      deps.db,
      repositories.map(({ id }) => id),
      moment,
      mostSpans,
      'all',
    ),
    listPlans(deps.db, account.id, now),
    countOngoing(deps, account.id, now),
  ]);
  const names = new Map(repositories.map(({ id, name }) => [id, name]));
  const nameOf = ({ repositoryId }: FreezeSpan): string => names.get(repositoryId)!;
  const ownNames = new Set(repositories.map(({ name }) => name.toLowerCase()));
  const mayEnd = (plan: StoredPlan) =>
    mayAll || plan.repositories.include.every((glob) => ownNames.has(glob.toLowerCase()));
  const groups = Map.groupBy(spans, ({ planId, id }) => planId ?? id);
  return [...groups].map(([id, freezes]) => {
    const plan = plans.find((each) => each.id === id) ?? null;
    const isWhole = plan !== null && isOnce(plan) && others.get(id) === freezes.length && mayEnd(plan);
    return {
      value: isWhole ? `plan ${id}` : `freezes ${id}`,
      reason: freezes[0]!.reason,
      repositories: freezes.map(nameOf),
      freezes,
      createdBy: (plan ?? freezes[0]!).createdBy,
      plan: isWhole ? plan : null,
    };
  });
}

/** How many freezes of each plan of an owner are ongoing, in repositories that are not archived. */
async function countOngoing(
  { db }: Pick<FreezeDeps, 'db'>,
  accountId: bigint,
  now: Date,
): Promise<Map<string, number>> {
  const rows = await db.freeze.groupBy({
    by: ['planId'],
    where: {
      plan: { accountId },
      repository: { archived: false },
      deletedAt: null,
      startsAt: { lte: now },
      OR: [{ endsAt: null }, { endsAt: { gt: now } }],
    },
    _count: true,
  });
  return new Map(rows.map(({ planId, _count }) => [planId!, _count]));
}

/**
 * Ends something ongoing: a plan as a whole, or freezes one after another. Ignores what somebody else ended meanwhile.
 * @param beforeSaving runs first in the transaction that ends the plan, or each freeze.
 * @throws Refusal conflict if a concurrent change won or a repository cannot be written to.
 */
export async function endOngoing(
  changer: PlanChanger,
  { plan, freezes }: Ongoing,
  reason: string,
  beforeSaving: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  if (plan) return deletePlan(changer, plan.id, reason, beforeSaving).catch(unlessGone);
  const { deps, actor } = changer;
  const ids = freezes.map(({ repositoryId }) => repositoryId);
  const repositories = await repositoriesOfIds(deps.sql, ids);
  for (const { id, repositoryId } of freezes) {
    const repository = repositories.find((each) => each.id === repositoryId)!;
    await deleteFreeze(deps, actor, repository, id, reason, beforeSaving).catch(unlessGone);
  }
}

/** Ignores not-found: somebody else ended it first. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Refusal) || error.code !== 'not-found') throw error;
}

/**
 * Gives something ongoing another end: a plan as a whole, freezes of a plan apart from it, or a single freeze.
 * @returns warnings in sentences. Of the freezes of a plan, they also say which could not be changed.
 * @throws Refusal like `updatePlan`, `extendFreezes` and `updateFreeze`.
 */
export async function extendOngoing(
  changer: PlanChanger,
  { plan, freezes }: Ongoing,
  until: Date,
): Promise<string[]> {
  const endOf = ({ timezone }: { timezone: string }) => toLocalTime(until, timezone);
  if (plan) return (await updatePlan(changer, plan.id, { end: endOf(plan) })).warnings;
  const { deps, actor } = changer;
  const [first] = freezes as [FreezeSpan];
  if (first.planId) {
    const { done, refusals, warnings } = await extendFreezes(deps, actor, first.planId, freezes, endOf);
    if (done.length === 0 && refusals[0]) throw refusals[0];
    return [...refusals.map(({ message }) => message), ...warnings];
  }
  const [repository] = (await repositoriesOfIds(deps.sql, [first.repositoryId])) as [FoundRepository];
  return (await updateFreeze(deps, actor, repository, first.id, { end: endOf(first) })).warnings;
}

/** In how many repositories we look at what GitHub does with extended freezes. */
const mostLookedAt = 10;

/**
 * Gives ongoing freezes of a plan another end. The plan no longer changes those. One that cannot change does not stop the
 * others. All of them change in one transaction that has locked the plan, so that two people who extend them at the same
 * time do not each extend a part.
 * @throws Refusal conflict if a concurrent change of one of them won, and then none has changed.
 */
export async function extendFreezes<Of extends { id: string; repositoryId: bigint }>(
  deps: FreezeDeps,
  actor: Actor,
  planId: string,
  freezes: Of[],
  endOf: (freeze: Of) => string,
): Promise<PartialOutcome<PlannedChange> & { warnings: string[] }> {
  const ids = freezes.map(({ repositoryId }) => repositoryId);
  const repositories = new Map((await repositoriesOfIds(deps.sql, ids)).map((each) => [each.id, each]));
  const outcome = await eachByItself(
    freezes.map((freeze) => async () => {
      const repository = repositories.get(freeze.repositoryId)!;
      return { repository, ...(await planChange(deps, repository, freeze.id, { end: endOf(freeze) })) };
    }),
  );
  // Runs in parallel, so that the changes do not wait for it.
  const looks = outcome.done.slice(0, mostLookedAt).map(async ({ repository, after }) => {
    const { warnings } = await deps.lookAhead(deps, repository, after);
    return warnings.map((warning) => `${repository.name}: ${warning}`);
  });
  // In one order, so that it and the worker do not wait for each other's locks.
  const inOrder = outcome.done.toSorted((one, other) => Number(one.repository.id - other.repository.id));
  await deps.db.$transaction(async (tx) => {
    await lockPlan(tx, planId);
    const now = nowOf(deps.clock);
    for (const { repository, ...planned } of inOrder)
      if (!saysTheSame(planned.before, planned.after))
        await saveChange({ deps, tx, actor, repository, now }, planned);
  });
  for (const { repository, before } of inOrder)
    deps.log.info({ repository: fullName(repository), freeze: before.id, by: actor.name }, 'freeze changed');
  return { ...outcome, warnings: (await Promise.all(looks)).flat() };
}
