import type { Tx } from '../database/database.ts';

/** A status that we wrote, as GitHub accepted it. */
export type WrittenStatus = { state: string; description: string; at: Date };

/** How many statuses of a SHA we keep. */
export const mostKept = 20;

/** The latest statuses that we wrote on a SHA, newest first. `settle.ts` saves them. */
export async function writtenStatuses(tx: Tx, repositoryId: bigint, sha: string): Promise<WrittenStatus[]> {
  return tx.writtenStatus.findMany({
    where: { repositoryId, sha },
    select: { state: true, description: true, at: true },
    orderBy: [{ at: 'desc' }, { id: 'desc' }],
    take: mostKept,
  });
}

/** Whether the last possible status of a SHA was written. It stays, even after the freeze. */
export async function isFinalOn(tx: Tx, repositoryId: bigint, sha: string): Promise<boolean> {
  const where = { repositoryId_sha: { repositoryId, sha } };
  return (await tx.headStatus.findUnique({ where, select: { isFinal: true } }))?.isFinal ?? false;
}
