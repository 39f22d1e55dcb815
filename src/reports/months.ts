import { nowOf } from '../time/clock.ts';
import type { SqlRow } from '../database/sql.ts';
import { measured, withCounts } from './freeze-report.ts';
import type { Ground } from '../database/ground.ts';

/** A span of time, such as a month of somebody's zone. */
export type Span = { from: Date; to: Date };

/**
 * What the freezes of an owner did in a span.
 * @property hours in which a freeze was ongoing somewhere.
 * @property held pull requests that freezes held, of those that ended in the span or go on; each counts once for a freeze.
 * @property exemptions those that were approved.
 * @property bypasses what was merged or deployed past a freeze.
 */
export type Figures = {
  hours: number;
  freezes: number;
  held: number;
  exemptions: number;
  bypasses: number;
  deployments: number;
};

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
