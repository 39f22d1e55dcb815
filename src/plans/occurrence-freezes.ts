import { throughPrisma } from '../database/sql.ts';
import { insertEvents, stampOf } from '../events/append-event.ts';
import { attributesJson } from '../freezes/freeze-columns.ts';
import { isAheadOf } from '../freezes/freeze-store.ts';
import type { Occurrence, OccurrenceWindow } from './occurrences.ts';
import {
  about,
  type PlanFreezesChange,
  changedAttributes,
  given,
  parameters,
  placesOf,
  readsOf,
  type ReconcileRequest,
  requestsFor,
  rowsOf,
  run,
  texts,
  toldOfRevised,
  windowRows,
} from './plan-freezes.ts';

// Changes the freezes of one occurrence that somebody skips or moves. From then on they are detached: the plan leaves
// them alone, and makes no others in their place. Those that somebody changed separately before stay as they are.

/** Freezes that lie where the occurrence does. */
const liesThere = (start: string, end: string): string =>
  `(NOT freezes.detached OR (freezes.starts_at = ${start}::timestamptz AND freezes.ends_at = ${end}::timestamptz))`;

// Freezes that do not exist yet are made as deleted ones, so that no version of Holdfast makes them later.
const skip = `
  WITH skipped AS (
    INSERT INTO freezes (id, repository_id, ${Object.keys(given)}, start, "end", timezone, starts_at, ends_at,
      next_told_at, reads, created_at, created_by, updated_at, updated_by, plan_id, occurrence, detached, deleted_at,
      deleted_by, delete_reason)
    SELECT gen_random_uuid(), repository.id, ${Object.values(given)}, wanted.start, wanted."end", plan.timezone,
      wanted."startsAt", wanted."endsAt", NULL, ${texts('$5')}, $1::timestamptz, $6::jsonb, $1::timestamptz, $6::jsonb,
      plan.id, wanted.key, true, $1::timestamptz, $6::jsonb, $8
    FROM freeze_plans plan CROSS JOIN ${windowRows('$4')}
    CROSS JOIN jsonb_to_recordset($3::jsonb) AS repository (id int8)
    WHERE plan.id = $7::uuid
    ORDER BY repository.id
    ON CONFLICT (plan_id, repository_id, occurrence) DO UPDATE SET deleted_at = excluded.deleted_at,
      deleted_by = excluded.deleted_by, delete_reason = excluded.delete_reason, detached = true, restores = NULL,
      version = freezes.version + 1
      WHERE freezes.deleted_at IS NULL AND freezes.starts_at > $1::timestamptz
        AND ${liesThere('excluded.starts_at', 'excluded.ends_at')}
    RETURNING *
  ), ${insertEvents(
    'scheduled_freeze.delete',
    `'freeze.deleted'`,
    'skipped changed',
    `${about} || jsonb_build_object('reason', $8::text)`,
    parameters,
  )}
  ${requestsFor('skipped')}`;

/** Deletes the freezes of an occurrence that has not begun. @param windows of the occurrence. */
export function skipFreezes(
  { tx, plan, by, now }: PlanFreezesChange,
  repositories: Parameters<typeof placesOf>[1],
  windows: OccurrenceWindow[],
): Promise<ReconcileRequest[]> {
  // Pages show this reason to everybody who can see the freeze, so it does not contain the name of the plan.
  const why = 'This occurrence of its plan is skipped.';
  const stamp = JSON.stringify(stampOf('scheduled_freeze.delete', by, now));
  const places = placesOf(plan, repositories);
  const values = [now, stamp, places, rowsOf(windows, now), readsOf(plan), JSON.stringify(by), plan.id, why];
  return run(tx, 'skip-freezes', skip, values);
}

const setAside = `UPDATE freezes SET occurrence = occurrence || '~' || id, detached = false
  WHERE plan_id = $1::uuid AND occurrence = $2 AND deleted_at IS NOT NULL AND detached AND restores IS NULL`;

/** Lets the plan make the freezes of an occurrence again that was skipped. Those that somebody deleted separately stay deleted. */
export async function setAsideSkipped({ tx, plan }: PlanFreezesChange, key: string): Promise<void> {
  await throughPrisma(tx).query('set-aside-skipped', setAside, [plan.id, key]);
}

const move = `
  WITH before AS (
    SELECT * FROM freezes WHERE plan_id = $3::uuid AND occurrence = $4 AND deleted_at IS NULL
      AND ${isAheadOf('ends_at', '$1')} AND ${liesThere('$5', '$6')} FOR UPDATE
  ), moved AS (
    UPDATE freezes SET
      start = CASE WHEN moves THEN wanted.start ELSE before.start END,
      timezone = CASE WHEN moves THEN plan.timezone ELSE before.timezone END,
      starts_at = CASE WHEN moves THEN wanted."startsAt" ELSE before.starts_at END,
      "end" = wanted."end", ends_at = wanted."endsAt", next_told_at = wanted."nextToldAt", detached = $8,
      version = freezes.version + 1, updated_at = $1::timestamptz, updated_by = $9::jsonb
    FROM before JOIN freeze_plans plan ON plan.id = before.plan_id CROSS JOIN ${windowRows('$7')},
      LATERAL (SELECT before.starts_at > $1::timestamptz OR before.starts_at = wanted."startsAt" AS moves) AS whether
    WHERE freezes.id = before.id
    RETURNING freezes.*, ${attributesJson('before')} AS attributes_before, before.starts_at AS started_before
  ), ${insertEvents('scheduled_freeze.update', toldOfRevised, 'moved changed', changedAttributes, parameters)}
  ${requestsFor('moved')}`;

/**
 * Moves the freezes of an occurrence. One that has begun keeps its start.
 * @param detaches whether the plan leaves them alone from now on; if not, they are as the plan has them again.
 */
export function moveFreezes(
  { tx, plan, by, now }: PlanFreezesChange,
  from: Occurrence,
  to: OccurrenceWindow,
  detaches: boolean,
): Promise<ReconcileRequest[]> {
  const stamp = JSON.stringify(stampOf('scheduled_freeze.update', by, now));
  const values = [now, stamp, plan.id, from.key, from.startsAt, from.endsAt, rowsOf([to], now), detaches];
  return run(tx, 'move-freezes', move, [...values, JSON.stringify(by)]);
}
