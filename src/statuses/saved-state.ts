import type { SqlTx } from '../database/sql.ts';
import type { Stack } from '../github/pull-requests/stacks.ts';
import { freeText } from './status.ts';
import type { Known } from './plan-write.ts';
import { closedUrgency } from './urgency.ts';
import {
  allLastSeen,
  type LastSeen,
  lastSeenOf,
  type LastSeenRow,
  sharersLastSeen,
} from './open-pull-request-store.ts';

// The statements of `save.ts`, in their order.

/** What the row of a repository says about its observations. */
export type StoredRepository = {
  observations: bigint;
  nextChangeAt: Date | null;
  closedJudgedBy: string;
  stacks: Stack[];
};

/**
 * Makes other observations of the repository wait until the transaction ends. Inserts of its rows do not wait, so that a
 * group can be announced and saved at the same time without a deadlock.
 */
export async function lockStored(tx: SqlTx, repositoryId: bigint): Promise<StoredRepository> {
  const [row] = await tx.query<{
    observations: bigint;
    next_change_at: Date | null;
    closed_judged_by: string;
    stacks: Stack[];
  }>(
    'lock-repository',
    'SELECT observations, next_change_at, closed_judged_by, stacks FROM repositories WHERE id = $1 FOR NO KEY UPDATE',
    [repositoryId],
  );
  const { observations, next_change_at, closed_judged_by, stacks } = row!;
  return { observations, nextChangeAt: next_change_at, closedJudgedBy: closed_judged_by, stacks };
}

/** What we know about SHAs and open pull requests. */
export type Before = { known: Map<string, Known>; lastSeen: LastSeen[] };

// Locks the rows of SHAs until the transaction ends. A write settles after that. One lookup for each SHA: without
// statistics, the planner would read all heads of the repository.
const known = `
  SELECT head.* FROM (SELECT unnest((SELECT $2::text[])) AS sha ORDER BY sha) wanted CROSS JOIN LATERAL (
    SELECT sha, written_state, written_description, written_at, written_during, writes, overwrites, attempts, is_final,
      is_merge_group, not_held
    FROM head_statuses WHERE repository_id = $1 AND sha = wanted.sha FOR UPDATE) head`;

const before = (lastSeen: string) => `
  WITH known AS (${known}), last_seen AS (${lastSeen})
  SELECT known.*, last_seen.* FROM known FULL JOIN last_seen ON false`;

type KnownRow = {
  sha: string | null;
  written_state: string | null;
  written_description: string | null;
  written_at: Date | null;
  written_during: bigint | null;
  writes: number;
  overwrites: number;
  attempts: number;
  is_final: boolean;
  is_merge_group: boolean;
  not_held: string | null;
};

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
    ? await tx.query<KnownRow & LastSeenRow>('before-some', before(sharersLastSeen('$3', '$4', '$5')), [
        ...[repositoryId, shas],
        ...[asked.numbers, asked.shas, asked.merged],
      ])
    : await tx.query<KnownRow & LastSeenRow>('before-all', before(allLastSeen), [repositoryId, shas]);
  return {
    known: new Map(rows.flatMap((row) => (row.sha === null ? [] : [[row.sha, knownOf(row)] as const]))),
    lastSeen: rows.filter((row) => row.sha === null).map(lastSeenOf),
  };
}

const knownOf = (row: KnownRow): Known => ({
  writtenState: row.written_state,
  writtenDescription: row.written_description,
  writtenAt: row.written_at,
  writtenDuring: row.written_during,
  writes: row.writes,
  overwrites: row.overwrites,
  attempts: row.attempts,
  isFinal: row.is_final,
  isMergeGroup: row.is_merge_group,
  notHeld: row.not_held,
});

/** The wanted status of a SHA, in the form of its row. */
export type DesiredRow = {
  sha: string;
  state: string;
  description: string;
  urgency: number;
  is_waiting: boolean;
  closed_number: number | null;
  /** The status that somebody else wrote. */
  is_foreign: boolean;
  foreign_state: string;
  foreign_description: string;
  /** Whether GitHub shows no status although we know of one. */
  is_missing: boolean;
};

/** An open pull request and the ids of the freezes that held it when it was judged, in the form of its row. */
export type SeenRow = {
  number: number;
  node_id: string;
  head_sha: string;
  title: string;
  merge_sha: string | null;
  held_by: string[];
  changed_at: Date | null;
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
  /** The closed pull requests whose heads to release if nothing holds them; null for all. */
  letGoAmong: string[] | null;
  repository: {
    nextChangeAt: Date | null;
    isPrivate: boolean;
    /** When every open pull request was observed, if this observation did that. */
    reconciledAt: Date | null;
    closedJudgedBy: string | null;
    /** The stacks, if they were read again. */
    stacks: Stack[] | null;
    /** Whether to keep any of them. */
    isChanged: boolean;
  };
};

/** Whether GitHub shows or may show our status there. Only that needs a new status. */
const isShown = `(NOT is_waiting OR attempts > 0 OR written_state IS NOT DISTINCT FROM 'pending')`;

// Leaves a SHA alone that a later observation judged, unless that one knew no open pull request there. Statuses of others
// are counted before the next write. A new verdict never waits; the pause only applies to repeats of the same text.
// In `excluded`, an empty `written_state` says that the status that we know of is missing.
const write = `
  WITH wanted AS (
    SELECT * FROM jsonb_to_recordset($6::jsonb) AS wanted(sha text, state text, description text, urgency int,
      is_waiting boolean, closed_number int, is_foreign boolean, foreign_state text, foreign_description text,
      is_missing boolean)
  ), decided AS (
    INSERT INTO head_statuses AS known (repository_id, installation_id, is_merge_group, observation, not_before,
      sha, state, description, urgency, is_waiting, closed_number, waiting_since, counted_id, written_state,
      written_description)
    SELECT $1, $2, $5, $3, $4, sha, state, description, urgency, is_waiting, closed_number,
      CASE WHEN is_waiting THEN $4::timestamptz END, CASE WHEN is_foreign THEN NULL ELSE 0 END,
      CASE WHEN is_foreign THEN foreign_state WHEN is_missing THEN '' END,
      CASE WHEN is_foreign THEN foreign_description END
    FROM wanted
    ON CONFLICT (repository_id, sha) DO UPDATE SET
      installation_id = excluded.installation_id, observation = excluded.observation,
      state = excluded.state, description = excluded.description, urgency = excluded.urgency,
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
    RETURNING is_waiting
  ), released AS (
    UPDATE head_statuses SET
      state = 'success', description = '${freeText}', urgency = ${closedUrgency}, observation = $3,
      is_waiting = ${isShown}, waiting_since = CASE WHEN ${isShown} THEN $4::timestamptz END
    WHERE repository_id = $1 AND closed_number IS NOT NULL AND state = 'pending' AND observation < $3
      AND ($8::text[] IS NULL OR sha = ANY($8::text[])) AND NOT EXISTS (
        SELECT FROM wanted WHERE wanted.sha = head_statuses.sha)
    RETURNING is_waiting
  ), remembered AS (
    INSERT INTO open_pull_requests AS known (repository_id, number, node_id, head_sha, title, merge_sha, held_by,
      changed_at, head_since, observation, merge_state_due_at)
    SELECT $1, number, node_id, head_sha, title, merge_sha, held_by, changed_at, changed_at, $3,
      CASE WHEN held_by <> '{}' THEN $10::timestamptz END
    FROM jsonb_to_recordset($9::jsonb) AS seen(number int, node_id text, head_sha text, title text, merge_sha text,
      held_by uuid[], changed_at timestamptz)
    ON CONFLICT (repository_id, number) DO UPDATE SET
      node_id = excluded.node_id, head_sha = excluded.head_sha, title = excluded.title, merge_sha = excluded.merge_sha,
      held_by = excluded.held_by,
      head_since = CASE WHEN excluded.head_sha = known.head_sha THEN known.head_since ELSE excluded.changed_at END,
      changed_at = greatest(known.changed_at, excluded.changed_at), observation = excluded.observation,
      merge_state_due_at = CASE WHEN (excluded.head_sha, excluded.held_by) = (known.head_sha, known.held_by)
        AND coalesce(excluded.changed_at <= known.changed_at, true) THEN known.merge_state_due_at
        ELSE excluded.merge_state_due_at END,
      merge_state = CASE WHEN excluded.head_sha = known.head_sha AND excluded.held_by <> '{}' THEN known.merge_state END,
      merge_state_asks = CASE WHEN excluded.head_sha = known.head_sha THEN known.merge_state_asks ELSE 0 END,
      leaking_since = CASE WHEN excluded.head_sha = known.head_sha AND excluded.held_by <> '{}'
        THEN known.leaking_since END
    WHERE known.observation < excluded.observation
    RETURNING merge_state_due_at
  ), gone AS (
    DELETE FROM open_pull_requests
    WHERE cardinality($11::int[]) > 0 AND repository_id = $1 AND number = ANY($11) AND observation < $3
  ), changed AS (
    UPDATE repositories SET
      -- From here on this repository carries our statuses, which must turn to success when freezes are switched off.
      first_status_at = coalesce(first_status_at, CASE WHEN EXISTS (SELECT 1 FROM decided WHERE is_waiting) THEN $4 END),
      next_change_at = $12, private = private OR $13, reconciled_at = greatest(reconciled_at, $14::timestamptz),
      reconcile_requested_at = CASE WHEN reconcile_requested_at <= $14 THEN NULL ELSE reconcile_requested_at END,
      closed_judged_by = coalesce($15, closed_judged_by),
      -- Those of an earlier observation may be older.
      stacks = CASE WHEN $17::jsonb IS NULL OR reconciled_at > $14 THEN stacks ELSE $17 END
    WHERE id = $1 AND ($16 OR first_status_at IS NULL)
  )
  SELECT (SELECT count(*)::int FROM decided WHERE is_waiting) AS differing,
    EXISTS (SELECT 1 FROM released WHERE is_waiting) AS is_released,
    EXISTS (SELECT 1 FROM remembered WHERE merge_state_due_at = $10) AS is_due`;

/**
 * Saves the wanted statuses.
 * @returns how many statuses to write, whether to release heads of closed pull requests, and whether to ask GitHub about
 *   held pull requests.
 */
export async function writeDesired(
  tx: SqlTx,
  desired: Desired,
): Promise<{ differing: number; isReleased: boolean; isDue: boolean }> {
  const { repositoryId, installationId, observation, now, isMergeGroup, repository } = desired;
  const [row] = await tx.query<{ differing: number; is_released: boolean; is_due: boolean }>(
    'write-desired',
    write,
    [
      ...[repositoryId, installationId, observation, now, isMergeGroup],
      ...[JSON.stringify(desired.statuses), desired.heldAgain, desired.letGoAmong],
      ...[JSON.stringify(desired.pullRequests), desired.askAt, desired.gone],
      ...[repository.nextChangeAt, repository.isPrivate, repository.reconciledAt],
      ...[repository.closedJudgedBy, repository.isChanged],
      repository.stacks && JSON.stringify(repository.stacks),
    ],
  );
  return { differing: row!.differing, isReleased: row!.is_released, isDue: row!.is_due };
}
