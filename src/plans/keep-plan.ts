import { isDeepStrictEqual } from 'node:util';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { throughPrisma } from '../database/sql.ts';
import { ourselves } from '../events/actor.ts';
import { defineTask, NotNow } from '../database/queue/define-task.ts';
import { type Job, jobs } from '../database/queue/jobs.ts';
import { withoutSkips } from './changed-occurrences.ts';
import { type Matched, matchedRepositories, type PlanRepository } from './matched-repositories.ts';
import {
  allOfSource,
  type Occurrence,
  occurrencesFrom,
  occurrencesToMake,
  type Schedule,
  hoursIn,
  windowsOf,
} from './occurrences.ts';
import {
  type PlanFreezesChange,
  type ReconcileRequest,
  leaveMoved,
  makeFreezes,
  reviseFreezes,
  takeBackFreezes,
} from './plan-freezes.ts';
import {
  findPlan,
  listPlans,
  lockPlan,
  noteKept,
  noteRead,
  type StoredPlan,
  touchPlan,
} from './plan-store.ts';
import { isNotEnded } from '../freezes/freeze-store.ts';
import { appendEvent } from '../events/append-event.ts';
import { attributesOfPlan, hostOfCalendar, type Source } from './plan.ts';
import { inLine } from './source/owner-turns.ts';
import { readSource } from './source/read-source.ts';
import { SourceUnreadable } from './source/source-window.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';

/** How many freezes one transaction creates at most. Freezes of one occurrence are always created together. */
const mostAtOnce = 20_000;
/** How many days and occurrences existing freezes may be ahead, because the clock of another replica may be ahead. */
const slack = 2;

/** Requests that all plans of an owner are kept, because a repository was added, removed or renamed. */
async function keepPlans(deps: FreezeDeps, accountId: bigint): Promise<void> {
  const plans = await listPlans(deps.db, accountId, nowOf(deps.clock));
  await deps.queue.send(plans.map(({ id }) => jobs.keepPlan(id)));
}

/**
 * Creates the missing future freezes of a plan, earliest first, and deletes those of repositories that it no longer
 * matches. Running it twice, or on two replicas at once, creates nothing twice.
 */
export async function keepPlan(deps: FreezeDeps, id: string): Promise<void> {
  let isDone = false;
  for (let handled: ReadonlySet<string> = new Set(); !isDone && !deps.stopping.aborted;) {
    const now = nowOf(deps.clock);
    await deps.db.$transaction(async (tx) => {
      await lockPlan(tx, id);
      const plan = await findPlan(tx, { id }, now);
      if (!plan) {
        isDone = true;
        return;
      }
      const kept = await keepFreezes({ tx, plan, by: ourselves, now }, handled);
      handled = kept.handled;
      isDone = kept.isDone;
      await requestReconciles(deps, tx, kept.requests, now);
    });
  }
}

/** @property handled the keys of the occurrences that were handled. */
type Kept = {
  requests: ReconcileRequest[];
  matched: Matched<PlanRepository>;
  handled: ReadonlySet<string>;
  isDone: boolean;
};

/** What changed in a plan: its windows, and whether ongoing freezes get another end. */
export type Revision = { isMoved: boolean; isEndChanged: boolean };

/**
 * One step of keeping a plan, in its own transaction. The plan is locked.
 * @param handled the keys of the occurrences that earlier steps handled; empty for the first step.
 * @param revision null if the plan did not change, so that existing freezes stay as they are.
 */
export async function keepFreezes(
  change: PlanFreezesChange,
  handled: ReadonlySet<string> = new Set(),
  revision: Revision | null = null,
): Promise<Kept> {
  const { tx, plan, now } = change;
  const matched = await matchedRepositories(throughPrisma(tx), plan);
  const all = [...matched.used, ...matched.archived];
  const places = matched.used.filter(({ isFreezable }) => isFreezable);
  const wanted = occurrencesToMake(plan, now);
  // Includes repositories where it creates nothing now, because earlier freezes there follow the plan too.
  const settings = all.map((place) => hoursIn(plan, place));
  const windows = (of: Occurrence[]) => windowsOf(plan, of, settings);
  const count = Math.max(1, Math.floor(mostAtOnce / Math.max(1, places.length)));
  const rest = wanted.filter(({ key }) => !handled.has(key));
  const step = rest.slice(0, count);
  const kept = occurrencesToMake(plan, now, slack).map(({ key }) => key);
  // An event can end an ongoing freeze, so those that are over count too.
  const moved = plan.source ? allOfSource(plan) : wanted;
  if (plan.source) await leaveMoved(change, wanted);
  const requests = [
    ...(handled.size === 0 ? await takeBackFreezes(change, all, kept) : []),
    ...(revision
      ? await reviseFreezes(change, revision.isMoved ? windows(moved) : [], revision.isEndChanged)
      : []),
    ...(await makeFreezes(change, places, windows(step))),
  ];
  const isDone = step.length === rest.length;
  if (isDone) await noteKept(tx, plan.id, plan.source ? undefined : await overAt(tx, plan, now), now);
  return { requests, matched, handled: new Set([...handled, ...step.map(({ key }) => key)]), isDone };
}

/** When the whole plan is over, if that is known. */
async function overAt(tx: Tx, plan: Schedule & { id: string }, now: Date): Promise<Date | null> {
  const coming = next(withoutSkips(plan), now, 2);
  if (coming.length > 1) return null;
  // Freezes that were changed or deleted separately no longer belong to the plan.
  const [freezes] = await throughPrisma(tx).query<{ last: Date | null }>(
    'last-end',
    `SELECT CASE WHEN bool_or(ends_at IS NULL) THEN NULL ELSE coalesce(max(ends_at), $1::timestamptz) END AS last
     FROM freezes WHERE plan_id = $2::uuid AND NOT detached AND ${isNotEnded('$1::timestamptz')}`,
    [now, plan.id],
  );
  const { last } = freezes!;
  const end = coming[0] ? coming[0].endsAt : now;
  return last && end && new Date(Math.max(last.getTime(), end.getTime()));
}

/** This many occurrences that are not over, the ongoing one first. */
export function next(schedule: Schedule, now: Date, most: number) {
  return occurrencesFrom(schedule, now).take(most).toArray();
}

/**
 * Requests that repositories are reconciled, in the transaction that changes their freezes: as its last work, because it
 * locks repositories and jobs that wait.
 * @param others sent with them, because two sends could lock jobs in another order than other senders.
 */
export async function requestReconciles(
  deps: Pick<FreezeDeps, 'queue'>,
  tx: Tx,
  requests: ReconcileRequest[],
  now: Date,
  others: Job[] = [],
): Promise<void> {
  const present = JSON.stringify(
    requests.flatMap(({ repositoryId, at }) => (at ? [] : [String(repositoryId)])),
  );
  // Sorted by id, so that two transactions that mark the same rows do not deadlock.
  await tx.$executeRaw`
    WITH locked AS (
      SELECT id FROM repositories WHERE id IN (SELECT jsonb_array_elements_text(${present}::jsonb)::int8)
      ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE repositories SET reconcile_requested_at = ${now} FROM locked WHERE repositories.id = locked.id`;
  const asked = requests.map(({ repositoryId, at }) =>
    repositoryId === null
      ? jobs.recordBoundaries(at)
      : jobs.reconcileRepository(BigInt(repositoryId), at ?? undefined),
  );
  await deps.queue.send([...others, ...asked], tx);
}

export const keepPlansTask = defineTask(jobs.keepPlans, (deps: FreezeDeps, { accountId }) =>
  keepPlans(deps, BigInt(accountId)),
);

export const keepPlanTask = defineTask(jobs.keepPlan, (deps: FreezeDeps, { planId }) =>
  keepPlan(deps, planId),
);

/** So many calendars wait for their answers at once; of one owner fewer, so that others need not wait for its line. */
const takers = 16;
const mostInLine = 12;
const later = 5000;
/** A calendar that lost all that it had ahead has to say so twice, so many milliseconds apart. */
const doubtFor = 10 * 60_000;

/**
 * Reads the calendar of a plan again, and follows what changed. If it cannot be read, or has none of its coming events any
 * more, the last good copy stays, and the audit log tells it once.
 */
async function followSource(deps: FreezeDeps, id: string): Promise<void> {
  const plan = await findPlan(deps.db, { id }, nowOf(deps.clock));
  if (!plan?.source) return;
  if (inLine(plan.accountId) >= mostInLine) throw new NotNow(new Date(deps.clock.now() + later));
  const before = plan.source;
  // What the calendar said last was not taken, so an answer that it is unchanged would say nothing.
  const known = before.doubtedAt ? null : before;
  const read = await readSource(deps, plan.accountId, before, plan.timezone, known).catch(
    (error: unknown) => {
      if (error instanceof SourceUnreadable) return error;
      throw error;
    },
  );
  await deps.db.$transaction(async (tx) => {
    await lockPlan(tx, id);
    const now = nowOf(deps.clock);
    const current = await findPlan(tx, { id }, now);
    // Somebody who changed the plan meanwhile read the calendar for it.
    if (!current || !isDeepStrictEqual([current.source, current.timezone], [before, plan.timezone])) return;
    if (read instanceof SourceUnreadable) await noteFailure(deps, tx, current, read.message, now);
    else if (isDoubtful(current, read.source, now))
      await noteFailure(deps, tx, current, emptied(before), now, before.doubtedAt ?? now.toISOString());
    else await follow(deps, tx, current, read.source, now);
  });
}

/** Whether a calendar has none of the coming events that it had, by itself or by its time, for the first time. */
function isDoubtful({ source: before, timezone }: StoredPlan, source: Source, now: Date): boolean {
  const coming = allOfSource({ source: before, timezone }).filter(({ startsAt }) => startsAt > now);
  const has = new Set(source.windows.flatMap(({ key, start, end }) => [key, `${start} ${end}`]));
  const had = new Map(before!.windows.map((window) => [window.key, window]));
  const isThere = ({ key }: Occurrence) =>
    has.has(key) || has.has(`${had.get(key)!.start} ${had.get(key)!.end}`);
  if (coming.length === 0 || coming.some(isThere)) return false;
  return !before!.doubtedAt || now.getTime() - Date.parse(before!.doubtedAt) < doubtFor;
}

const emptied = ({ url }: Source): string =>
  `The calendar of ${hostOfCalendar(url)} has none of the events ahead that it had. They stay until it says so again, at least 10 minutes later.`;

async function follow(
  deps: FreezeDeps,
  tx: Tx,
  before: StoredPlan,
  source: Source,
  now: Date,
): Promise<void> {
  await noteRead(tx, before.id, source, now);
  if (isDeepStrictEqual(before.source!.windows, source.windows)) return;
  await touchPlan(tx, before.id, now);
  const change = { tx, plan: { ...before, source }, by: ourselves, now };
  const kept = await keepFreezes(change, new Set(), { isMoved: true, isEndChanged: false });
  deps.log.info({ plan: before.id, events: source.windows.length }, 'the calendar of a plan changed');
  await requestReconciles(deps, tx, kept.requests, now, kept.isDone ? [] : [jobs.keepPlan(before.id)]);
}

async function noteFailure(
  deps: FreezeDeps,
  tx: Tx,
  plan: StoredPlan,
  error: string,
  now: Date,
  doubtedAt: string | null = null,
): Promise<void> {
  const source = plan.source!;
  await noteRead(tx, plan.id, { ...source, error, doubtedAt }, now);
  if (source.error !== null) return;
  const metadata = {
    freeze_plan_id: plan.id,
    freeze_plan_attributes: attributesOfPlan(plan),
    source_url: hostOfCalendar(source.url),
    error,
  };
  const place = { accountId: plan.accountId };
  await appendEvent(tx, place, { type: 'freeze_plan.source_failed', metadata }, ourselves, now);
  // The error may have words of the calendar.
  deps.log.warn({ plan: plan.id, host: hostOfCalendar(source.url) }, 'the calendar of a plan cannot be read');
}

export const followSourceTask = defineTask(
  jobs.followSource,
  (deps: FreezeDeps, { planId }) => followSource(deps, planId),
  { takers, ofOwner: mostInLine },
);
