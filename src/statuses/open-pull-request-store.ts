import type { Row, Sql, SqlTx } from '../database/sql.ts';
import { pullRequestsAt, pullRequestsWithHead, pullRequestsWithTestMerge } from './pull-requests-at.ts';

// Which open pull requests have which head SHA and which test merge commit. Several can share both. GitHub only answers
// the first question for branches of the repository, not for forks, and does not answer the second.

/** An open pull request as it was last seen. */
export type LastSeen = {
  number: number;
  nodeId: string;
  headSha: string;
  mergeSha: string | null;
  /** According to GitHub's clock. */
  changedAt: Date | null;
  /** The observation that saw it. */
  seenBy: bigint;
};

/** The columns of a `LastSeen`. */
export type LastSeenRow = Row & {
  number: number;
  node_id: string;
  head_sha: string;
  merge_sha: string | null;
  changed_at: Date | null;
  seen_by: bigint;
};

const columns = 'number, node_id, head_sha, merge_sha, changed_at, observation AS seen_by';

/** SQL that selects every open pull request of the repository `$1`. */
export const allLastSeen = `SELECT ${columns} FROM open_pull_requests WHERE repository_id = $1`;

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
    SELECT unnest((SELECT ${shas}::text[])) AS sha UNION SELECT head_sha FROM told UNION SELECT merge_sha FROM told
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
  `SELECT ${columns} FROM open_pull_requests WHERE repository_id = $1 AND number = ${number} OFFSET 0`;

export const lastSeenOf = (row: LastSeenRow): LastSeen => ({
  number: row.number,
  nodeId: row.node_id,
  headSha: row.head_sha,
  mergeSha: row.merge_sha,
  changedAt: row.changed_at,
  seenBy: row.seen_by,
});

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
  const rows = await sql.query<LastSeenRow>('find-sharers', text, values);
  return rows.map(lastSeenOf).filter((each) => each.number !== number);
}

type Reader = Pick<Sql, 'read'>;

/** The lowest number of the open pull requests that had this SHA as head or test merge commit when last seen. */
export async function numberAt(sql: Reader, repositoryId: bigint, sha: string): Promise<number | null> {
  const text = `SELECT min(number) AS number FROM (${pullRequestsAt('$2', '$1')}) known`;
  const [row] = await sql.read<{ number: number | null }>('number-at', text, [repositoryId, sha]);
  return row!.number;
}

/**
 * An open pull request for which a status on a SHA counts although we have no verdict there: the SHA is its test merge
 * commit, as last seen, or another commit that merges its head.
 * @param merges the head that the SHA merges; null if it merges none.
 */
export async function numberByTestMerge(
  sql: Reader,
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
