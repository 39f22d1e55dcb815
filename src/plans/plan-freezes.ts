import type { Tx } from '../database/database.ts';
import { throughPrisma } from '../database/sql.ts';
import type { Actor } from '../events/actor.ts';
import { insertEvents, stampOf } from '../events/append-event.ts';
import { type FieldRule, freezeFields } from '../freezes/freeze.ts';
import { attributesJson } from '../freezes/freeze-columns.ts';
import { isAheadOf, isNotEnded } from '../freezes/freeze-store.ts';
import { needsOf, parseFreeze } from '../freezes/judge-freeze.ts';
import { settingSql } from '../installations/setting-fields.ts';
import { endAfter, nextBoundary } from '../freezes/freeze-window.ts';
import {
  endOfOccurrence,
  instantsOf,
  hoursIn,
  type Occurrence,
  type OccurrenceWindow,
} from './occurrences.ts';
import type { Plan } from './plan.ts';

// Changes the freezes of a plan. Each change is one statement, for any number of repositories, and writes an event for
// each freeze to the log of its repository. It returns the repositories to reconcile.

/** A repository to reconcile, where null means now; or, without one, when the clock does something to a freeze. */
export type ReconcileRequest = { repositoryId: bigint; at: Date | null } | { repositoryId: null; at: Date };

/** Who changes the freezes of which plan, and when. */
export type PlanFreezesChange = { tx: Tx; plan: Plan; by: Actor; now: Date };

/** Boundaries within this time get a job at once. The sweep plans the others, 10 minutes ahead. */
const jobsSoon = `interval '15 minutes'`;

/** For the rows `changed`: now for freezes that are or were ongoing, and the instant of a boundary that comes soon. */
export const requestsFor = (changed: string): string => `
  SELECT repository_id AS "repositoryId", NULL::timestamptz AS at FROM ${changed} WHERE starts_at <= $1::timestamptz
  UNION
  SELECT repository_id, boundary FROM ${changed} CROSS JOIN LATERAL unnest(ARRAY[starts_at, ends_at]) AS boundary
  WHERE boundary > $1::timestamptz AND boundary <= $1::timestamptz + ${jobsSoon}
  UNION
  SELECT NULL, next_told_at FROM ${changed} WHERE next_told_at <= $1::timestamptz + ${jobsSoon}`;

/**
 * The columns that a plan gives its freezes, and their values. Freezes leave the defaults of a plan unset, so that they
 * look like freezes that somebody created.
 * @param wasSet SQL for whether the freeze had a flag before.
 */
const givenBy = (wasSet: (flag: string) => string): Record<string, string> =>
  Object.fromEntries(
    Object.values<FieldRule>(freezeFields).flatMap(({ column, byDefault, unset }) => {
      if (windowColumns.includes(column)) return [];
      const value = `plan.${column}`;
      if (unset === 'empty')
        return [[column, `CASE WHEN ${value} = '{${byDefault}}' THEN '{}' ELSE ${value} END`]];
      if (unset === 'null') return [[column, `nullif(${value}, '${byDefault}')`]];
      const flag = `has_${column}`;
      return [
        [column, value],
        ...(unset === 'flag' ? [[flag, `${wasSet(flag)} OR ${value} IS NOT NULL`]] : []),
      ];
    }),
  );
const windowColumns = ['start', 'end', 'timezone'];
export const given = givenBy(() => 'false');
const revised = givenBy((flag) => `before.${flag}`);
const fieldColumns = [...Object.keys(revised), 'start', '"end"', 'timezone'];

export const about = `jsonb_build_object('scheduled_freeze_id', changed.id, 'freeze_plan_id', changed.plan_id,
  'scheduled_freeze_attributes', ${attributesJson('changed')})`;

export const parameters = { now: '$1', stamp: '$2' };
export const windowRows = (parameter: string): string => `
  jsonb_to_recordset(${parameter}::jsonb)
    AS wanted (key text, start text, "end" text, "startsAt" timestamptz, "endsAt" timestamptz, hours int,
      "nextToldAt" timestamptz, "isMoved" bool)`;
export const rowsOf = (windows: OccurrenceWindow[], now: Date): string =>
  JSON.stringify(windows.map((window) => ({ ...window, nextToldAt: nextBoundary(window, now) })));
export const texts = (parameter: string): string =>
  `ARRAY(SELECT jsonb_array_elements_text(${parameter}::jsonb))`;
const ids = (parameter: string): string =>
  `SELECT jsonb_array_elements_text(${parameter}::jsonb)::int8 AS id`;

type Place = { id: bigint; longestOpenEndHours: number | null };
export const placesOf = (plan: Plan, repositories: Place[]): string =>
  JSON.stringify(repositories.map((each) => ({ id: String(each.id), hours: hoursIn(plan, each) })));

const idsOf = (repositories: { id: bigint }[]): string =>
  JSON.stringify(repositories.map(({ id }) => String(id)));

export const run = async (
  tx: Tx,
  name: string,
  text: string,
  values: unknown[],
): Promise<ReconcileRequest[]> => throughPrisma(tx).query<ReconcileRequest>(name, text, values);

/** The facts that the conditions of the plan's freezes read, as JSON. */
export const readsOf = (plan: Plan): string => JSON.stringify([...needsOf([parseFreeze(plan)]).facts]);

const toldOfMade = `CASE WHEN changed.starts_at <= $1::timestamptz THEN 'freeze.started' ELSE 'freeze.scheduled' END`;

const make = `
  WITH made AS (
    INSERT INTO freezes (id, repository_id, ${Object.keys(given)}, start, "end", timezone, starts_at, ends_at,
      next_told_at, reads, created_at, created_by, updated_at, updated_by, plan_id, occurrence, detached)
    SELECT gen_random_uuid(), repository.id, ${Object.values(given)}, wanted.start, wanted."end", plan.timezone,
      wanted."startsAt", wanted."endsAt", wanted."nextToldAt", ${texts('$5')}, $1::timestamptz, $6::jsonb, $1::timestamptz, $6::jsonb, plan.id,
      wanted.key, coalesce(wanted."isMoved", false)
    FROM freeze_plans plan CROSS JOIN ${windowRows('$4')}
    JOIN jsonb_to_recordset($3::jsonb) AS repository (id int8, hours int) ON repository.hours = wanted.hours
    WHERE plan.id = $7::uuid
    ORDER BY wanted."startsAt", repository.id
    ON CONFLICT (plan_id, repository_id, occurrence) DO NOTHING
    RETURNING *
  ), ${insertEvents('scheduled_freeze.create', toldOfMade, 'made changed', about, parameters)}
  ${requestsFor('made')}`;

/** Creates the missing freezes of these windows, except for windows that are over. The plan is already saved. */
export async function makeFreezes(
  { tx, plan, by, now }: PlanFreezesChange,
  repositories: Place[],
  windows: OccurrenceWindow[],
): Promise<ReconcileRequest[]> {
  const stamp = JSON.stringify(stampOf('scheduled_freeze.create', by, now));
  const notOver = windows.filter(({ endsAt }) => endsAt === null || endsAt > now);
  const places = placesOf(plan, repositories);
  const values = [now, stamp, places, rowsOf(notOver, now), readsOf(plan), JSON.stringify(by), plan.id];
  return run(tx, 'make-freezes', make, values);
}

/**
 * The freezes that a plan may still change: nobody changed or deleted them separately. If a repository moved to another
 * owner, its ongoing freeze stays, and freezes that have not begun are deleted.
 */
const own = `plan_id = $3::uuid AND NOT detached AND deleted_at IS NULL AND (starts_at > $1::timestamptz OR EXISTS (
  SELECT FROM repositories place JOIN freeze_plans mine ON mine.account_id = place.account_id
  WHERE place.id = freezes.repository_id AND mine.id = $3::uuid))`;

const takeBack = (which: string): string => `
  WITH taken AS (
    UPDATE freezes SET deleted_at = $1::timestamptz, deleted_by = $4::jsonb, delete_reason = $5,
      occurrence = occurrence || '~' || id,
      version = version + 1
    WHERE ${own} AND ${which}
    RETURNING *
  ), ${insertEvents(
    'scheduled_freeze.delete',
    `'freeze.deleted'`,
    'taken changed',
    `${about} || jsonb_build_object('reason', $5::text)`,
    parameters,
  )}
  ${requestsFor('taken')}`;

const takeBackOthers = takeBack(`starts_at > $1::timestamptz AND NOT (
  occurrence = ANY (${texts('$6')}) AND repository_id IN (${ids('$7')}))`);

/**
 * Deletes freezes that have not begun and belong to other occurrences or other repositories.
 * @param keys of the occurrences that stay.
 */
export async function takeBackFreezes(
  change: PlanFreezesChange,
  repositories: { id: bigint }[],
  keys: string[],
): Promise<ReconcileRequest[]> {
  // Pages show this reason to everybody who can see the freeze, so it does not contain the name of the plan.
  const why = 'Its plan does not make it any more.';
  const values = [...deletion(change, why), JSON.stringify(keys), idsOf(repositories)];
  return run(change.tx, 'take-back-freezes', takeBackOthers, values);
}

const takeBackAll = takeBack(isAheadOf('ends_at', '$1'));

/** Deletes all freezes that have not ended. */
export const deleteFreezes = (change: PlanFreezesChange, why: string): Promise<ReconcileRequest[]> =>
  run(change.tx, 'delete-freezes', takeBackAll, deletion(change, why));

const bringBack = `
  WITH restored AS (
    UPDATE freezes SET deleted_at = NULL, deleted_by = NULL, delete_reason = NULL,
      occurrence = split_part(occurrence, '~', 1), version = version + 1, updated_at = $1::timestamptz, updated_by = $4::jsonb
    WHERE plan_id = $3::uuid AND NOT detached AND deleted_at = $5::timestamptz AND ${isAheadOf('ends_at', '$1')}
    RETURNING *
  ), ${insertEvents(
    'scheduled_freeze.restore',
    `'freeze.restored'`,
    'restored changed',
    `${about} || jsonb_build_object('ended_at', $6::text)`,
    parameters,
  )}
  ${requestsFor('restored')}`;

/** Restores the freezes that the deletion of the plan ended at an instant, as far as they would not be over. */
export const restoreFreezes = (
  { tx, plan, by, now }: PlanFreezesChange,
  endedAt: Date,
): Promise<ReconcileRequest[]> => {
  const stamp = JSON.stringify(stampOf('scheduled_freeze.restore', by, now));
  const values = [now, stamp, plan.id, JSON.stringify(by), endedAt, endedAt.toISOString()];
  return run(tx, 'restore-freezes', bringBack, values);
};

/** The first values of `takeBack`. */
const deletion = ({ plan, by, now }: PlanFreezesChange, why: string): unknown[] => [
  now,
  JSON.stringify(stampOf('scheduled_freeze.delete', by, now)),
  plan.id,
  JSON.stringify(by),
  why,
];

/** Like `hoursIn`. */
const hours = `CASE WHEN plan."end" IS NULL THEN coalesce(${settingSql('longestOpenEndHours', 'place', 'owned_by')}::int, 0) ELSE 0 END`;

/** Like `noticeTypeOf`. */
export const toldOfRevised = `CASE WHEN changed.ends_at <= $1::timestamptz THEN 'freeze.ended'
  WHEN changed.started_before > $1::timestamptz AND changed.starts_at <= $1::timestamptz THEN 'freeze.started'
  ELSE 'freeze.updated' END`;

export const changedAttributes = `jsonb_build_object('scheduled_freeze_id', changed.id, 'freeze_plan_id', changed.plan_id,
  'scheduled_freeze_attributes_before', changed.attributes_before,
  'scheduled_freeze_attributes_after', ${attributesJson('changed')})`;

// Joins use indexed row ids, because the planner's statistics do not include the new freezes.
// Freezes that had no end keep none: settings only apply to freezes that are created or changed without an end.
const revise = `
  WITH before AS (
    SELECT * FROM freezes WHERE ${own} AND ${isAheadOf('ends_at', '$1')} FOR UPDATE
  ), after AS (
    SELECT before.id, ${attributesJson('before')} AS attributes_before, before.starts_at AS started_before,
      ${Object.entries(revised).map(([column, value]) => `${value} AS ${column}`)},
      CASE WHEN moves THEN wanted.start ELSE before.start END AS start,
      CASE WHEN moves THEN plan.timezone ELSE before.timezone END AS timezone,
      CASE WHEN moves THEN wanted."startsAt" ELSE before.starts_at END AS starts_at,
      CASE WHEN stays_open THEN NULL WHEN moves OR follows THEN wanted."end" WHEN ongoing.start IS NOT NULL THEN ongoing."end" ELSE before."end" END AS "end",
      CASE WHEN stays_open THEN NULL WHEN moves OR follows THEN wanted."endsAt" WHEN ongoing.start IS NOT NULL THEN ongoing."endsAt" ELSE before.ends_at END AS ends_at,
      CASE WHEN moves THEN wanted."nextToldAt"
        WHEN ongoing.start IS NULL OR before.next_told_at <= before.starts_at AND coalesce(ongoing."endsAt" > $1::timestamptz, true)
        THEN before.next_told_at ELSE ongoing."nextToldAt" END AS next_told_at
    FROM before JOIN freeze_plans plan ON plan.id = before.plan_id
    JOIN repositories place ON place.id = before.repository_id JOIN accounts owned_by ON owned_by.id = place.account_id
    LEFT JOIN ${windowRows('$4')} ON wanted.key = before.occurrence AND wanted.hours = ${hours}
    LEFT JOIN jsonb_to_recordset($5::jsonb)
        AS ongoing (start text, timezone text, hours int, "end" text, "endsAt" timestamptz, "nextToldAt" timestamptz)
      ON ongoing.start = before.start AND ongoing.timezone = before.timezone AND ongoing.hours = ${hours}
    CROSS JOIN LATERAL (SELECT before.starts_at > $1::timestamptz AND wanted.key IS NOT NULL AS moves,
      before.starts_at <= $1::timestamptz AND plan.source IS NOT NULL AND before.timezone = plan.timezone
        AND wanted."startsAt" <= $1::timestamptz AND wanted."endsAt" > before.starts_at AS follows,
      before."end" IS NULL AND plan."end" IS NULL AS stays_open) AS whether
  ), revised AS (
    UPDATE freezes SET ${fieldColumns.map((column) => `${column} = after.${column}`)}, reads = ${texts('$6')},
      starts_at = after.starts_at, ends_at = after.ends_at, next_told_at = after.next_told_at, version = version + 1, updated_at = $1::timestamptz,
      updated_by = $7::jsonb
    FROM after WHERE freezes.id = after.id AND ROW(${fieldColumns.map((column) => `freezes.${column}`)})
      IS DISTINCT FROM ROW(${fieldColumns.map((column) => `after.${column}`)})
    RETURNING freezes.*, after.attributes_before, after.started_before
  ), ${insertEvents(
    'scheduled_freeze.update',
    toldOfRevised,
    'revised changed',
    changedAttributes,
    parameters,
  )}
  ${requestsFor('revised')}`;

/**
 * Updates the existing freezes from the plan. Freezes that have begun keep their start.
 * @param windows the new windows of freezes that have not begun; empty to keep them.
 * @param isEndChanged whether ongoing freezes get the plan's length.
 */
export async function reviseFreezes(
  { tx, plan, by, now }: PlanFreezesChange,
  windows: OccurrenceWindow[],
  isEndChanged: boolean,
): Promise<ReconcileRequest[]> {
  const ends = isEndChanged ? await ongoingEnds(tx, plan, now) : [];
  const stamp = JSON.stringify(stampOf('scheduled_freeze.update', by, now));
  const values = [now, stamp, plan.id, rowsOf(windows, now), JSON.stringify(ends)];
  return run(tx, 'revise-freezes', revise, [...values, readsOf(plan), JSON.stringify(by)]);
}

const leave = `UPDATE freezes SET occurrence = id::text
  WHERE plan_id = $2::uuid AND starts_at <= $1::timestamptz AND occurrence = ANY (${texts('$3')})`;

/**
 * Leaves freezes that have begun, whose event was moved to the future since: they stay as they are, and the event gets
 * others.
 */
export async function leaveMoved(
  { tx, plan, now }: PlanFreezesChange,
  occurrences: Occurrence[],
): Promise<void> {
  const keys = occurrences.flatMap(({ key, startsAt }) => (startsAt > now ? [key] : []));
  await throughPrisma(tx).query('leave-moved', leave, [now, plan.id, JSON.stringify(keys)]);
}

/** The new ends of ongoing freezes: their own start plus the length from the plan or the repository. */
async function ongoingEnds(tx: Tx, plan: Plan, now: Date) {
  const starts = await throughPrisma(tx).query<{ start: string; timezone: string; hours: number }>(
    'ongoing-starts',
    `SELECT DISTINCT f.start, f.timezone, ${hours} AS hours
     FROM freezes f JOIN repositories place ON place.id = f.repository_id JOIN freeze_plans plan ON plan.id = f.plan_id
     JOIN accounts owned_by ON owned_by.id = place.account_id
     WHERE plan_id = $2::uuid AND NOT detached AND starts_at <= $1::timestamptz AND ${isNotEnded('$1', 'f.')}
       AND place.account_id = plan.account_id`,
    [now, plan.id],
  );
  return starts.flatMap(({ start, timezone, hours }) => {
    const end = endOfOccurrence(start, plan);
    const instants = instantsOf(start, end, timezone);
    const given = hours > 0 ? endAfter({ ...instants, timezone }, hours) : { end, endsAt: instants.endsAt };
    const nextToldAt = nextBoundary({ ...instants, ...given }, now);
    // A limit that has passed does not end the freeze at once, which is not what a person wants who sends no end.
    return hours > 0 && given.endsAt! <= now ? [] : [{ start, timezone, hours, ...given, nextToldAt }];
  });
}

/**
 * Moves the window of a plan that does not repeat to another date, including freezes that were changed or deleted
 * separately. If such a freeze already has that date from when the plan repeated, it keeps the date.
 */
export async function moveOccurrence(tx: Tx, planId: string, from: string, to: string): Promise<void> {
  const repository = { freezes: { none: { planId, occurrence: to } } };
  await tx.freeze.updateMany({ where: { planId, occurrence: from, repository }, data: { occurrence: to } });
}
