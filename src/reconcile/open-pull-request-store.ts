import type { Tx } from '../database/database.ts';

// Which open pull requests have which head SHA, and which test merge commit: both are SHAs that several can share.
// GitHub answers the first for branches of the repository, not for forks, and the second not at all.

/** An open pull request, and the ids of the freezes that held it when it was judged. */
export type JudgedHead = {
  number: number;
  nodeId: string;
  headSha: string;
  /** Its test merge commit; null where there is none or it is not known. */
  mergeSha: string | null;
  heldBy: string[];
  /** By GitHub's clock. */
  changedAt: Date | null;
};

/**
 * Adds or moves pull requests in the index, except where a later observation has seen them already.
 * @param askAt when to ask GitHub whether it would merge those that are held and new, or changed since it was asked.
 * @returns whether there are such.
 */
export async function rememberPullRequests(
  tx: Tx,
  repositoryId: bigint,
  heads: JudgedHead[],
  observation: bigint,
  askAt: Date,
): Promise<boolean> {
  const rows = await tx.$queryRaw<{ dueAt: Date | null }[]>`
    INSERT INTO open_pull_requests AS known (repository_id, number, node_id, head_sha, merge_sha, held_by, changed_at,
      observation, merge_state_due_at)
    SELECT ${repositoryId}, number, node_id, head_sha, merge_sha, held_by::uuid[], changed_at, ${observation},
      CASE WHEN held_by <> '{}' THEN ${askAt}::timestamptz END FROM unnest(
      ${heads.map(({ number }) => number)}::int[],
      ${heads.map(({ nodeId }) => nodeId)}::text[],
      ${heads.map(({ headSha }) => headSha)}::text[],
      ${heads.map(({ mergeSha }) => mergeSha)}::text[],
      ${heads.map(({ heldBy }) => `{${heldBy.join(',')}}`)}::text[],
      ${heads.map(({ changedAt }) => changedAt)}::timestamptz[]
    ) AS head(number, node_id, head_sha, merge_sha, held_by, changed_at)
    ON CONFLICT (repository_id, number) DO UPDATE SET
      node_id = excluded.node_id, head_sha = excluded.head_sha, merge_sha = excluded.merge_sha,
      held_by = excluded.held_by,
      changed_at = greatest(known.changed_at, excluded.changed_at), observation = excluded.observation,
      merge_state_due_at = CASE WHEN (excluded.head_sha, excluded.held_by) = (known.head_sha, known.held_by)
        AND coalesce(excluded.changed_at <= known.changed_at, true) THEN known.merge_state_due_at
        ELSE excluded.merge_state_due_at END,
      merge_state = CASE WHEN excluded.head_sha = known.head_sha AND excluded.held_by <> '{}' THEN known.merge_state END,
      merge_state_asks = CASE WHEN excluded.head_sha = known.head_sha THEN known.merge_state_asks ELSE 0 END,
      leaking_since = CASE WHEN excluded.head_sha = known.head_sha AND excluded.held_by <> '{}'
        THEN known.leaking_since END
    WHERE known.observation < excluded.observation
    RETURNING merge_state_due_at AS "dueAt"`;
  return rows.some(({ dueAt }) => dueAt?.getTime() === askAt.getTime());
}

/** A pull request, and when it had last changed when it was last seen. */
export type LastSeen = { number: number; nodeId: string; changedAt: Date | null };

/**
 * The pull requests of which more is known than an answer shows: GitHub's answers may be some seconds old. Asked
 * before what the answer shows is remembered.
 * @param asked the numbers that the answer is about; null: all that are open.
 * @param shown what it shows of them, closed ones too where it does.
 */
export async function findOutdated(
  tx: Tx,
  repositoryId: bigint,
  asked: number[] | null,
  shown: { number: number; changedAt: Date | null }[],
  observation: bigint,
): Promise<LastSeen[]> {
  return tx.$queryRaw<LastSeen[]>`
    SELECT known.number, known.node_id AS "nodeId", known.changed_at AS "changedAt" FROM open_pull_requests known
    LEFT JOIN unnest(
      ${shown.map(({ number }) => number)}::int[],
      ${shown.map(({ changedAt }) => changedAt)}::timestamptz[]
    ) AS shown(number, changed_at) ON shown.number = known.number
    WHERE known.repository_id = ${repositoryId} AND known.observation < ${observation}
      AND (${asked}::int[] IS NULL OR known.number = ANY(${asked}::int[]))
      AND (shown.number IS NULL OR shown.changed_at < known.changed_at)
    ORDER BY known.number`;
}

/**
 * Takes out what neither this observation, which saw every open pull request, nor a later one has seen.
 * @returns their numbers: they were closed or merged, and no webhook told of it yet.
 */
export async function forgetUnseen(tx: Tx, repositoryId: bigint, observation: bigint): Promise<number[]> {
  const rows = await tx.$queryRaw<{ number: number }[]>`
    DELETE FROM open_pull_requests WHERE repository_id = ${repositoryId} AND observation < ${observation} RETURNING number`;
  return rows.map(({ number }) => number);
}

/** Takes pull requests that are not open any more out of the index. */
export async function forgetPullRequests(
  tx: Tx,
  repositoryId: bigint,
  numbers: number[],
  observation: bigint,
): Promise<void> {
  await tx.openPullRequest.deleteMany({
    where: { repositoryId, number: { in: numbers }, observation: { lt: observation } },
  });
}

/** By what a pull request can meet others. The SHAs are null for one that is gone. */
export type Meeting = {
  number: number;
  headSha: string | null;
  mergeSha: string | null;
  /** What its head merges: where that is the test merge commit of another pull request, the head of that one. */
  headMerges: string | null;
};

/**
 * The SHAs that pull requests have and had when they were last seen, as heads and test merge commits, and the node ids
 * of the other pull requests with one of them. Also of those whose head a head of these merges: their test merge commit
 * may be another than when they were last seen, and no event tells of that.
 */
export async function siblingsOf(
  tx: Tx,
  repositoryId: bigint,
  meetings: Meeting[],
): Promise<{ shas: Set<string>; nodeIds: string[] }> {
  const numbers = meetings.map(({ number }) => number);
  const before = await tx.openPullRequest.findMany({ where: { repositoryId, number: { in: numbers } } });
  const both = [...meetings, ...before].flatMap(({ headSha, mergeSha }) => [headSha, mergeSha]);
  const shas = new Set(both.filter((sha) => sha !== null));
  const merged = meetings.flatMap(({ headMerges }) => headMerges ?? []);
  const siblings = await tx.openPullRequest.findMany({
    where: {
      repositoryId,
      number: { notIn: numbers },
      OR: [{ headSha: { in: [...shas, ...merged] } }, { mergeSha: { in: [...shas] } }],
    },
    orderBy: { number: 'asc' },
  });
  return { shas, nodeIds: siblings.map(({ nodeId }) => nodeId) };
}

/** The numbers of the open pull requests that had this SHA as head or test merge commit when they were last seen. */
export async function numbersAt(tx: Tx, repositoryId: bigint, sha: string): Promise<number[]> {
  const rows = await tx.openPullRequest.findMany({
    where: { repositoryId, OR: [{ headSha: sha }, { mergeSha: sha }] },
    orderBy: { number: 'asc' },
  });
  return rows.map(({ number }) => number);
}

/**
 * An open pull request that a status on a SHA counts for, although we have nothing to say there: its test merge commit,
 * as it was last seen, or another one that merges its head.
 */
export async function numberByTestMerge(
  tx: Tx,
  repositoryId: bigint,
  sha: string,
  merges: string | null,
): Promise<number | null> {
  const [found] = await tx.$queryRaw<{ number: number }[]>`
    SELECT number FROM open_pull_requests
    WHERE repository_id = ${repositoryId} AND (merge_sha = ${sha} OR head_sha = ${merges})
      AND NOT EXISTS (SELECT 1 FROM head_statuses WHERE repository_id = ${repositoryId} AND sha = ${sha})
    ORDER BY number LIMIT 1`;
  return found?.number ?? null;
}
