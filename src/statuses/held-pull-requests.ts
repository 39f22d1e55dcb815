import { Prisma } from '../generated/prisma/client.ts';
import { isUnwritten, statusesOfHeld } from './desired-store.ts';
import { nowOf } from '../time/clock.ts';
import type { StatusDeps } from './status-deps.ts';
import type { SqlTx } from '../database/sql.ts';
import type { MergeState } from '../github/pull-requests/load-pull-requests.ts';

export const mergeable: ReadonlySet<string | null> = new Set<MergeState>(['CLEAN', 'UNSTABLE', 'HAS_HOOKS']);

/** What GitHub says of merging a held pull request: it refuses or allows it, or will soon be asked. */
export type MergeAnswer = 'refuses' | 'merges' | 'asked';

/** Milliseconds: a question that is due later is no longer worth waiting for. */
const askedWithin = 70_000;

/** A `MergeAnswer` about the row `held`; null if GitHub does not say, and will not be asked soon. */
export const mergeAnswer = (now: Date): Prisma.Sql => Prisma.sql`
  CASE WHEN held.leaking_since IS NOT NULL THEN 'merges'
    WHEN held.merge_state NOT IN (${Prisma.join([...mergeable])}) THEN 'refuses'
    WHEN held.merge_state_due_at <= ${new Date(now.getTime() + askedWithin)} THEN 'asked' END`;

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

/** An open pull request, and the freezes that held it when it was last judged. */
export type HeldPullRequest = {
  number: number;
  headSha: string;
  /** Null until an observation has saved it. */
  title: string | null;
  author: string | null;
  /** The branch that it merges into; null if it is not known. */
  baseRef: string | null;
  /** The ids of the freezes. */
  heldBy: string[];
  /** Null if it is known to be held. */
  notHeld: ReasonNotHeld | null;
  /** Since when its status waits to be written; null if none does. */
  waitingSince: Date | null;
  mergeAnswer: MergeAnswer | null;
  /** Whether an exemption lets it through now. */
  isExempt: boolean;
};

/**
 * The pull requests of a repository that freezes hold or should hold, by number, from our tables. Does not ask GitHub.
 * @param only limits the result to this number.
 */
export const heldPullRequests = (
  deps: Pick<StatusDeps, 'db' | 'clock'>,
  repositoryId: bigint,
  only: number | null = null,
): Promise<HeldPullRequest[]> =>
  openPullRequests(
    deps,
    repositoryId,
    Prisma.sql`cardinality(held.held_by) > 0
      AND (${only}::int IS NULL OR held.number = ${only}::int)`,
  );

/** All open pull requests of a repository, or those of a condition, by number. */
export async function openPullRequests(
  { db, clock }: Pick<StatusDeps, 'db' | 'clock'>,
  repositoryId: bigint,
  isWanted = Prisma.sql`true`,
): Promise<HeldPullRequest[]> {
  const now = nowOf(clock);
  return db.$queryRaw<HeldPullRequest[]>`
    SELECT held.number, held.head_sha AS "headSha", held.title, held.author, held.base_ref AS "baseRef",
      held.held_by AS "heldBy", ${whyNotHeld} AS "notHeld", ${mergeAnswer(now)} AS "mergeAnswer",
      least(head.waiting_since, merge.waiting_since) AS "waitingSince",
      EXISTS (SELECT FROM exemptions e WHERE e.repository_id = held.repository_id AND e.number = held.number
        AND e.state = 'approved' AND e.ended_at IS NULL AND e.expires_at > ${now}) AS "isExempt"
    FROM open_pull_requests held ${statusesOfHeld}
    WHERE held.repository_id = ${repositoryId} AND ${isWanted}
    ORDER BY held.number`;
}

/** Why a merge group that freezes should hold may not be held; null if it is held. */
export async function whyGroupNotHeld(
  { db }: Pick<StatusDeps, 'db'>,
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
export async function isHeldByStatuses(
  { db }: Pick<StatusDeps, 'db'>,
  repositoryId: bigint,
): Promise<boolean> {
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

/** The branches of a repository that have merge groups. */
export async function branchesWithGroups(sql: SqlTx, repositoryId: bigint): Promise<string[]> {
  const rows = await sql.query<{ branch: string }>(
    'branches-with-groups',
    'SELECT DISTINCT branch FROM merge_groups WHERE repository_id = $1 ORDER BY branch',
    [repositoryId],
  );
  return rows.map(({ branch }) => branch);
}

/** The head SHAs of the repository's merge groups that a freeze holds. */
export async function heldGroups(sql: SqlTx, repositoryId: bigint): Promise<Set<string>> {
  const rows = await sql.query<{ head_sha: string }>(
    'held-groups',
    "SELECT head_sha FROM merge_groups WHERE repository_id = $1 AND held_by <> '{}'",
    [repositoryId],
  );
  return new Set(rows.map(({ head_sha }) => head_sha));
}

/**
 * Whether a ruleset is known to block the pull request of the row `held` for one of its freezes, whatever its status
 * says. `keyOf` begins with the id of a freeze.
 */
export const isHeldAtOnce = Prisma.sql`
  EXISTS (SELECT FROM instant_holds hold WHERE hold.repository_id = held.repository_id
    AND hold.context IS NOT NULL AND hold.since IS NOT NULL AND hold.error IS NULL
    AND held.base_ref = ANY (hold.branches) AND EXISTS (
      SELECT FROM unnest(hold.freezes) AS held_for WHERE split_part(held_for, ' ', 1) = ANY (held.held_by::text[]))
    AND NOT EXISTS (
      SELECT FROM instant_passes pass WHERE pass.repository_id = held.repository_id
        AND pass.sha = held.head_sha AND pass.context = hold.context AND pass.state = 'success'))`;
