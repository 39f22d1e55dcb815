import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { enforcesFreezes } from '../products/product.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { FoundRepository } from '../repositories/find-repository.ts';
import { phaseOf } from './freeze.ts';
import { requireFreeze } from './require-freeze.ts';

/** How many should be held, and how many GitHub shows as held. */
export type Progress = { toHold: number; held: number };

/** How far a freeze is enforced, as far as our own tables know: GitHub is not asked. */
export type Enforcement = {
  phase: 'scheduled' | 'ongoing';
  /** Whether a product that enforces freezes is enabled on the repository. */
  isEnforced: boolean;
  pullRequests: Progress;
  mergeGroups: Progress;
  /** Statuses on what it holds that wait to be written, and since when the oldest does. */
  waitingWrites: number;
  waitingSince: Date | null;
  /** When all open pull requests were last looked at; and whether another look was asked for since. */
  lookedAt: Date | null;
  isLookDue: boolean;
};

type Row = { kind: 'head' | 'group'; to_hold: number; held: number; waiting: number; since: Date | null };

/** Of a row `head` of `head_statuses`: whether GitHub shows it as held, as far as we know. */
export const shownAsHeld = Prisma.sql`
  head.state <> 'success' AND (NOT head.is_waiting OR head.written_state <> 'success') AND head.not_held IS NULL`;

/**
 * The progress of a freeze.
 * @throws Refusal not-found for one that has ended or was deleted.
 */
export async function freezeEnforcement(
  deps: Pick<Deps, 'db' | 'clock'>,
  repository: FoundRepository,
  id: string,
): Promise<Enforcement> {
  const freeze = await requireFreeze(deps, repository, id);
  const rows = await deps.db.$queryRaw<Row[]>`
    SELECT kind, count(*)::int AS to_hold, count(*) FILTER (WHERE is_held)::int AS held,
      count(DISTINCT sha) FILTER (WHERE is_waiting)::int AS waiting,
      min(waiting_since) FILTER (WHERE is_waiting) AS since
    FROM (
      SELECT holding.kind, head.sha, head.is_waiting, head.waiting_since,
        (${shownAsHeld}) AS is_held
      FROM (
        SELECT 'head' AS kind, head_sha FROM open_pull_requests
        WHERE repository_id = ${repository.id} AND ${id}::uuid = ANY(held_by)
        UNION ALL
        SELECT 'group', head_sha FROM merge_groups
        WHERE repository_id = ${repository.id} AND ${id}::uuid = ANY(held_by)
      ) holding
      LEFT JOIN head_statuses head ON head.repository_id = ${repository.id} AND head.sha = holding.head_sha
    ) shown GROUP BY kind`;
  const of = (kind: Row['kind']) => rows.find((row) => row.kind === kind);
  const progress = (row: Row | undefined): Progress => ({ toHold: row?.to_hold ?? 0, held: row?.held ?? 0 });
  const since = rows.flatMap((row) => row.since ?? []).sort((one, other) => one.getTime() - other.getTime());
  const { refreshedAt, refreshRequestedAt } = repository;
  return {
    phase: phaseOf(freeze, nowOf(deps.clock)) === 'scheduled' ? 'scheduled' : 'ongoing',
    isEnforced: enforcesFreezes(repository.products),
    pullRequests: progress(of('head')),
    mergeGroups: progress(of('group')),
    waitingWrites: rows.reduce((sum, row) => sum + row.waiting, 0),
    waitingSince: since[0] ?? null,
    lookedAt: refreshedAt,
    isLookDue: refreshRequestedAt !== null,
  };
}
