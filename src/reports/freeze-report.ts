// `reports/` says what a freeze did and what that cost, alone and by months. It is measured by the waits of pull requests
// (`freeze_waits`), the exemptions, the deployments and the audit log. Some of these are forgotten, so the report of a
// freeze is kept a day after its end. Held is what GitHub is not known to have merged if asked: a status that nothing
// requires held nobody, and nobody waited for its end. Of some of these it is not known that GitHub refused them either, and
// pages call only the others blocked, as they do while a freeze is on.
import { nowOf } from '../time/clock.ts';
import type { SqlTx } from '../database/sql.ts';
import type { Actor } from '../events/actor.ts';
import type { Ground } from '../database/ground.ts';

/** An exemption that let something through the freeze. */
type ExemptionInReport = {
  pull_request: number | null;
  environment: string | null;
  reason: string;
  requested_by: Actor;
  approved_by: Actor | null;
  approved_at: string;
  used_at: string | null;
};

/** Something that was merged or deployed although the freeze held it. */
type BypassInReport = {
  pull_request: number | null;
  environment: string | null;
  by: Actor | null;
  at: string;
};

/** A report, by the names of the API. */
export type FreezeReport = {
  pull_requests: {
    held: number;
    /** Those that a freeze should have held, and GitHub would have merged. Not in answers of the API. */
    not_enforced: number;
    /** Those held of which GitHub did not say while the freeze lasted that it refuses them. Neither. */
    not_known: number;
    median_wait_seconds: number | null;
    longest_wait_seconds: number | null;
    /** The pull request that waited the longest. */
    longest: number | null;
  };
  /** The pull requests that waited until the end: how many of them are merged or closed since, and how soon after it. */
  thaw: { waiting: number; closed: number; median_seconds: number | null; last_seconds: number | null };
  /** The newest, and how many there were. */
  exemptions: ExemptionInReport[];
  exemptions_count: number;
  bypasses: BypassInReport[];
  bypasses_count: number;
  deployments_held: number;
};

/** Entries of a list, the newest. */
const mostListed = 100;

const listed = (entry: string, from: string, at: string): string => `
  SELECT coalesce(jsonb_agg(entry ORDER BY at) FILTER (WHERE place <= ${mostListed}), '[]') AS list, count(*)::int AS count
  FROM (SELECT ${at} AS at, ${entry} AS entry, row_number() OVER (ORDER BY ${at} DESC) AS place FROM ${from}) AS listed`;

const isoOf = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL: whether a row of `audit_events` tells what went past the freeze `f`. */
const isBypassOf = `audit_events.repository_id = f.repository_id AND audit_events.received_at >= f.starts_at
  AND audit_events.type IN ('freeze.bypassed', 'deployment.bypassed')
  AND (audit_events.metadata->>'scheduled_freeze_id' = f.id::text OR audit_events.metadata->'scheduled_freeze_ids' ? f.id::text)`;

/** SQL for a kept report, with the numbers that it has not if it is older than these. Such a one counts all as blocked. */
export const withCounts = (report: string): string => `(jsonb_build_object(
  'exemptions_count', jsonb_array_length(${report}->'exemptions'),
  'bypasses_count', jsonb_array_length(${report}->'bypasses')) || ${report} || jsonb_build_object(
  'pull_requests', jsonb_build_object('not_enforced', 0, 'not_known', 0) || (${report}->'pull_requests')))`;

/**
 * SQL for the reports of freezes, with their `freeze_id`, `repository_id` and `ended_at`, and the seconds of each wait and
 * each closing, because medians cannot be added.
 * @param freezes what to select them from, as `f`. @param now the parameter with the instant.
 */
export const measured = (freezes: string, now: string): string => `
  SELECT f.id AS freeze_id, f.repository_id, ending.ended_at,
    jsonb_build_object('pull_requests', waits.held, 'thaw', waits.thaw,
      'exemptions', exemptions.list, 'exemptions_count', exemptions.count,
      'bypasses', bypasses.list, 'bypasses_count', bypasses.count, 'deployments_held', deployments.count) AS report,
    waits.waited, waits.emptied
  FROM ${freezes}
  CROSS JOIN LATERAL (SELECT least(f.ends_at, f.deleted_at, ${now}::timestamptz) AS ended_at) ending
  CROSS JOIN LATERAL (
    SELECT jsonb_build_object('held', count(waited), 'not_enforced', count(*) FILTER (WHERE NOT refused),
        'not_known', count(*) FILTER (WHERE refused IS NULL),
        'median_wait_seconds', round(percentile_cont(0.5) WITHIN GROUP (ORDER BY waited)),
        'longest_wait_seconds', round(max(waited)),
        'longest', (array_agg(number ORDER BY waited DESC, number) FILTER (WHERE refused IS NOT false))[1]) AS held,
      jsonb_build_object('waiting', count(*) FILTER (WHERE is_last), 'closed', count(emptied),
        'median_seconds', round(percentile_cont(0.5) WITHIN GROUP (ORDER BY emptied)), 'last_seconds', round(max(emptied))) AS thaw,
      coalesce(array_agg(round(waited)::int4) FILTER (WHERE refused IS NOT false), '{}') AS waited,
      coalesce(array_agg(round(emptied)::int4) FILTER (WHERE emptied IS NOT NULL), '{}') AS emptied
    FROM (
      SELECT number, refused, is_last, CASE WHEN is_last AND closed_at >= ending.ended_at
          THEN extract(epoch FROM closed_at - ending.ended_at)::float8 END AS emptied,
        CASE WHEN refused IS NOT false THEN seconds + CASE WHEN until IS NULL
          THEN greatest(0, extract(epoch FROM ending.ended_at - since)::float8) ELSE 0 END END AS waited
      FROM freeze_waits
      CROSS JOIN LATERAL (SELECT refused IS NOT false AND coalesce(until >= ending.ended_at, true)
        AND coalesce(closed_at >= ending.ended_at, true) AS is_last) AS at_end
      WHERE freeze_id = f.id
    ) AS each
  ) waits
  CROSS JOIN LATERAL (${listed(
    `jsonb_build_object('pull_request', nullif(number, 0), 'environment', environment, 'reason', reason,
      'requested_by', requested_by, 'approved_by', decided_by, 'approved_at', ${isoOf('approved_at')},
      'used_at', ${isoOf('used_at')})`,
    `exemptions WHERE repository_id = f.repository_id AND approved_at < ending.ended_at
      AND coalesce(ended_at, expires_at) >= f.starts_at
      AND (freeze_ids = '{}' OR f.id = ANY (freeze_ids))`,
    'approved_at',
  )}) exemptions
  CROSS JOIN LATERAL (${listed(
    `jsonb_build_object('pull_request', pull_request, 'environment', metadata->>'environment',
      'by', metadata->'bypassed_by', 'at', coalesce(metadata->>'merged_at', ${isoOf('received_at')}))`,
    `audit_events WHERE ${isBypassOf}`,
    'received_at',
  )}) bypasses
  CROSS JOIN LATERAL (SELECT count(*)::int AS count FROM deployments
    WHERE repository_id = f.repository_id AND requested_at < ending.ended_at AND f.id = ANY (freeze_ids)) deployments`;

const reportOf = `
  SELECT coalesce(${withCounts('kept.report')}, measured.report) AS report FROM (SELECT 1) one
  LEFT JOIN freeze_reports kept ON kept.freeze_id = $1::uuid
  LEFT JOIN LATERAL (${measured('freezes AS f', '$2')} WHERE f.id = $1::uuid AND kept.report IS NULL) measured ON true`;

/** The report of a freeze as it is now; the one that was kept, once that is so. */
export async function readReport(
  { sql, clock }: Pick<Ground, 'sql' | 'clock'>,
  freezeId: string,
): Promise<FreezeReport> {
  const [row] = await sql.read<{ report: FreezeReport }>('freeze-report', reportOf, [freezeId, nowOf(clock)]);
  return row!.report;
}

/** Days after the end of a freeze in which pull requests leave that it held. Then its report is kept. */
const settling = `interval '1 day'`;
/** How long at most until a freeze is looked at again: it may have been moved to earlier, and the audit log forgets. */
const longestUnseen = `interval '30 days'`;
/** How many freezes the sweep looks at each minute. */
const atOnce = 500;

/** Whether a report says anything. @param report SQL for it. */
export const saysSomething = (report: string): string => `(
  (${report}->'pull_requests'->>'held')::int + (${report}->'pull_requests'->>'not_enforced')::int
    + (${report}->>'deployments_held')::int > 0
  OR ${report}->'exemptions' <> '[]' OR ${report}->'bypasses' <> '[]')`;

// One that goes on, or is still to come, is looked at again between a day and a month later. Once a report is kept, nobody
// needs the waits: such a freeze cannot be restored any more.
const keep = `
  WITH due AS MATERIALIZED (
    SELECT id, repository_id, starts_at, ends_at, deleted_at,
      coalesce(least(ends_at, deleted_at) <= $1::timestamptz - ${settling}, false) AS is_over
    FROM freezes WHERE report_due_at <= $1::timestamptz
    ORDER BY report_due_at, id LIMIT ${atOnce} FOR UPDATE SKIP LOCKED
  ), kept AS (
    INSERT INTO freeze_reports (freeze_id, repository_id, ended_at, report, waited, emptied)
    SELECT freeze_id, repository_id, ended_at, report, waited, emptied
    FROM (${measured('due AS f', '$1')} WHERE f.is_over AND ending.ended_at > f.starts_at) measured
    WHERE ${saysSomething('report')}
    ON CONFLICT (freeze_id) DO UPDATE SET ended_at = excluded.ended_at, report = excluded.report,
      waited = excluded.waited, emptied = excluded.emptied
  ), needless AS (
    DELETE FROM freeze_waits WHERE freeze_id IN (SELECT id FROM due WHERE is_over)
  )
  UPDATE freezes SET report_due_at = CASE WHEN NOT is_over THEN
    least($1::timestamptz + ${longestUnseen}, ${settling} + greatest(
      due.starts_at, $1::timestamptz, least(due.ends_at, $1::timestamptz + ${settling}))) END
  FROM due WHERE freezes.id = due.id`;

/** Keeps the reports of freezes that are over for a day. One statement, because it nearly always finds nothing. */
export async function keepReports(sql: SqlTx, now: Date): Promise<void> {
  await sql.query('keep-reports', keep, [now]);
}

// What a report that is not kept yet counts stays, however long its freeze lasts.
const forget = `
  WITH events AS (
    DELETE FROM audit_events WHERE received_at < $1::timestamptz
      AND NOT EXISTS (SELECT FROM freezes f WHERE f.report_due_at IS NOT NULL AND ${isBypassOf})
  ), runs AS (
    DELETE FROM deployments WHERE decided_at < $1::timestamptz
      AND NOT EXISTS (SELECT FROM freezes f WHERE f.report_due_at IS NOT NULL AND f.id = ANY (deployments.freeze_ids))
  ) SELECT`;

/** Forgets events of the log and decided deployments from before an instant, but what reports still count. */
export async function forgetCounted(sql: SqlTx, before: Date): Promise<void> {
  await sql.query('forget-counted', forget, [before]);
}
