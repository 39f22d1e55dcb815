import type { Tx } from '../../database/database.ts';
import type { SqlTx } from '../../database/sql.ts';
import { pullRequestsAt } from '../open-pull-request-store.ts';
import { tiers } from '../plan-write.ts';
import { freeText } from '../status.ts';
import { inRounds, byRound } from '../write-turns.ts';
import { defaultBranch } from './hold.ts';

// The table `instant_passes`: what commits show under the contexts of holds.

// What of the statuses a hold repeats under its own context: every verdict that knows its freezes. What is held needs
// nothing there, unless it was let through before.

/**
 * SQL that selects the commits of the installation `$1` whose status under the context of a hold is to be written. Merge
 * groups, commits that are no longer let through, and those of the beginning of the hold are urgent. Later heads, and
 * commits that are let through again, are not: people cause as many of these as they like.
 */
export const duePasses = `
  SELECT hold.repository_id, head.sha, hold.context, head.state, head.description, head.is_merge_group,
    head.head_owner, head.waiting_since,
    CASE WHEN head.is_merge_group THEN -2 WHEN head.state <> 'success' THEN -1 ELSE head.urgency END AS urgency,
    head.is_merge_group OR head.state <> 'success' OR pass.sha IS NULL AND NOT EXISTS (
      SELECT FROM (${pullRequestsAt('head.sha', 'head.repository_id')}) open WHERE head_since > hold.since
    ) AS is_urgent
  FROM instant_holds hold JOIN head_statuses head ON head.repository_id = hold.repository_id
    LEFT JOIN instant_passes pass ON pass.repository_id = head.repository_id AND pass.sha = head.sha
      AND pass.context = hold.context
  WHERE hold.installation_id = $1 AND hold.context IS NOT NULL AND head.observation >= hold.observation
    AND head.closed_number IS NULL AND head.state <> coalesce(pass.state, 'pending') AND (
      head.is_merge_group AND EXISTS (
        SELECT FROM merge_groups merging WHERE merging.repository_id = head.repository_id
          AND merging.head_sha = head.sha AND ${isTargeted('merging.branch')})
      OR EXISTS (
        SELECT FROM (${pullRequestsAt('head.sha', 'head.repository_id')}) open
        WHERE base_ref IS NULL OR ${isTargeted('base_ref')}))`;

function isTargeted(branch: string): string {
  return `(${branch} = ANY (hold.branches) OR '${defaultBranch}' = ANY (hold.branches))`;
}

/** Which contexts of instant holds are to be written next. */
export type Passes = 'urgent' | 'later';

/** SQL for which the installation `$1` has; null for none. */
export const passesDue = `
  SELECT CASE WHEN bool_or(is_urgent) THEN 'urgent' WHEN count(*) > 0 THEN 'later' END
  FROM (${duePasses}) due`;

/** The last tier of statuses that comes before them: holes, and before the later ones also releases. */
export const lastTierBefore: Record<Passes, number> = { urgent: tiers.closesHole, later: tiers.letsGo };

/** The turn of contexts beside the statuses behind them: each has half of the pace. */
export const passTurn = 'pass';

/** SQL for whether an installation has a ruleset that is or may be in force. */
export const hasHold = (installation: string): string =>
  `EXISTS (SELECT FROM instant_holds WHERE installation_id = ${installation} AND context IS NOT NULL)`;

/**
 * SQL for whether a ruleset is known to block the pull requests of a commit. A success that GitHub still shows there is no
 * hole, so urgent contexts come before it.
 * @param commit a table with `repository_id` and `sha`.
 */
export const isBlockedAtOnce = (commit: string): string => `EXISTS (
  SELECT FROM instant_holds hold
  WHERE hold.repository_id = ${commit}.repository_id AND context IS NOT NULL AND since IS NOT NULL AND error IS NULL
    AND NOT EXISTS (
      SELECT FROM (${pullRequestsAt(`${commit}.sha`, `${commit}.repository_id`)}) open
      WHERE coalesce(base_ref <> ALL (hold.branches), true))
    AND NOT EXISTS (
      SELECT FROM instant_passes pass WHERE pass.repository_id = hold.repository_id AND pass.sha = ${commit}.sha
        AND pass.context = hold.context AND pass.state = 'success'))`;

/** A commit to write the context of a hold on, with what the write needs. */
export type DuePass = {
  repositoryId: bigint;
  sha: string;
  context: string;
  state: 'pending' | 'success' | 'failure';
  description: string;
  isMergeGroup: boolean;
  headOwner: string;
  owner: string;
  repo: string;
  openNumber: number | null;
};

/**
 * The commits to write next, in turns: of each share merge groups first, then commits that are no longer let through,
 * then by how close their pull requests are to merging.
 */
export async function takePasses(
  sql: SqlTx,
  installationId: bigint,
  { passes, turns, most }: { passes: Passes; turns: string[]; most: number },
): Promise<DuePass[]> {
  const waiting = `SELECT * FROM (${duePasses}) due WHERE is_urgent OR $2`;
  return sql.query<DuePass>(
    'hold-passes',
    `SELECT due.repository_id AS "repositoryId", due.sha, due.context, due.state, due.description,
      due.is_merge_group AS "isMergeGroup", due.head_owner AS "headOwner", a.login AS owner, r.name AS repo, (
        SELECT min(number) FROM (${pullRequestsAt('due.sha', 'due.repository_id')}) open
      ) AS "openNumber"
    FROM (
      SELECT * FROM (${inRounds(waiting, `'${passTurn}'`, '$3::text[]')}) rounds ORDER BY ${byRound} LIMIT $4
    ) due JOIN repositories r ON r.id = due.repository_id JOIN accounts a ON a.id = r.account_id
    ORDER BY ${byRound}`,
    [installationId, passes === 'later', turns, most],
  );
}

/**
 * Notes what a commit shows under the context of a hold.
 * @returns the context of an earlier hold under which it is not successful.
 */
export async function savePass(
  sql: SqlTx,
  { repositoryId, sha, context, state }: DuePass,
): Promise<string | null> {
  const [former] = await sql.query<{ context: string }>(
    'hold-save-pass',
    `WITH saved AS (
      INSERT INTO instant_passes (repository_id, sha, context, state) VALUES ($1, $2, $3, $4)
      ON CONFLICT (repository_id, sha) DO UPDATE SET context = excluded.context, state = excluded.state
    ) SELECT context FROM instant_passes
    WHERE repository_id = $1 AND sha = $2 AND context <> $3 AND state <> 'success'`,
    [repositoryId, sha, context, state],
  );
  return former?.context ?? null;
}

/** Forgets what commits show, because nothing requires it any more. What is not successful would stay yellow. */
export const forgetPasses = (tx: Tx, repositoryId: bigint) =>
  tx.instantPass.deleteMany({ where: { repositoryId, state: 'success' } });

/** The open heads of a repository that are not successful under the context of a hold that is over: it has no freezes. */
export async function readRevoked(
  sql: SqlTx,
  repositoryId: bigint,
): Promise<(DuePass & { installationId: bigint })[]> {
  return sql.query(
    'hold-revoked',
    `WITH over AS (
      SELECT pass.*, hold.installation_id, (
        SELECT min(number) FROM (${pullRequestsAt('pass.sha', 'pass.repository_id')}) open) AS number
      FROM instant_passes pass JOIN instant_holds hold ON hold.repository_id = pass.repository_id
      WHERE pass.repository_id = $1 AND hold.context IS NULL AND cardinality(hold.freezes) = 0
    ), gone AS (
      DELETE FROM instant_passes pass USING over
      WHERE pass.repository_id = over.repository_id AND pass.sha = over.sha AND over.number IS NULL
    )
    SELECT over.repository_id AS "repositoryId", sha, context, 'success' AS state, '${freeText}' AS description,
      false AS "isMergeGroup", '' AS "headOwner", a.login AS owner, r.name AS repo, number AS "openNumber",
      over.installation_id AS "installationId"
    FROM over JOIN repositories r ON r.id = over.repository_id JOIN accounts a ON a.id = r.account_id
    WHERE number IS NOT NULL AND over.installation_id IS NOT NULL ORDER BY number`,
    [repositoryId],
  );
}

/** Forgets one of these. */
export const forgetPass = (db: Tx, { repositoryId, sha, context }: DuePass) =>
  db.instantPass.deleteMany({ where: { repositoryId, sha, context } });
