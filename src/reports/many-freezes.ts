import { nowOf } from '../time/clock.ts';
import type { SqlRow } from '../database/sql.ts';
import { type FreezeReport, measured, saysSomething, withCounts } from './freeze-report.ts';
import type { Ground } from '../database/ground.ts';

/** A span of time, such as a month of somebody's zone. */
export type Span = { from: Date; to: Date };

/**
 * What the freezes of an owner did in a span.
 * @property hours in which a freeze was ongoing somewhere.
 * @property held pull requests that freezes held, of those that ended in the span or go on; each counts once for a freeze.
 * @property notKnown those of them of which GitHub did not say that it refuses them.
 * @property exemptions those that were approved.
 * @property bypasses what was merged or deployed past a freeze.
 */
export type Figures = {
  hours: number;
  freezes: number;
  held: number;
  notKnown: number;
  exemptions: number;
  bypasses: number;
  deployments: number;
};

const blockedIn = `((report->'pull_requests'->>'held')::int - (report->'pull_requests'->>'not_known')::int)`;

// What is not kept yet is measured: the freezes of about the last two days.
const figures = `
  WITH place AS MATERIALIZED (
    SELECT id FROM repositories WHERE account_id = $1 AND ($2::int8[] IS NULL OR id = ANY ($2))
  ), span AS MATERIALIZED (
    SELECT * FROM unnest($3::timestamptz[], $4::timestamptz[]) AS span (first, last)
  ), mine AS MATERIALIZED (
    SELECT f.*, least(f.ends_at, f.deleted_at, $5::timestamptz) AS ended_at
    FROM place JOIN freezes f ON f.repository_id = place.id
    WHERE f.starts_at < least(f.ends_at, f.deleted_at, $5::timestamptz)
      AND least(f.ends_at, f.deleted_at, $5::timestamptz) > (SELECT min(first) FROM span)
  ), times AS (
    SELECT range_agg(tstzrange(starts_at, ended_at)) AS frozen FROM mine
  ), told AS MATERIALIZED (
    SELECT kept.ended_at, ${withCounts('kept.report')} AS report FROM place JOIN freeze_reports kept ON kept.repository_id = place.id
    WHERE kept.ended_at > (SELECT min(first) FROM span)
    UNION ALL
    SELECT ended_at, report FROM (${measured('(SELECT id, repository_id, starts_at, ends_at, deleted_at FROM mine WHERE report_due_at IS NOT NULL) AS f', '$5')}) AS measured
  )
  SELECT coalesce((
      SELECT sum(extract(epoch FROM upper(part) - lower(part)))::float8 / 3600
      FROM times CROSS JOIN unnest(frozen * tstzmultirange(tstzrange(span.first, span.last))) AS part
    ), 0) AS hours,
    (SELECT count(*)::int FROM mine WHERE starts_at < span.last AND ended_at > span.first) AS freezes,
    (SELECT count(*)::int FROM place JOIN exemptions ON repository_id = place.id
      WHERE approved_at >= span.first AND approved_at < span.last) AS exemptions,
    coalesce(sum((report->'pull_requests'->>'held')::int), 0)::int AS held,
    coalesce(sum((report->'pull_requests'->>'not_known')::int), 0)::int AS "notKnown",
    coalesce(sum((report->>'bypasses_count')::int), 0)::int AS bypasses,
    coalesce(sum((report->>'deployments_held')::int), 0)::int AS deployments
  FROM span LEFT JOIN told ON told.ended_at > span.first AND told.ended_at <= span.last
  GROUP BY span.first, span.last ORDER BY span.first`;

/**
 * The figures of an owner for each of some spans, which follow each other.
 * @param repositories null for all of the owner.
 */
export function readFigures(
  { sql, clock }: Pick<Ground, 'sql' | 'clock'>,
  accountId: bigint,
  repositories: bigint[] | null,
  spans: Span[],
): Promise<Figures[]> {
  return sql.read<Figures & SqlRow>('figures-of-months', figures, [
    accountId,
    repositories,
    spans.map(({ from }) => from),
    spans.map(({ to }) => to),
    nowOf(clock),
  ]);
}

// The same of one plan, over all its freezes that are over.

/** The numbers of a report, without its lists. */
export type ReportFigures = {
  pull_requests: Omit<FreezeReport['pull_requests'], 'longest'>;
} & Omit<FreezeReport, 'pull_requests' | 'exemptions' | 'bypasses'>;

/** What the freezes of a plan did together that are over, and the newest of those that did something. */
export type PlanReport = {
  /** How many freezes are over. */
  freezes: number;
  figures: ReportFigures;
  newest: NewestReport[];
  /** How many did something, of which these are the newest. */
  told: number;
};

type NewestReport = {
  freezeId: string;
  /** A text, because it may be larger than a number can be exactly. */
  repositoryId: string;
  endedAt: string;
  blocked: number;
  longest: number | null;
  deployments: number;
};

/** How many freezes are listed. */
const mostNewest = 100;

const numberOf = (part: string, name: string): string => `(report->'${part}'->>'${name}')::int`;
const sumOf = (number: string, filter = ''): string => `coalesce(sum(${number}) ${filter}, 0)`;
const medianOf = (column: string): string =>
  `(SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)) FROM told CROSS JOIN unnest(${column}) AS seconds)`;

/** Reports that an earlier version kept have no single waits: each counts with the median of its freeze. */
const spread = (column: string, count: string, median: string): string =>
  `CASE WHEN cardinality(${column}) = ${count} THEN ${column} ELSE array_fill(${median}, ARRAY[${count}]) END AS ${column}`;

// Of the freezes whose report is not kept yet, which are those of about the last two days, it is measured.
const ofPlan = `
  WITH mine AS MATERIALIZED (
    SELECT id, repository_id, starts_at, ends_at, deleted_at, report_due_at FROM freezes
    WHERE plan_id = $1::uuid AND repository_id = ANY ($2::int8[])
      AND least(ends_at, deleted_at) <= $4::timestamptz AND starts_at < least(ends_at, deleted_at)
  ), known AS (
    SELECT freeze_id, kept.repository_id, ended_at, ${withCounts('kept.report')} AS report, waited, emptied
    FROM mine JOIN freeze_reports kept ON kept.freeze_id = mine.id
    UNION ALL
    SELECT * FROM (${measured('(SELECT * FROM mine WHERE report_due_at IS NOT NULL) AS f', '$4')}) AS measured
    WHERE ${saysSomething('report')}
  ), told AS MATERIALIZED (
    SELECT freeze_id, repository_id, ended_at, report,
      ${spread('waited', numberOf('pull_requests', 'held'), numberOf('pull_requests', 'median_wait_seconds'))},
      ${spread('emptied', numberOf('thaw', 'closed'), numberOf('thaw', 'median_seconds'))}
    FROM known
  )
  SELECT (SELECT count(*)::int FROM mine) AS freezes, count(*)::int AS told,
    jsonb_build_object(
      'pull_requests', jsonb_build_object('held', ${sumOf(numberOf('pull_requests', 'held'))},
        'not_enforced', ${sumOf(numberOf('pull_requests', 'not_enforced'))}, 'not_known', ${sumOf(numberOf('pull_requests', 'not_known'))},
        'median_wait_seconds', ${medianOf('waited')},
        'longest_wait_seconds', max(${numberOf('pull_requests', 'longest_wait_seconds')})),
      'thaw', jsonb_build_object('waiting', ${sumOf(numberOf('thaw', 'waiting'))}, 'closed', ${sumOf(numberOf('thaw', 'closed'))},
        'median_seconds', ${medianOf('emptied')}, 'last_seconds', max(${numberOf('thaw', 'last_seconds')})),
      'exemptions_count', ${sumOf(`(report->>'exemptions_count')::int`, 'FILTER (WHERE repository_id = ANY ($3::int8[]))')},
      'bypasses_count', ${sumOf(`(report->>'bypasses_count')::int`, 'FILTER (WHERE repository_id = ANY ($3::int8[]))')},
      'deployments_held', ${sumOf(`(report->>'deployments_held')::int`)}) AS figures,
    coalesce((SELECT jsonb_agg(jsonb_build_object('freezeId', freeze_id, 'repositoryId', repository_id::text, 'endedAt', ended_at,
        'blocked', ${blockedIn}, 'longest', ${numberOf('pull_requests', 'longest_wait_seconds')},
        'deployments', (report->>'deployments_held')::int) ORDER BY ended_at DESC, repository_id)
      FROM (SELECT * FROM told ORDER BY ended_at DESC, repository_id LIMIT ${mostNewest}) AS newest), '[]') AS newest
  FROM told`;

/**
 * What a plan did in some repositories, over all its freezes that are over, however long ago.
 * @param inside of which repositories exemptions and bypasses count.
 */
export async function readPlanReport(
  { sql, clock }: Pick<Ground, 'sql' | 'clock'>,
  planId: string,
  repositories: bigint[],
  inside: bigint[],
): Promise<PlanReport> {
  const params = [planId, repositories, inside, nowOf(clock)];
  const [row] = await sql.read<PlanReport & SqlRow>('report-of-plan', ofPlan, params);
  return row!;
}
