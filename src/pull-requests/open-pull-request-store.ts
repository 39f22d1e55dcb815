import type { Tx } from '../database/database.ts';

// Which open pull requests have which head SHA. GitHub answers that for branches of the repository, not for forks.

/** An open pull request, and the ids of the freezes that held it when it was judged. */
export type JudgedHead = {
  number: number;
  nodeId: string;
  headSha: string;
  heldBy: string[];
  /** By GitHub's clock. */
  changedAt: Date | null;
};

/**
 * Adds or moves pull requests in the index, except where a later reading has seen them already.
 * @param askAt when to ask GitHub whether it would merge those that are held and new, or changed since it was asked.
 * @returns whether there are such.
 */
export async function rememberPullRequests(
  tx: Tx,
  repositoryId: bigint,
  heads: JudgedHead[],
  reading: bigint,
  askAt: Date,
): Promise<boolean> {
  const rows = await tx.$queryRaw<{ dueAt: Date | null }[]>`
    INSERT INTO open_pull_requests AS known (repository_id, number, node_id, head_sha, held_by, changed_at, reading,
      merge_state_due_at)
    SELECT ${repositoryId}, number, node_id, head_sha, held_by::uuid[], changed_at, ${reading},
      CASE WHEN held_by <> '{}' THEN ${askAt}::timestamptz END FROM unnest(
      ${heads.map(({ number }) => number)}::int[],
      ${heads.map(({ nodeId }) => nodeId)}::text[],
      ${heads.map(({ headSha }) => headSha)}::text[],
      ${heads.map(({ heldBy }) => `{${heldBy.join(',')}}`)}::text[],
      ${heads.map(({ changedAt }) => changedAt)}::timestamptz[]
    ) AS head(number, node_id, head_sha, held_by, changed_at)
    ON CONFLICT (repository_id, number) DO UPDATE SET
      node_id = excluded.node_id, head_sha = excluded.head_sha, held_by = excluded.held_by,
      changed_at = greatest(known.changed_at, excluded.changed_at), reading = excluded.reading,
      merge_state_due_at = CASE WHEN (excluded.head_sha, excluded.held_by) = (known.head_sha, known.held_by)
        AND coalesce(excluded.changed_at <= known.changed_at, true) THEN known.merge_state_due_at
        ELSE excluded.merge_state_due_at END,
      merge_state = CASE WHEN excluded.head_sha = known.head_sha AND excluded.held_by <> '{}' THEN known.merge_state END,
      merge_state_asks = CASE WHEN excluded.head_sha = known.head_sha THEN known.merge_state_asks ELSE 0 END,
      leaking_since = CASE WHEN excluded.head_sha = known.head_sha AND excluded.held_by <> '{}'
        THEN known.leaking_since END
    WHERE known.reading < excluded.reading
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
  reading: bigint,
): Promise<LastSeen[]> {
  return tx.$queryRaw<LastSeen[]>`
    SELECT known.number, known.node_id AS "nodeId", known.changed_at AS "changedAt" FROM open_pull_requests known
    LEFT JOIN unnest(
      ${shown.map(({ number }) => number)}::int[],
      ${shown.map(({ changedAt }) => changedAt)}::timestamptz[]
    ) AS shown(number, changed_at) ON shown.number = known.number
    WHERE known.repository_id = ${repositoryId} AND known.reading < ${reading}
      AND (${asked}::int[] IS NULL OR known.number = ANY(${asked}::int[]))
      AND (shown.number IS NULL OR shown.changed_at < known.changed_at)
    ORDER BY known.number`;
}

/**
 * Takes out what neither this reading, which saw every open pull request, nor a later one has seen.
 * @returns their numbers: they were closed or merged, and no webhook told of it yet.
 */
export async function forgetUnseen(tx: Tx, repositoryId: bigint, reading: bigint): Promise<number[]> {
  const rows = await tx.$queryRaw<{ number: number }[]>`
    DELETE FROM open_pull_requests WHERE repository_id = ${repositoryId} AND reading < ${reading} RETURNING number`;
  return rows.map(({ number }) => number);
}

/** Takes pull requests that are not open any more out of the index. */
export async function forgetPullRequests(
  tx: Tx,
  repositoryId: bigint,
  numbers: number[],
  reading: bigint,
): Promise<void> {
  await tx.openPullRequest.deleteMany({
    where: { repositoryId, number: { in: numbers }, reading: { lt: reading } },
  });
}

/**
 * The head SHAs that pull requests have and had when they were last seen, and the node ids of the other pull requests
 * with one of them.
 * @param heads the SHA is null for one that is gone.
 */
export async function siblingsOf(
  tx: Tx,
  repositoryId: bigint,
  heads: { number: number; headSha: string | null }[],
): Promise<{ shas: Set<string>; nodeIds: string[] }> {
  const numbers = heads.map(({ number }) => number);
  const before = await tx.openPullRequest.findMany({ where: { repositoryId, number: { in: numbers } } });
  const shas = new Set([...heads, ...before].flatMap(({ headSha }) => headSha ?? []));
  const siblings = await tx.openPullRequest.findMany({
    where: { repositoryId, headSha: { in: [...shas] }, number: { notIn: numbers } },
    orderBy: { number: 'asc' },
  });
  return { shas, nodeIds: siblings.map(({ nodeId }) => nodeId) };
}

/** The numbers of the open pull requests that had this head SHA when they were last seen. */
export async function numbersAt(tx: Tx, repositoryId: bigint, headSha: string): Promise<number[]> {
  const rows = await tx.openPullRequest.findMany({
    where: { repositoryId, headSha },
    orderBy: { number: 'asc' },
  });
  return rows.map(({ number }) => number);
}
