import type { Tx } from '../database/database.ts';
import { throughPrisma } from '../database/sql.ts';
import { conflict, invalid, notFound, Refusal } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import { reviseWindow } from '../freezes/freeze-window.ts';
import type { Account } from '../generated/prisma/client.ts';
import type { Administered } from '../installations/find-account.ts';
import { nowOf } from '../time/clock.ts';
import { toLocalTime } from '../time/local-time.ts';
import { movedTo, type OccurrenceChange, type OccurrenceChanges } from './changed-occurrences.ts';
import { keepFreezes, requestReconciles } from './keep-plan.ts';
import { assertMayChange, matchedRepositories } from './matched-repositories.ts';
import { moveFreezes, setAsideSkipped, skipFreezes } from './occurrence-freezes.ts';
import { isOnce, type Occurrence, plannedAs, plannedAt, windowsOf } from './occurrences.ts';
import { type PlanFreezesChange, makeFreezes, type ReconcileRequest } from './plan-freezes.ts';
import { lockPlan, requirePlan, savePlan } from './plan-store.ts';
import { attributesOfPlan, type Plan } from './plan.ts';
import { type SavedPlan, loadPlan } from './show-plan.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';

/** What to do with an occurrence. A time that is left out stays. */
export type OccurrenceOrder = { skip: boolean } | { start?: string; end?: string };

/** An occurrence that begins at the time of a request. @property planned as the plan itself has it, if it still does. */
export type Found = {
  occurrence: Occurrence;
  planned: Occurrence | undefined;
  change: OccurrenceChange | null;
};

/** How many occurrences of a plan may be skipped or moved at a time. */
const mostChanges = 1000;

/**
 * Skips or moves one occurrence of a plan that repeats or follows a calendar, or takes a skip back. The plan no longer
 * changes the freezes of an occurrence that was skipped or moved.
 * @param administered the repositories that the caller is an admin of.
 * @param start of the occurrence, as the plan's answers show it.
 * @param beforeAnswering runs last in the same transaction.
 * @throws Refusal not-found if there is no such plan or occurrence; conflict if the plan happens once, if the occurrence is over
 *   or has begun and would be skipped, or if another begins at the new start; start-already-passed; invalid.
 */
export async function changeOccurrence(
  deps: FreezeDeps,
  actor: Actor,
  account: Account,
  administered: Administered,
  { id, start, order }: { id: string; start: string; order: OccurrenceOrder },
  beforeAnswering: (tx: Tx, saved: SavedPlan) => Promise<void> = async () => {},
): Promise<SavedPlan> {
  const now = nowOf(deps.clock);
  return deps.db.$transaction(async (tx) => {
    await lockPlan(tx, id);
    const before = await requirePlan(tx, deps, account, id);
    await assertMayChange(tx, administered, before, now);
    const changed = findAt(before, start, now).flatMap((found) => {
      const next = changeOf(before, found, order, now);
      return next === found.change ? [] : [{ ...found, next }];
    });
    const changes = withNext(notOver(before, now), changed);
    assertFew(changes);
    const after = { ...before, changes: Object.keys(changes).length > 0 ? changes : null };
    if (changed.length === 0) {
      const matched = await matchedRepositories(throughPrisma(tx), before);
      const same = { ...(await loadPlan(tx, account, before, now, matched)), warnings: [] };
      await beforeAnswering(tx, same);
      return same;
    }
    for (const { occurrence, next } of changed) assertAlone(after, occurrence, next);
    await savePlan(tx, after, actor, now);
    const [one] = changed as [(typeof changed)[number]];
    const metadata = {
      freeze_plan_id: id,
      freeze_plan_attributes_before: attributesOfPlan(before),
      freeze_plan_attributes_after: attributesOfPlan(after),
      occurrence: { start, ...told(after, one, order) },
    };
    await appendEvent(tx, { accountId: account.id }, { type: 'freeze_plan.update', metadata }, actor, now);
    const change = { tx, plan: after, by: actor, now };
    const requests: ReconcileRequest[] = [];
    for (const each of changed) requests.push(...(await applyTo(change, each)));
    const isAsPlanned = changed.some(({ next }) => next === null);
    const revision = isAsPlanned ? { isMoved: true, isEndChanged: false } : null;
    const kept = await keepFreezes(change, new Set(), revision);
    deps.log.info({ account: account.login, plan: id, by: actor.name }, 'an occurrence of a plan changed');
    const saved = { ...(await loadPlan(tx, account, after, now, kept.matched)), warnings: [] };
    await beforeAnswering(tx, saved);
    const more = kept.isDone ? [] : [jobs.keepPlan(id)];
    await requestReconciles(deps, tx, [...requests, ...kept.requests], now, more);
    return saved;
  });
}

/** The occurrences of a plan that begin at a time, as its answers show them, or that were skipped there. Also those that are over. */
export function occurrencesAt(plan: Plan, start: string): Found[] {
  const changed = Object.entries(plan.changes ?? {}).flatMap(([key, change]): Found[] => {
    const planned = plannedAs(plan, key);
    const occurrence = change.window ? movedTo(key, change.window, plan.timezone) : planned;
    const isThere = occurrence?.start === start || (change.window === null && change.start === start);
    return occurrence && isThere ? [{ occurrence, planned, change }] : [];
  });
  const others = plannedAt(plan, start)
    .filter(({ key }) => !plan.changes?.[key])
    .map((planned): Found => ({ occurrence: planned, planned, change: null }));
  return [...changed, ...others];
}

/** The same that are not over. @throws Refusal not-found; conflict if all are over, or if the plan has one occurrence only. */
function findAt(plan: Plan, start: string, now: Date): Found[] {
  if (isOnce(plan))
    throw conflict(
      `The plan ${plan.id} does not repeat, so it has one occurrence. Change its \`start\` and \`end\`, or delete it.`,
    );
  const found = occurrencesAt(plan, start);
  if (found.length === 0)
    throw notFound(
      `The plan ${plan.id} has no occurrence that starts at ${start} (${plan.timezone}). \`next_occurrences\` of the plan shows their starts, and \`detached\` those that were skipped or moved.`,
    );
  const ahead = found.filter(({ occurrence: { endsAt } }) => endsAt === null || endsAt > now);
  if (ahead.length > 0) return ahead;
  throw conflict(`The occurrence that starts at ${start} is over, so nothing of it can change.`);
}

/**
 * What an order makes of an occurrence: null if it is as the plan has it, and the same change if nothing changes.
 * @throws Refusal
 */
function changeOf(
  { timezone }: Plan,
  { occurrence, planned, change }: Found,
  order: OccurrenceOrder,
  now: Date,
): OccurrenceChange | null {
  const start = planned?.start ?? occurrence.start;
  const { isSkipped = false, window = null } = change ?? {};
  if ('skip' in order) {
    if (order.skip === isSkipped) return change;
    if (!order.skip) return window && { start, window, isSkipped: false };
    if (occurrence.startsAt > now) return { start, window, isSkipped: true };
    throw conflict(
      'This occurrence has begun, so it cannot be skipped. Send an `end` that has passed to end it now, or a later one to change when it ends.',
    );
  }
  if (isSkipped) throw conflict('This occurrence is skipped. Send {"skip": false} first, then move it.');
  const revised = reviseWindow({ ...occurrence, timezone }, order, now);
  if (!revised.ok && revised.reason === 'start-already-passed')
    throw new Refusal(
      'start-already-passed',
      'This occurrence has begun, so its start cannot change. Leave out `start`, and send an `end`: one that has passed ends it now.',
    );
  if (!revised.ok)
    throw invalid(
      revised.problems.map(({ field, message }) => ({ path: ['body', field], message, type: 'value_error' })),
    );
  if (isSameWindow(revised.value, occurrence)) return change;
  if (planned && isSameWindow(revised.value, planned)) return null;
  const { startsAt, endsAt } = revised.value;
  return {
    start,
    window: { startsAt: startsAt.toISOString(), endsAt: endsAt!.toISOString() },
    isSkipped: false,
  };
}

type Ends = Pick<Occurrence, 'startsAt' | 'endsAt'>;

const isSameWindow = (one: Ends, other: Ends): boolean =>
  one.startsAt.getTime() === other.startsAt.getTime() && one.endsAt?.getTime() === other.endsAt?.getTime();

/** The changes of occurrences that are not over. */
const notOver = (plan: Plan, now: Date): NonNullable<OccurrenceChanges> =>
  Object.fromEntries(
    Object.entries(plan.changes ?? {}).filter(([key, { window }]) => {
      const endsAt = window ? new Date(window.endsAt) : plannedAs(plan, key)?.endsAt;
      return endsAt && endsAt > now;
    }),
  );

function withNext(changes: NonNullable<OccurrenceChanges>, changed: Changed[]): typeof changes {
  const all = new Map(Object.entries(changes));
  for (const { occurrence, next } of changed)
    if (next) all.set(occurrence.key, next);
    else all.delete(occurrence.key);
  return Object.fromEntries(all);
}

function assertFew(changes: object): void {
  if (Object.keys(changes).length <= mostChanges) return;
  throw conflict(
    `${mostChanges.toLocaleString('en')} occurrences of this plan are skipped or moved, the most there can be. Change the plan itself: its rule, or its dates in \`except\`.`,
  );
}

/** Checks that nothing else of the plan begins where an occurrence was moved to, because a start names one. @throws Refusal conflict. */
function assertAlone(after: Plan, { key }: Occurrence, next: OccurrenceChange | null): void {
  if (!next?.window || next.isSkipped) return;
  const { start } = movedTo(key, next.window, after.timezone);
  const isAlso = ([other, { window, isSkipped }]: [string, OccurrenceChange]) =>
    other !== key && !isSkipped && window !== null && movedTo(other, window, after.timezone).start === start;
  const isTaken =
    plannedAt(after, start).some((each) => !after.changes?.[each.key]) ||
    Object.entries(after.changes ?? {}).some(isAlso);
  if (isTaken)
    throw conflict(
      `Another occurrence of this plan starts at ${start}. Skip this one, or move it elsewhere.`,
    );
}

type Changed = Found & { next: OccurrenceChange | null };

/** What the audit log tells of an order. */
function told({ timezone }: Plan, { next, planned }: Changed, order: OccurrenceOrder) {
  if ('skip' in order) return { skip: order.skip };
  const { startsAt, endsAt } = next?.window
    ? { startsAt: new Date(next.window.startsAt), endsAt: new Date(next.window.endsAt) }
    : planned!;
  return { to: { start: toLocalTime(startsAt, timezone), end: toLocalTime(endsAt!, timezone) } };
}

/** Changes the freezes of an occurrence, and makes those that are missing. */
async function applyTo(
  change: PlanFreezesChange,
  { occurrence, planned, change: before, next }: Changed,
): Promise<ReconcileRequest[]> {
  const { key } = occurrence;
  const places = (await matchedRepositories(throughPrisma(change.tx), change.plan)).used.filter(
    ({ isFreezable }) => isFreezable,
  );
  if (next?.isSkipped) return skipFreezes(change, places, windowsOf(change.plan, [occurrence], [0]));
  const now = next?.window ? movedTo(key, next.window, change.plan.timezone) : planned!;
  const windows = windowsOf(change.plan, [now], [0]);
  if (before?.isSkipped) await setAsideSkipped(change, key);
  const moved = before?.isSkipped ? [] : await moveFreezes(change, occurrence, windows[0]!, next !== null);
  return [...moved, ...(next ? await makeFreezes(change, places, windows) : [])];
}
