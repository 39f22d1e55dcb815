import type { Deps } from '../deps.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { isUnwritten, statusesOfHeld } from './desired-store.ts';

/**
 * Why something that a freeze should hold may not be held: its status waits to be written, GitHub refused the status,
 * somebody keeps overwriting it, or GitHub would merge it anyway.
 */
export const reasonsNotHeld = ['waiting', 'refused', 'contested', 'leaking'] as const;
export type ReasonNotHeld = (typeof reasonsNotHeld)[number];

/**
 * The only definition of "held": null if the row `held` (with `leaking_since`) is known to be held by its joined
 * statuses, else a `ReasonNotHeld`.
 */
export const whyNotHeld = Prisma.sql`
  CASE WHEN held.leaking_since IS NOT NULL THEN 'leaking'
    WHEN 'contested' IN (head.not_held, merge.not_held) THEN 'contested'
    WHEN coalesce(head.not_held, merge.not_held) IS NOT NULL THEN 'refused'
    WHEN ${isUnwritten} THEN 'waiting' END`;

/** For a row of `merge_groups`: a group leaks with its pull requests, because nothing waits for its status then. */
export const leakingWithGroup = Prisma.sql`
  (SELECT min(merged.leaking_since) FROM open_pull_requests merged
    WHERE merged.repository_id = merge_groups.repository_id AND merged.number = ANY(merge_groups.pull_requests))`;

/** An open pull request that a freeze held when it was last judged. */
export type HeldPullRequest = {
  number: number;
  headSha: string;
  /** Null until an observation has saved it. */
  title: string | null;
  /** The ids of the freezes. */
  heldBy: string[];
  /** Null if it is known to be held. */
  notHeld: ReasonNotHeld | null;
  /** Since when its status waits to be written; null if none does. */
  waitingSince: Date | null;
};

/**
 * The pull requests of a repository that freezes hold or should hold, by number, from our tables. Does not ask GitHub.
 * @param only limits the result to this number.
 */
export async function heldPullRequests(
  { db }: Pick<Deps, 'db'>,
  repositoryId: bigint,
  only: number | null = null,
): Promise<HeldPullRequest[]> {
  return db.$queryRaw<HeldPullRequest[]>`
    SELECT held.number, held.head_sha AS "headSha", held.title, held.held_by AS "heldBy", ${whyNotHeld} AS "notHeld",
      least(head.waiting_since, merge.waiting_since) AS "waitingSince"
    FROM open_pull_requests held ${statusesOfHeld}
    WHERE held.repository_id = ${repositoryId} AND cardinality(held.held_by) > 0
      AND (${only}::int IS NULL OR held.number = ${only}::int)
    ORDER BY held.number`;
}

/** Why a merge group that freezes should hold may not be held; null if it is held. */
export async function whyGroupNotHeld(
  { db }: Pick<Deps, 'db'>,
  repositoryId: bigint,
  headSha: string,
): Promise<ReasonNotHeld | null> {
  const [group] = await db.$queryRaw<{ notHeld: ReasonNotHeld | null }[]>`
    SELECT ${whyNotHeld} AS "notHeld"
    FROM (SELECT repository_id, head_sha, NULL::text AS merge_sha, ${leakingWithGroup} AS leaking_since
      FROM merge_groups WHERE repository_id = ${repositoryId} AND head_sha = ${headSha}) held ${statusesOfHeld}`;
  return group?.notHeld ?? null;
}

/** Whether the statuses alone hold everything that freezes should hold, as far as we can know without asking GitHub. */
export async function isHeldByStatuses({ db }: Pick<Deps, 'db'>, repositoryId: bigint): Promise<boolean> {
  const [row] = await db.$queryRaw<[{ isHeld: boolean }]>`
    SELECT NOT EXISTS (
      SELECT FROM (
        SELECT repository_id, head_sha, merge_sha, NULL::timestamptz AS leaking_since FROM open_pull_requests
        WHERE repository_id = ${repositoryId} AND cardinality(held_by) > 0
        UNION ALL
        SELECT repository_id, head_sha, NULL, NULL FROM merge_groups
        WHERE repository_id = ${repositoryId} AND cardinality(held_by) > 0
      ) held ${statusesOfHeld} WHERE ${whyNotHeld} IS NOT NULL
    ) AS "isHeld"`;
  return row.isHeld;
}
