import type { Tx } from '../database/database.ts';

/** A status that we wrote, as GitHub took it. */
export type WrittenStatus = { state: string; description: string; at: Date };

/** So many are kept of a SHA. */
export const mostKept = 20;

/** The latest statuses that we wrote on a SHA, the newest first. `post-statuses.ts` keeps them. */
export async function writtenStatuses(tx: Tx, repositoryId: bigint, sha: string): Promise<WrittenStatus[]> {
  return tx.writtenStatus.findMany({
    where: { repositoryId, sha },
    select: { state: true, description: true, at: true },
    orderBy: { id: 'desc' },
    take: mostKept,
  });
}
