import { changeOfRepository, tellOf } from '../database/changes.ts';
import { beforeItIsOnDisk, believed, type Sql, type SqlTx } from '../database/sql.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { mostAhead } from '../time/clock.ts';
import type { Observed } from './observe.ts';
import { freeText } from './status.ts';
import { type KnownStatus, longestLag, mostPrompt, promptUrgency, tiers } from './plan-write.ts';
import {
  allLastSeen,
  type LastSeen,
  pullRequestsAt,
  pullRequestsWithHead,
  pullRequestsWithTestMerge,
  rememberedAnd,
  type SeenRow,
  sharersLastSeen,
} from './open-pull-request-store.ts';
import type { Stack } from '../github/pull-requests/pull-request.ts';

// What the statuses should say. This file, `take-writes.ts`, and `write-store.ts` with what GitHub shows are the only ones
// that know the table `head_statuses`. First the statements of `save.ts`, in their order.

/** What the row of a repository says about its observations. */
export type StoredRepository = {
  observations: bigint;
  nextChangeAt: Date | null;
  closedJudgedBy: string;
  stacks: Stack[];
};

/**
 * Makes other observations of the repository wait until the transaction ends. Inserts of its rows do not wait, so that a
 * group can be announced and saved at the same time without a deadlock. The transaction does not wait for the disk,
 * because those of an installation wait for each other: each of them sends the job that writes its statuses.
 */
export async function lockStored(tx: SqlTx, repositoryId: bigint): Promise<StoredRepository> {
  const [row] = await tx.query<StoredRepository>(
    'lock-repository',
    `SELECT observations, next_change_at AS "nextChangeAt", closed_judged_by AS "closedJudgedBy", stacks,
      ${beforeItIsOnDisk}
    FROM repositories WHERE id = $1 FOR NO KEY UPDATE`,
    [repositoryId],
  );
  return row!;
}

/** What we know about SHAs and open pull requests. */
export type Before = { known: Map<string, KnownStatus>; lastSeen: LastSeen[] };

// Locks the rows of SHAs until the transaction ends. A write settles after that. One lookup for each SHA: without
// statistics, the planner would read all heads of the repository.
const known = `
  SELECT head.* FROM (SELECT unnest((SELECT $2::text[])) AS sha ORDER BY sha) wanted CROSS JOIN LATERAL (
    SELECT sha, written_state AS "writtenState", written_description AS "writtenDescription", written_at AS "writtenAt",
      written_during AS "writtenDuring", writes, overwrites, attempts, is_final AS "isFinal",
      is_merge_group AS "isMergeGroup", not_held AS "notHeld"
    FROM head_statuses WHERE repository_id = $1 AND sha = wanted.sha FOR UPDATE) head`;

const before = (lastSeen: string) => `
  WITH known AS (${known}), last_seen AS (${lastSeen})
  SELECT known.*, last_seen.* FROM known FULL JOIN last_seen ON false`;

type BeforeRow = (KnownStatus & { sha: string }) | (LastSeen & { sha: null });

/**
 * What we know about these SHAs, the requested pull requests, and those that share a SHA with them.
 * @param asked null for all pull requests of the repository.
 */
export async function readBefore(
  tx: SqlTx,
  repositoryId: bigint,
  shas: string[],
  asked: { numbers: number[]; shas: string[]; merged: string[] } | null,
): Promise<Before> {
  const rows = asked
    ? await tx.query<BeforeRow>('before-some', before(sharersLastSeen('$3', '$4', '$5')), [
        ...[repositoryId, shas],
        ...[asked.numbers, asked.shas, asked.merged],
      ])
    : await tx.query<BeforeRow>('before-all', before(allLastSeen), [repositoryId, shas]);
  return {
    known: new Map(rows.flatMap((row) => (row.sha === null ? [] : [[row.sha, row] as const]))),
    lastSeen: rows.filter((row) => row.sha === null),
  };
}

/** The wanted status of a SHA, in the form of its row. */
type DesiredRow = {
  sha: string;
  state: string;
  description: string;
  tier: number;
  head_owner: string;
  urgency: number;
  is_waiting: boolean;
  closed_number: number | null;
  /** The status that somebody else wrote. */
  is_foreign: boolean;
  foreign_state: string;
  foreign_description: string;
  /** Whether GitHub shows no status although we know of one. */
  is_missing: boolean;
  /** Whether it goes before the holes of others, unless many such wait. */
  is_prompt: boolean;
};

export type Desired = {
  repositoryId: bigint;
  installationId: bigint;
  observation: bigint;
  now: Date;
  isMergeGroup: boolean;
  statuses: DesiredRow[];
  /** The SHAs that show their holding status again. */
  heldAgain: string[];
  pullRequests: SeenRow[];
  /** When to ask GitHub whether it would merge held pull requests that are new or changed. */
  askAt: Date;
  /** The numbers of pull requests that are no longer open. */
  gone: number[];
  /** The commits that pull requests no longer have. */
  superseded: string[];
  /** The pull requests of which pages show something else from now on, or an empty text for all. */
  changed: string[];
  /** The closed pull requests whose heads to release if nothing holds them; null for all. */
  letGoAmong: string[] | null;
  repository: {
    nextChangeAt: Date | null;
    isPrivate?: boolean;
    /** When every open pull request was observed, if this observation did that. */
    reconciledAt?: Date | null;
    closedJudgedBy?: string;
    /** The stacks, if they were read again. */
    stacks?: Stack[];
    /** Whether to save any of them. */
    isChanged?: boolean;
  };
};

/**
 * SQL for whether GitHub may show something other than our holding status.
 * @param status the name of the row.
 */
const mayShowSuccess = (status: string): string => `
  coalesce(${status}.state = 'success' OR ${status}.written_state = 'success' OR ${status}.attempts > 0
    OR (${status}.is_waiting AND ${status}.written_state IS NULL), false)`;

/** Whether GitHub shows or may show our status there. Only that needs a new status. */
const isShown = `(NOT is_waiting OR attempts > 0 OR written_state IS NOT DISTINCT FROM 'pending')`;

/** SQL: a new verdict is due at once for every replica. The clock of the one that writes it may be behind ours. */
const dueForAll = `$4::timestamptz - interval '${mostAhead} milliseconds'`;

// Leaves a SHA alone that a later observation judged, unless that one knew no open pull request there. Statuses of others
// are counted before the next write. A new verdict never waits; the pause only applies to repeats of the same text.
// In `excluded`, an empty `written_state` says that the status that we know of is missing.
const write = `
  WITH given AS (
    SELECT *, is_prompt AND NOT EXISTS (SELECT FROM head_statuses
      WHERE installation_id = $2 AND is_waiting AND tier = ${tiers.cannotWait} OFFSET ${mostPrompt - 1}) AS goes_first
    FROM jsonb_to_recordset($6::jsonb) AS wanted(sha text, state text, description text, tier int,
      head_owner text, urgency int, is_waiting boolean, closed_number int, is_foreign boolean, foreign_state text,
      foreign_description text, is_missing boolean, is_prompt boolean)
  ), wanted AS (
    SELECT sha, state, description, CASE WHEN goes_first THEN ${tiers.cannotWait} ELSE tier END AS tier, head_owner,
      CASE WHEN goes_first THEN ${promptUrgency} + urgency ELSE urgency END AS urgency, is_waiting, closed_number,
      is_foreign, foreign_state, foreign_description, is_missing
    FROM given
  ), decided AS (
    INSERT INTO head_statuses AS known (repository_id, installation_id, is_merge_group, observation, not_before,
      sha, state, description, tier, head_owner, urgency, is_waiting, closed_number, waiting_since, counted_id,
      written_state, written_description)
    SELECT $1, $2, $5, $3, ${dueForAll}, sha, state, description, tier, head_owner, urgency, is_waiting, closed_number,
      CASE WHEN is_waiting THEN $4::timestamptz END, CASE WHEN is_foreign THEN NULL ELSE 0 END,
      CASE WHEN is_foreign THEN foreign_state WHEN is_missing THEN '' END,
      CASE WHEN is_foreign THEN foreign_description END
    FROM wanted
    ON CONFLICT (repository_id, sha) DO UPDATE SET
      installation_id = excluded.installation_id, observation = excluded.observation,
      state = excluded.state, description = excluded.description,
      tier = excluded.tier, head_owner = excluded.head_owner, urgency = excluded.urgency,
      is_waiting = excluded.is_waiting, closed_number = excluded.closed_number,
      waiting_since = CASE WHEN excluded.is_waiting THEN coalesce(known.waiting_since, excluded.waiting_since) END,
      counted_id = CASE WHEN excluded.counted_id IS NULL THEN NULL ELSE known.counted_id END,
      written_state = nullif(coalesce(excluded.written_state, known.written_state), ''),
      written_description = CASE WHEN excluded.written_state IS DISTINCT FROM ''
        THEN coalesce(excluded.written_description, known.written_description) END,
      (not_before, times_written, repeat_after) = (
        SELECT CASE WHEN is_repeat THEN greatest(known.not_before, known.repeat_after) ELSE excluded.not_before END,
          CASE WHEN is_repeat THEN known.times_written ELSE 0 END, CASE WHEN is_repeat THEN known.repeat_after END
        FROM (SELECT known.is_final
          OR (known.state, known.description) = (excluded.state, excluded.description) AS is_repeat) wanted),
      not_held = CASE WHEN excluded.state = 'success' OR excluded.sha = ANY($7::text[])
        AND (known.not_held = 'refused' OR known.repeat_after <= $4) THEN NULL ELSE known.not_held END,
      not_held_told = CASE WHEN excluded.state = 'success' THEN NULL ELSE known.not_held_told END
    WHERE known.observation < excluded.observation OR (known.closed_number IS NOT NULL AND excluded.closed_number IS NULL)
    RETURNING sha, is_waiting, ${mayShowSuccess('known')} AS may_show_success
  ), unwritten AS (
    SELECT sha FROM decided WHERE may_show_success
  ), released AS (
    UPDATE head_statuses SET
      state = 'success', description = '${freeText}', tier = ${tiers.isClosed}, observation = $3,
      is_waiting = ${isShown}, waiting_since = CASE WHEN ${isShown} THEN $4::timestamptz END
    WHERE repository_id = $1 AND closed_number IS NOT NULL AND state = 'pending' AND observation < $3
      AND ($8::text[] IS NULL OR sha = ANY($8::text[])) AND NOT EXISTS (
        SELECT FROM wanted WHERE wanted.sha = head_statuses.sha)
    RETURNING is_waiting
  ), superseded AS (
    -- What a writer has locked is written or settled now.
    UPDATE head_statuses head SET is_waiting = false, waiting_since = NULL FROM (
      SELECT waiting.* FROM unnest((SELECT $18::text[])) AS old (sha) CROSS JOIN LATERAL (
        SELECT repository_id, sha FROM head_statuses
        WHERE repository_id = $1 AND sha = old.sha AND is_waiting AND closed_number IS NULL AND NOT is_merge_group
          AND observation < $3 AND NOT EXISTS (SELECT FROM wanted WHERE wanted.sha = old.sha)
        FOR UPDATE SKIP LOCKED) waiting
    ) late
    WHERE head.repository_id = late.repository_id AND head.sha = late.sha
  ), ${rememberedAnd('$9', '$10', '$11')}, changed AS (
    UPDATE repositories SET
      -- From here on this repository carries our statuses, which must turn to success when freezes are switched off.
      first_status_at = coalesce(first_status_at, CASE WHEN EXISTS (SELECT 1 FROM decided WHERE is_waiting) THEN $4 END),
      next_change_at = $12, private = private OR $13, reconciled_at = CASE
        WHEN $14::timestamptz IS NULL THEN reconciled_at ELSE greatest(${believed('reconciled_at', '$4')}, $14) END,
      reconcile_requested_at = CASE WHEN reconcile_requested_at <= $14 THEN NULL ELSE reconcile_requested_at END,
      closed_judged_by = coalesce($15, closed_judged_by),
      -- Those of an earlier observation may be older.
      stacks = CASE WHEN $17::jsonb IS NULL OR ${believed('reconciled_at', '$4')} > $14 THEN stacks ELSE $17 END
    WHERE id = $1 AND ($16 OR first_status_at IS NULL)
  )
  SELECT (SELECT count(*)::int FROM decided WHERE is_waiting) AS differing,
    EXISTS (SELECT 1 FROM released WHERE is_waiting) AS "isReleased",
    EXISTS (
      SELECT FROM remembered WHERE (merge_state_due_at = $10 OR merge_state_due_at <= $4)
        AND head_sha NOT IN (SELECT sha FROM unwritten) AND coalesce(merge_sha, '') NOT IN (SELECT sha FROM unwritten)
    ) AS "isDue",
    (SELECT count(${tellOf(changeOfRepository('$1::int8', `nullif(about, '')`))})
      FROM unnest($19::text[]) AS changed (about)) AS told`;

/**
 * Saves the wanted statuses.
 * @returns how many statuses to write, whether to release heads of closed pull requests, and whether to ask GitHub about
 *   held pull requests whose status stands. The writer asks about the others, once it has written their status.
 */
export async function writeDesired(tx: SqlTx, desired: Desired): Promise<Written> {
  const { repositoryId, installationId, observation, now, isMergeGroup, repository } = desired;
  const [row] = await tx.query<Written>('write-desired', write, [
    ...[repositoryId, installationId, observation, now, isMergeGroup],
    ...[JSON.stringify(desired.statuses), desired.heldAgain, desired.letGoAmong],
    ...[JSON.stringify(desired.pullRequests), desired.askAt, desired.gone],
    ...[repository.nextChangeAt, repository.isPrivate ?? false, repository.reconciledAt ?? null],
    ...[repository.closedJudgedBy ?? null, repository.isChanged ?? false],
    repository.stacks ? JSON.stringify(repository.stacks) : null,
    desired.superseded,
    desired.changed,
  ]);
  return row!;
}

type Written = { differing: number; isReleased: boolean; isDue: boolean };

/**
 * Removes the wanted statuses of commits that no open pull request, no merge group and no closed head needs any more.
 * Keeps what was written on them for some minutes, without writing again: an older answer from GitHub may still show
 * them, and must not bring them back as if nothing had been written. Runs in the transaction that saves an observation,
 * after it.
 */
export async function forgetHeads(
  tx: SqlTx,
  { repository, observation, observedAt }: Pick<Observed, 'repository' | 'observation' | 'observedAt'>,
): Promise<void> {
  await tx.query(
    'forget-heads',
    `WITH unseen AS (
      SELECT sha, greatest(written_at, not_before) < $3 AS is_over
      FROM head_statuses head WHERE repository_id = $1 AND observation < $2
        AND NOT EXISTS (${pullRequestsAt('head.sha', '$1')})
        AND (closed_number IS NULL OR (state = 'success' AND NOT is_waiting))
        AND NOT EXISTS (SELECT 1 FROM merge_groups merge_group
          WHERE merge_group.repository_id = $1 AND merge_group.head_sha = head.sha)
    ), forgotten AS (
      DELETE FROM head_statuses head USING unseen
      WHERE head.repository_id = $1 AND head.sha = unseen.sha AND is_over
    )
    UPDATE head_statuses head SET is_waiting = false, waiting_since = NULL FROM unseen
    WHERE head.repository_id = $1 AND head.sha = unseen.sha AND NOT is_over`,
    [repository.id, observation, new Date(observedAt.getTime() - longestLag)],
  );
}

/** Forgets all groups of a repository where nothing is enforced or nothing can be written: no queue waits for us. */
export async function forgetAllGroups(sql: Sql, repositoryId: bigint): Promise<void> {
  await sql.query(
    'forget-all-groups',
    `WITH forgotten AS (DELETE FROM merge_groups WHERE repository_id = $1)
    DELETE FROM head_statuses WHERE repository_id = $1 AND is_merge_group`,
    [repositoryId],
  );
}

/**
 * An open pull request for which a status on a SHA counts although we have no verdict there: the SHA is its test merge
 * commit, as last seen, or another commit that merges its head.
 * @param merges the head that the SHA merges; null if it merges none.
 */
export async function numberByTestMerge(
  sql: Pick<Sql, 'read'>,
  repositoryId: bigint,
  sha: string,
  merges: string | null,
): Promise<number | null> {
  const [row] = await sql.read<{ number: number | null }>(
    'number-by-test-merge',
    `SELECT min(number) AS number
    FROM (${pullRequestsWithTestMerge('$2', '$1')} UNION ALL ${pullRequestsWithHead('$3', '$1')}) known
    WHERE NOT EXISTS (SELECT FROM head_statuses WHERE repository_id = $1 AND sha = $2)`,
    [repositoryId, sha, merges],
  );
  return row!.number;
}

/** Joins the statuses that decide about a row `held`: `head` of its head SHA, `merge` of its test merge commit, if any. */
export const statusesOfHeld = Prisma.sql`
  LEFT JOIN head_statuses head ON head.repository_id = held.repository_id AND head.sha = held.head_sha
  LEFT JOIN head_statuses merge ON merge.repository_id = held.repository_id AND merge.sha = held.merge_sha`;

/** Counts the pull requests of each row of `repository` that no freeze holds any more, and that GitHub still blocks. */
export const releasingIn = Prisma.sql`
  SELECT repository_id, count(*) AS releasing FROM head_statuses
  WHERE is_waiting AND installation_id IN (SELECT installation_id FROM repository) AND state = 'success'
    AND written_state = 'pending' AND closed_number IS NULL AND NOT is_merge_group
    AND repository_id IN (SELECT id FROM repository)
  GROUP BY repository_id`;

/**
 * Whether GitHub may show something other than our holding status. A test merge commit without a row has no status of
 * ours, so GitHub only requires the status of the head.
 */
export const isUnwritten = Prisma.raw(
  `(head.state IS NULL OR ${mayShowSuccess('head')} OR ${mayShowSuccess('merge')})`,
);
