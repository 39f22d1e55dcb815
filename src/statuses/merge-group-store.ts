import type { Sql, SqlTx } from '../database/sql.ts';
import { forgetGroupStatuses } from './desired-store.ts';
import type { AnnouncedGroup } from './merge-queue.ts';

// All access to the table of merge groups goes through this file.

/** A branch with a merge queue. */
export type Branch = { repositoryId: bigint; branch: string };

/** A judged group: the pull requests that it merges, and the freezes that hold any of them. */
type JudgedGroup = {
  headSha: string;
  pullRequests: number[];
  heldBy: string[];
  requestedAt: Date;
  isShown: boolean;
};

/** GitHub waits at most this long for a check of a group. After that the group is gone, even without an event. */
const longestWait = 360 * 60_000;

/** A group that the queue does not show after this time was gone before we heard of it. */
const longestUnseen = 10 * 60_000;

/**
 * Saves a group that GitHub announced. A known group stays as it is. Ignores unknown repositories.
 */
export async function announceGroup(
  sql: SqlTx,
  { repositoryId, branch }: Branch,
  { headSha, headRef }: AnnouncedGroup,
  now: Date,
): Promise<void> {
  // An observation may have found it before. Now we also know since when GitHub waits.
  await sql.query(
    'announce-group',
    `INSERT INTO merge_groups AS known (repository_id, head_sha, head_ref, branch, requested_at)
    SELECT id, $2, $3, $4, $5 FROM repositories WHERE id = $1
    ON CONFLICT (repository_id, head_sha) DO UPDATE SET
      head_ref = excluded.head_ref, requested_at = excluded.requested_at
    WHERE known.head_ref IS NULL`,
    [repositoryId, headSha, headRef, branch, now],
  );
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

/** A merge group, with the name of its ref if GitHub announced it. */
export type KnownGroup = {
  headSha: string;
  headRef: string | null;
  /** Since when GitHub waits for it. */
  requestedAt: Date;
  /** Whether an observation has seen it in the queue. */
  wasSeen: boolean;
};

/** The head SHAs of the repository's merge groups that a freeze holds. */
export async function heldGroups(sql: SqlTx, repositoryId: bigint): Promise<Set<string>> {
  const rows = await sql.query<{ head_sha: string }>(
    'held-groups',
    "SELECT head_sha FROM merge_groups WHERE repository_id = $1 AND held_by <> '{}'",
    [repositoryId],
  );
  return new Set(rows.map(({ head_sha }) => head_sha));
}

/** The known groups of a branch. */
export async function knownGroups(sql: SqlTx, { repositoryId, branch }: Branch): Promise<KnownGroup[]> {
  return sql.query<KnownGroup>(
    'known-groups',
    `SELECT head_sha AS "headSha", head_ref AS "headRef", requested_at AS "requestedAt", observation > 0 AS "wasSeen"
    FROM merge_groups WHERE repository_id = $1 AND branch = $2 ORDER BY head_sha`,
    [repositoryId, branch],
  );
}

/**
 * Saves the groups that an observation found, unless a later observation already saw them. Removes groups of the branch
 * that the queue no longer shows, that are gone, or that GitHub no longer waits for.
 */
export async function saveGroups(
  tx: SqlTx,
  { repositoryId, branch }: Branch,
  groups: JudgedGroup[],
  { observation, gone, now }: { observation: bigint; gone: string[]; now: Date },
): Promise<void> {
  const rows = groups.map(({ headSha, pullRequests, heldBy, requestedAt, isShown }) => ({
    head_sha: headSha,
    pull_requests: pullRequests,
    held_by: heldBy,
    requested_at: requestedAt,
    is_shown: isShown,
  }));
  // The queue may not show a group yet that we only know by its ref.
  await tx.query(
    'save-groups',
    `INSERT INTO merge_groups AS known (repository_id, branch, head_sha, pull_requests, held_by, requested_at, observation)
    SELECT $1, $2, head_sha, pull_requests, held_by, requested_at, CASE WHEN is_shown THEN $3::bigint ELSE 0 END
    FROM jsonb_to_recordset($4::jsonb) AS judged(head_sha text, pull_requests int[], held_by uuid[],
      requested_at timestamptz, is_shown boolean)
    ON CONFLICT (repository_id, head_sha) DO UPDATE SET branch = excluded.branch,
      pull_requests = excluded.pull_requests, held_by = excluded.held_by,
      observation = greatest(known.observation, excluded.observation)
    WHERE known.observation < $3`,
    [repositoryId, branch, observation, JSON.stringify(rows)],
  );
  await tx.query(
    'forget-groups',
    `DELETE FROM merge_groups WHERE repository_id = $1 AND branch = $2
      AND ((observation > 0 AND observation < $3) OR head_sha = ANY($4::text[]) OR requested_at < $5
        OR (observation = 0 AND requested_at < $6))`,
    [
      ...[repositoryId, branch, observation, gone],
      ...[new Date(now.getTime() - longestWait), new Date(now.getTime() - longestUnseen)],
    ],
  );
}

/** Forgets all groups of a repository where nothing is enforced or nothing can be written: no queue waits for us. */
export async function forgetAllGroups(sql: Sql, repositoryId: bigint): Promise<void> {
  await sql.query(
    'forget-all-groups',
    `WITH forgotten AS (DELETE FROM merge_groups WHERE repository_id = $1)
    ${forgetGroupStatuses}`,
    [repositoryId],
  );
}
