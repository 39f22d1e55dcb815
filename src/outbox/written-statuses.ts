import type { Tx } from '../database/database.ts';

/** A status that we wrote, as GitHub took it. */
export type WrittenStatus = { state: string; description: string; at: Date };

/** So many are kept of a SHA. */
export const mostKept = 20;

/** The latest statuses that we wrote on a SHA, the newest first. `settle.ts` keeps them. */
export async function writtenStatuses(tx: Tx, repositoryId: bigint, sha: string): Promise<WrittenStatus[]> {
  return tx.writtenStatus.findMany({
    where: { repositoryId, sha },
    select: { state: true, description: true, at: true },
    orderBy: [{ at: 'desc' }, { id: 'desc' }],
    take: mostKept,
  });
}

/** Whether the last status that a SHA can have was written, which stays whatever freezes say. */
export async function isFinalOn(tx: Tx, repositoryId: bigint, sha: string): Promise<boolean> {
  const where = { repositoryId_sha: { repositoryId, sha } };
  return (await tx.headStatus.findUnique({ where, select: { isFinal: true } }))?.isFinal ?? false;
}
