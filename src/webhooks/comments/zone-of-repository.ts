import type { Tx } from '../../database/database.ts';

/** The zone for times without a zone: that of the newest freeze of the repository, else UTC. */
export async function zoneOfRepository(tx: Tx, repositoryId: bigint): Promise<string> {
  const last = await tx.freeze.findFirst({
    where: { repositoryId },
    orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    select: { timezone: true },
  });
  return last?.timezone ?? 'UTC';
}
