import { parseAhead } from '../conditions/parse-conditions.ts';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Tx } from '../database/database.ts';
import { jobs } from '../database/queue/jobs.ts';
import { throughPrisma } from '../database/sql.ts';
import { conflict, invalid, Refusal } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Account } from '../generated/prisma/client.ts';
import { type Administered, lockAccount } from '../installations/find-account.ts';
import { nowOf } from '../time/clock.ts';
import { isTimeZone, toInstant } from '../time/local-time.ts';
import { assertNotOver, checkPlan } from './check-plan.ts';
import { keepFreezes, requestReconciles, type Revision } from './keep-plan.ts';
import { assertMayChange, matchedRepositories } from './matched-repositories.ts';
import { firstOccurrence, isOnce } from './occurrences.ts';
import { deleteFreezes, moveOccurrence } from './plan-freezes.ts';
import { insertPlan, listPlans, lockPlan, markPlanDeleted, requirePlan, savePlan } from './plan-store.ts';
import { attributesOfPlan, type Plan, type PlanInput, type ReadInput, type Source } from './plan.ts';
import { readInput, readSource, refuseUnreadable } from './source/read-source.ts';
import { warnOfEnvironments } from './unknown-environments.ts';
import { type SavedPlan, loadPlan, warnOfDeployments, warnOfDates, warnOfGivenEnds } from './show-plan.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';
import { namedEnvironments } from '../freezes/freeze-warnings.ts';

/** Who changes plans of an owner. */
export type PlanChanger = {
  deps: FreezeDeps;
  actor: Actor;
  account: Account;
  /** The repositories that the caller is an admin of. */
  administered: Administered;
};

/**
 * How many plans of an owner may repeat or lie ahead, because each may add a freeze that we judge on every pull request. A
 * plan that begins now does not count and always has room: somebody needs it now, whatever was planned before.
 */
const mostPlans = 200;

/**
 * Saves a plan and creates its freezes, with their events and jobs, in one transaction. Does not wait for GitHub,
 * but reads the calendar that the plan follows.
 * @param beforeAnswering runs last in the same transaction.
 * @throws Refusal invalid, also if its calendar cannot be read; conflict if it repeats or lies ahead, and the owner has too
 *   many such plans.
 */
export async function createPlan(
  { deps, actor, account }: Omit<PlanChanger, 'administered'>,
  input: PlanInput,
  beforeAnswering: (tx: Tx, saved: SavedPlan) => Promise<void> = async () => {},
): Promise<SavedPlan> {
  const now = nowOf(deps.clock);
  const read = await readInput(deps, account, input);
  const checked = checkPlan(read.input, now);
  assertNotOver(checked, now);
  const plan = { ...checked, id: randomUUID(), accountId: account.id };
  const ofEnvironments = await environmentsAhead(deps, plan);
  const saved = await deps.db.$transaction(async (tx) => {
    await assertRoomForPlan(tx, account, plan, now);
    await insertPlan(tx, plan, actor, now);
    const metadata = { freeze_plan_id: plan.id, freeze_plan_attributes: attributesOfPlan(plan) };
    await appendEvent(tx, { accountId: account.id }, { type: 'freeze_plan.create', metadata }, actor, now);
    const kept = await keepFreezes({ tx, plan, by: actor, now });
    const stored = { ...plan, createdBy: actor, createdAt: now, updatedAt: now, version: 1 };
    const shown = await loadPlan(tx, account, stored, now, kept.matched);
    const saved = {
      ...shown,
      warnings: [
        ...read.warnings,
        ...(await warnOfGivenEnds(tx, plan, kept.matched.used, now)),
        ...warnOfDates(plan),
        ...(await warnOfDeployments(tx, plan, shown.nextOccurrences)),
        ...ofEnvironments,
      ],
    };
    await beforeAnswering(tx, saved);
    await requestReconciles(deps, tx, kept.requests, now, kept.isDone ? [] : [jobs.keepPlan(plan.id)]);
    return saved;
  });
  deps.log.info({ account: account.login, plan: plan.id, by: actor.name }, 'freeze plan created');
  return saved;
}

type Naming = Pick<Plan, 'accountId' | 'repositories' | 'holds' | 'environments'>;

/** Warns of environments that a plan names and its repositories do not have, before a transaction waits for GitHub. */
const environmentsAhead = async (deps: FreezeDeps, plan: Naming): Promise<string[]> =>
  namedEnvironments(plan).length === 0
    ? []
    : warnOfEnvironments(deps, plan, (await matchedRepositories(deps.sql, plan)).used);

/** Whether it has begun, and freezes nothing another time. */
const isOfNow = (plan: Plan, now: Date): boolean => isOnce(plan) && hasBegun(plan, now);

/** @throws Refusal conflict if the plan repeats or lies ahead, and the owner has as many such plans as it may. */
export async function assertRoomForPlan(tx: Tx, account: Account, plan: Plan, now: Date): Promise<void> {
  if (isOfNow(plan, now)) return;
  await lockAccount(tx, account.id);
  const others = await listPlans(tx, account.id, now);
  if (others.filter((other) => other.id !== plan.id && !isOfNow(other, now)).length < mostPlans) return;
  throw conflict(
    `${account.login} has ${mostPlans} freeze plans that are not over, the most there can be. Delete one first: GET /v1/freeze_plans/${account.login} lists them.`,
  );
}

/** `undefined` keeps a field. */
export type PlanChange = Partial<Omit<PlanInput, 'repositories'>> & {
  repositories?: Partial<PlanInput['repositories']>;
};

/**
 * Changes a plan and its freezes: those that have not begun completely, and ongoing ones except for their start.
 * @throws Refusal conflict if the plan now affects other repositories too; start-already-passed if the plan does not
 *   repeat, has begun and would get another start; not-found if it is over or deleted; invalid.
 */
export async function updatePlan(
  { deps, actor, account, administered }: PlanChanger,
  id: string,
  change: PlanChange,
): Promise<SavedPlan> {
  const now = nowOf(deps.clock);
  const read = await readAnew(deps, account, id, change);
  const ofEnvironments = await environmentsAhead(deps, {
    ...read.before,
    ...revised(read.before, change, null),
  });
  return deps.db.$transaction(async (tx) => {
    await lockPlan(tx, id);
    const before = await requirePlan(tx, deps, account, id);
    await assertMayChange(tx, administered, before, now, change.repositories?.include);
    const checked = checkPlan(revised(before, change, read.source), now);
    const after = { ...before, ...checked };
    assertStartStays(before, after, now);
    // An end in the past ends a plan that has begun. For a plan that has not begun, it makes no sense.
    if (!hasBegun(before, now)) assertNotOver(after, now);
    if (isDeepStrictEqual(before, after)) {
      const matched = await matchedRepositories(throughPrisma(tx), before);
      return { ...(await loadPlan(tx, account, before, now, matched)), warnings: read.warnings };
    }
    if (isOfNow(before, now)) await assertRoomForPlan(tx, account, after, now);
    await savePlan(tx, after, actor, now);
    const metadata = {
      freeze_plan_id: id,
      freeze_plan_attributes_before: attributesOfPlan(before),
      freeze_plan_attributes_after: attributesOfPlan(after),
    };
    await appendEvent(tx, { accountId: account.id }, { type: 'freeze_plan.update', metadata }, actor, now);
    const [from, to] = [before.start.slice(0, 10), after.start.slice(0, 10)];
    if (isOnce(before) && from !== to) await moveOccurrence(tx, id, from, to);
    const revision = revisionOf(before, after, change);
    const kept = await keepFreezes({ tx, plan: after, by: actor, now }, new Set(), revision);
    deps.log.info({ account: account.login, plan: id, by: actor.name }, 'freeze plan changed');
    const shown = await loadPlan(tx, account, after, now, kept.matched);
    const isWindowNew = revision.isMoved || revision.isEndChanged;
    const givenEnds = isWindowNew ? await warnOfGivenEnds(tx, after, [], now) : [];
    const ofDeployments = await warnOfDeployments(tx, after, shown.nextOccurrences);
    const warnings = [
      ...read.warnings,
      ...givenEnds,
      ...warnOfDates(after),
      ...ofDeployments,
      ...ofEnvironments,
    ];
    await requestReconciles(deps, tx, kept.requests, now, kept.isDone ? [] : [jobs.keepPlan(id)]);
    return { ...shown, warnings };
  });
}

/** Freezes of a plan that still has no end keep the ends that repositories gave them. */
function revisionOf(before: Plan, after: Plan, { end }: PlanChange): Revision {
  const windowOf = ({ start, end, timezone, source }: Plan) => [start, end, timezone, source?.windows];
  return {
    isMoved: !isDeepStrictEqual(windowOf(before), windowOf(after)),
    isEndChanged: end !== undefined && !(before.end === null && after.end === null),
  };
}

/**
 * Reads the calendar of a plan for a change of what it follows, or of the zone of days and of times without one.
 * @throws Refusal invalid if it cannot be read, or if the plan follows none.
 */
async function readAnew(
  deps: FreezeDeps,
  account: Account,
  id: string,
  change: PlanChange,
): Promise<{ before: Plan; source: Source | null; warnings: string[] }> {
  const before = await requirePlan(deps.db, deps, account, id);
  assertSameKind(before, change);
  await parseAhead(change.matchingConditions, change.excludeConditions);
  const { source, timezone } = change;
  const wanted = source ?? before.source;
  const zone = timezone ?? before.timezone;
  // A zone that does not exist is refused with the other fields.
  const isNew = source !== undefined || (zone !== before.timezone && isTimeZone(zone));
  const read =
    before.source && wanted && isNew
      ? await readSource(deps, account.id, wanted, zone).catch(refuseUnreadable)
      : { source: null, warnings: [] };
  return { before, ...read };
}

/** A plan has its own times, or follows a calendar. @throws Refusal invalid for a change that would change that. */
function assertSameKind(before: Plan, change: PlanChange): void {
  const followsNone = 'This plan follows no calendar. Create another plan with a source.';
  const follows = 'This plan follows a calendar. Leave this out, or create another plan.';
  const wrong = before.source
    ? [
        ...(['start', 'end', 'recurrence'] as const).filter((field) => (change[field] ?? null) !== null),
        ...(change.source === null ? (['source'] as const) : []),
      ]
    : change.source
      ? (['source'] as const)
      : [];
  if (wrong.length === 0) return;
  const message = before.source ? follows : followsNone;
  throw invalid(wrong.map((field) => ({ path: ['body', field], message, type: 'value_error' })));
}

/** @param source the calendar, if it was read anew. */
function revised(
  before: Plan,
  { repositories, source: _wanted, ...change }: PlanChange,
  source: Source | null,
): ReadInput {
  const { id: _id, accountId: _account, ...fields } = before;
  const said = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return {
    ...fields,
    ...said,
    ...(before.source && { start: before.start, end: null, recurrence: null }),
    source: source ?? before.source,
    repositories: {
      include: repositories?.include ?? before.repositories.include,
      exclude: repositories?.exclude ?? before.repositories.exclude,
    },
  };
}

const hasBegun = (plan: Plan, now: Date): boolean => {
  const first = firstOccurrence(plan);
  return first !== null && first.startsAt <= now;
};

const startOf = ({ start, timezone }: Plan): Date => toInstant(start, timezone, 'start');

function assertStartStays(before: Plan, after: Plan, now: Date): void {
  if (!isOnce(before) || !hasBegun(before, now)) return;
  if (startOf(after).getTime() === startOf(before).getTime()) return;
  throw new Refusal(
    'start-already-passed',
    'This plan has begun and does not repeat, so its start cannot change. Leave out start and timezone, or delete it and make another.',
  );
}

/**
 * Deletes a plan and its freezes that have not ended, except for freezes that were changed or deleted separately.
 * @param beforeSaving runs first in the same transaction.
 * @throws Refusal conflict if the plan now affects other repositories too; not-found if it is over or deleted.
 */
export async function deletePlan(
  { deps, actor, account, administered }: PlanChanger,
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
