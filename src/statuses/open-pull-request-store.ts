import type { Sql, SqlTx } from '../database/sql.ts';
import type { AttributeValues } from '../conditions/attributes.ts';
import { lockRepository } from '../installations/find-repository.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { StatusDeps } from './status-deps.ts';

// Which open pull requests have which head SHA and which test merge commit. Several can share both. GitHub only answers
// the first question for branches of the repository, not for forks, and does not answer the second.

// The SHA alone finds the rows. `OFFSET 0` keeps the planner from looking for the repository too: as long as its
// statistics do not know a repository, it expects one row there, and reads all its pull requests by the primary key.
const pullRequestsBy = (column: string, sha: string, repositoryId: string): string => `
  SELECT * FROM (SELECT * FROM open_pull_requests WHERE ${column} = ${sha} OFFSET 0) known
  WHERE known.repository_id = ${repositoryId}`;

/**
 * SQL that selects the rows of the open pull requests of a repository with a SHA as head.
 * @param sha a parameter, or a column with the name of its table. @param repositoryId the same.
 */
export const pullRequestsWithHead = (sha: string, repositoryId: string): string =>
  pullRequestsBy('head_sha', sha, repositoryId);

/** Like `pullRequestsWithHead`, for a SHA as test merge commit. */
export const pullRequestsWithTestMerge = (sha: string, repositoryId: string): string =>
  pullRequestsBy('merge_sha', sha, repositoryId);

/** Like `pullRequestsWithHead`, for a SHA as head or test merge commit. */
export const pullRequestsAt = (sha: string, repositoryId: string): string =>
  `${pullRequestsWithHead(sha, repositoryId)} UNION ALL ${pullRequestsWithTestMerge(sha, repositoryId)}`;

/** An open pull request as it was last seen. */
export type LastSeen = {
  number: number;
  nodeId: string;
  headSha: string;
  mergeSha: string | null;
  /** According to GitHub's clock. */
  changedAt: Date | null;
  /** The freezes that held it, as SQL writes an array. */
  heldBy: string;
  /** The observation that saw it. */
  seenBy: bigint;
};

/** The SHAs of a pull request when it was last seen, its head first. */
export const shasThen = ({ headSha, mergeSha }: LastSeen): string[] =>
  mergeSha === null ? [headSha] : [headSha, mergeSha];

/** As a `LastSeen` has them. */
const lastSeenColumns = `number, node_id AS "nodeId", head_sha AS "headSha", merge_sha AS "mergeSha", changed_at AS "changedAt",
  held_by::text AS "heldBy", observation AS "seenBy"`;

/** SQL that selects every open pull request of the repository `$1`. */
export const allLastSeen = `SELECT ${lastSeenColumns} FROM open_pull_requests WHERE repository_id = $1`;

/**
 * SQL that selects the open pull requests of the repository `$1` with these numbers, and those that share a SHA with one
 * of them, as head or test merge commit: a SHA that it had when it was last seen, or one of these.
 * @param numbers the parameter with the numbers, such as `$2`. @param shas the parameter with the SHAs.
 * @param merged the parameter with what heads merge, because a head may be the test merge commit of that head's pull
 *   request.
 */
export const sharersLastSeen = (numbers: string, shas: string, merged: string): string => `
  WITH told AS (
    SELECT known.* FROM unnest((SELECT ${numbers}::int[])) AS given (number)
    CROSS JOIN LATERAL (${numbered('given.number')}) known
  ), shared AS (
    SELECT unnest((SELECT ${shas}::text[])) AS sha UNION SELECT "headSha" FROM told UNION SELECT "mergeSha" FROM told
  ), sharing AS (
    SELECT unnest((SELECT ${numbers}::int[])) AS number
    UNION SELECT number FROM shared CROSS JOIN LATERAL (${pullRequestsAt('shared.sha', '$1')}) known
    UNION SELECT number FROM unnest((SELECT ${merged}::text[])) AS merge (head)
      CROSS JOIN LATERAL (${pullRequestsWithHead('merge.head', '$1')}) known
  )
  SELECT known.* FROM sharing CROSS JOIN LATERAL (${numbered('sharing.number')}) known`;

/**
 * The open pull request of the repository `$1` with a number. Each row before it asks once: `OFFSET 0` keeps the planner
 * from joining, for which it reads the whole repository as long as it has no statistics.
 */
const numbered = (number: string): string =>
  `SELECT ${lastSeenColumns} FROM open_pull_requests WHERE repository_id = $1 AND number = ${number} OFFSET 0`;

/**
 * The other open pull requests that share a SHA with this one, as head or test merge commit, now or when last seen.
 * @param about `numbers`: others that are asked for, each with those that share a SHA with it.
 */
export async function findSharers(
  sql: SqlTx,
  repositoryId: bigint,
  about: { number: number; numbers: number[]; shas: string[]; merges: string | null },
): Promise<LastSeen[]> {
  const { number, numbers, shas, merges } = about;
  const values = [repositoryId, [number, ...numbers], shas, merges === null ? [] : [merges]];
  const text = `${sharersLastSeen('$2', '$3', '$4')} ORDER BY known.number`;
  const rows = await sql.query<LastSeen>('find-sharers', text, values);
  return rows.filter((each) => each.number !== number);
}

/** The lowest number of the open pull requests that had this SHA as head or test merge commit when last seen. */
export async function numberAt(
  sql: Pick<Sql, 'read'>,
  repositoryId: bigint,
  sha: string,
): Promise<number | null> {
  const text = `SELECT min(number) AS number FROM (${pullRequestsAt('$2', '$1')}) known`;
  const [row] = await sql.read<{ number: number | null }>('number-at', text, [repositoryId, sha]);
  return row!.number;
}

/** An open pull request and the ids of the freezes that held it when it was judged, in the form of its row. */
export type SeenRow = {
  number: number;
  node_id: string;
  head_sha: string;
  title: string;
  author: string | null;
  added_lines: number | null;
  deleted_lines: number | null;
  /** Passing, failing and pending; empty while not known. */
  check_counts: number[];
  merge_sha: string | null;
  held_by: string[];
  changed_at: Date | null;
  base_ref: string | null;
  head_ref: string | null;
};

/** The size of a pull request, as GitHub said. */
export const sizeIn = (values: AttributeValues): Pick<SeenRow, 'added_lines' | 'deleted_lines'> => {
  const numberIn = (value: unknown) => (typeof value === 'number' ? value : null);
  return {
    added_lines: numberIn(values['added-lines']),
    deleted_lines: numberIn(values['deleted-lines']),
  };
};

/**
 * SQL of parts of a statement: `remembered` saves the open pull requests that the observation `$3` of the repository
 * `$1` saw, `gone` removes those that are no longer open, and `waits` notes since when and until when which freeze holds
 * each, as of `$4`. Every part sees the rows as they were before the statement.
 * @param seen the parameter with them, as `SeenRow`s. @param askAt when to ask GitHub about those that are newly held.
 * @param gone the numbers that are no longer open.
 */
export const rememberedAnd = (seen: string, askAt: string, gone: string): string => `
  remembered AS (
    INSERT INTO open_pull_requests AS known (repository_id, number, node_id, head_sha, title, author, added_lines, deleted_lines, check_counts,
      merge_sha, held_by, changed_at, head_since, base_ref, head_ref, observation, merge_state_due_at)
    SELECT $1, number, node_id, head_sha, title, author, added_lines, deleted_lines, check_counts,
      merge_sha, held_by, changed_at, changed_at, base_ref, head_ref, $3,
      CASE WHEN held_by <> '{}' THEN ${askAt}::timestamptz END
    FROM jsonb_to_recordset(${seen}::jsonb) AS seen(number int, node_id text, head_sha text, title text, author text,
      added_lines int, deleted_lines int, check_counts int[], merge_sha text, held_by uuid[], changed_at timestamptz, base_ref text, head_ref text)
    ON CONFLICT (repository_id, number) DO UPDATE SET
      node_id = excluded.node_id, head_sha = excluded.head_sha, title = excluded.title, author = excluded.author,
      added_lines = excluded.added_lines, deleted_lines = excluded.deleted_lines,
      check_counts = excluded.check_counts, merge_sha = excluded.merge_sha,
      held_by = excluded.held_by, base_ref = excluded.base_ref, head_ref = excluded.head_ref,
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
    RETURNING merge_state_due_at, head_sha, merge_sha
  ), gone AS (
    DELETE FROM open_pull_requests
    WHERE cardinality(${gone}::int[]) > 0 AND repository_id = $1 AND number = ANY(${gone}) AND observation < $3
  ), ${waits(seen, gone)}`;

/** In `moved` are the pull requests that a freeze holds from now on or no longer, each with the freezes before and now. */
const waits = (seen: string, gone: string): string => `
  moved AS MATERIALIZED (
    SELECT now.number, coalesce(was.held_by, '{}') AS before, now.held_by AS after, now.is_gone
    FROM (
      SELECT number, held_by, false AS is_gone
      FROM jsonb_to_recordset(${seen}::jsonb) AS seen(number int, held_by uuid[])
      UNION ALL SELECT number, '{}', true FROM unnest(${gone}::int[]) AS closed (number)
    ) now
    LEFT JOIN LATERAL (
      SELECT held_by, observation FROM open_pull_requests
      WHERE repository_id = $1 AND number = now.number OFFSET 0
    ) was ON true
    WHERE coalesce(was.observation < $3, true) AND (is_gone OR now.held_by <> coalesce(was.held_by, '{}'))
  ), begun AS (
    INSERT INTO freeze_waits AS wait (freeze_id, number, repository_id, since)
    SELECT held_by, number, $1, $4::timestamptz FROM moved CROSS JOIN unnest(after) AS held_by
    WHERE held_by <> ALL (before)
    ON CONFLICT (freeze_id, number) DO UPDATE SET since = excluded.since, until = NULL, closed_at = NULL
    WHERE wait.until IS NOT NULL
  ), ended AS (
    UPDATE freeze_waits wait SET until = coalesce(until, $4::timestamptz),
      seconds = seconds + CASE WHEN until IS NULL THEN greatest(0, extract(epoch FROM $4::timestamptz - since)) ELSE 0 END,
      closed_at = CASE WHEN is_gone THEN coalesce(closed_at, $4::timestamptz) ELSE closed_at END
    FROM moved
    WHERE wait.repository_id = $1 AND wait.number = moved.number AND freeze_id <> ALL (after)
      AND (until IS NULL OR (is_gone AND closed_at IS NULL))
  )`;

/** Asks GitHub soon whether the pull requests of a SHA are held, because another status was there for a while. */
export async function askSoon(
  deps: Pick<StatusDeps, 'db' | 'queue'>,
  repositoryId: bigint,
  sha: string,
  at: Date,
): Promise<void> {
  const where = { repositoryId, OR: [{ headSha: sha }, { mergeSha: sha }], mergeStateDueAt: { gt: at } };
  await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repositoryId);
    const { count } = await tx.openPullRequest.updateMany({ where, data: { mergeStateDueAt: at } });
    if (count > 0) await deps.queue.send([jobs.askMergeStates(repositoryId, at)], tx);
  });
}

/** The commits that no open pull request has any more: their statuses are not written. */
export const supersededBy = (lastSeen: LastSeen[], others: LastSeen[], openShas: Set<string>): string[] =>
  lastSeen
    .filter((each) => !others.includes(each))
    .flatMap(shasThen)
    .filter((sha) => !openShas.has(sha));
