import type { Tx } from '../database/database.ts';

/** Freezes that are one to people: what a plan did to many repositories at once, or a freeze by itself. */
export type FreezeGroup = {
  /** One of its freezes, in the first of `repositoryIds`. */
  id: string;
  planId: string | null;
  /** What the viewer may read, at most 200 characters of it. */
  reason: string;
  startsAt: Date;
  /** When it ended, or was deleted; null if it has no end. */
  endsAt: Date | null;
  /** In how many repositories. */
  repositories: number;
  /** The first three of them. */
  repositoryIds: bigint[];
};

/**
 * The freezes of merges of some repositories that are on within a span, the earliest first. One that was deleted before
 * it began was never on.
 * @param inside the repositories whose reasons the viewer may read; of the others it gives the public ones.
 * @param most the maximum number of groups.
 * @param planId only the freezes of this plan.
 */
export function freezeGroupsWithin(
  tx: Tx,
  repositoryIds: bigint[],
  inside: bigint[],
  { from, to }: { from: Date; to: Date },
  most: number,
  planId: string | null = null,
): Promise<FreezeGroup[]> {
  return tx.$queryRaw<FreezeGroup[]>`
    SELECT (array_agg(id ORDER BY repository_id))[1] AS id, plan_id AS "planId", reason, starts_at AS "startsAt",
      over_at AS "endsAt", count(*)::int4 AS repositories,
      (array_agg(repository_id ORDER BY repository_id))[1:3] AS "repositoryIds"
    FROM (
      SELECT id, repository_id, plan_id, starts_at, COALESCE(deleted_at, ends_at) AS over_at,
        left(CASE WHEN repository_id = ANY (${inside}::int8[]) THEN reason ELSE COALESCE(public_reason, reason) END, 200)
          AS reason
      FROM freezes
      WHERE repository_id = ANY (${repositoryIds}::int8[]) AND starts_at < ${to}
        AND (ends_at IS NULL OR ends_at > ${from})
        AND (deleted_at IS NULL OR (deleted_at > ${from} AND deleted_at > starts_at))
        AND (${planId}::uuid IS NULL OR plan_id = ${planId}::uuid)
        AND (holds = '{}' OR 'merges' = ANY (holds))
    ) AS f
    GROUP BY plan_id, reason, starts_at, over_at, CASE WHEN plan_id IS NULL THEN id END
    ORDER BY starts_at, count(*) DESC, id LIMIT ${most}`;
}
