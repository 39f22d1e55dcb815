import type { Tx } from '../database/database.ts';

// Which open pull requests have which head SHA. GitHub answers that for branches of the repository, not for forks.

type Head = { number: number; nodeId: string; headSha: string };

/** Makes a repository's index exactly this. */
export async function replaceOpenPullRequests(tx: Tx, repositoryId: bigint, heads: Head[]): Promise<void> {
  await tx.openPullRequest.deleteMany({ where: { repositoryId } });
  await tx.openPullRequest.createMany({ data: rows(repositoryId, heads) });
}

/** Adds or moves pull requests in the index. */
export async function rememberPullRequests(tx: Tx, repositoryId: bigint, heads: Head[]): Promise<void> {
  for (const row of rows(repositoryId, heads)) {
    const { number } = row;
    await tx.openPullRequest.upsert({
      where: { repositoryId_number: { repositoryId, number } },
      create: row,
      update: row,
    });
  }
}

/** Takes a pull request that is not open any more out of the index. */
export async function forgetPullRequest(tx: Tx, repositoryId: bigint, number: number): Promise<void> {
  await tx.openPullRequest.deleteMany({ where: { repositoryId, number } });
}

/**
 * Node ids of the other pull requests with this head SHA, or with the one that the pull request had when it was
 * last seen.
 */
export async function siblingsOf(
  tx: Tx,
  repositoryId: bigint,
  number: number,
  headSha: string | null,
): Promise<string[]> {
  const before = await tx.openPullRequest.findUnique({
    where: { repositoryId_number: { repositoryId, number } },
  });
  const shas = [headSha, before?.headSha].filter((sha) => typeof sha === 'string');
  const siblings = await tx.openPullRequest.findMany({
    where: { repositoryId, headSha: { in: shas }, number: { not: number } },
    orderBy: { number: 'asc' },
  });
  return siblings.map(({ nodeId }) => nodeId);
}

const rows = (repositoryId: bigint, heads: Head[]) =>
  heads.map(({ number, nodeId, headSha }) => ({ repositoryId, number, nodeId, headSha }));
