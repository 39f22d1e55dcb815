import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import type { Status } from './status.ts';
import type { StatusList } from './list-statuses.ts';
import { markNotHeld } from './not-held.ts';
import { isFull } from './status-budget.ts';

/**
 * What follows when GitHub refuses a status for good: its commit is gone, or has had all its statuses. It is not tried
 * again until a look decides anew. A status that must hold, where nothing that stands there does, is never dropped
 * quietly: its head counts as not held.
 * @param list what stands there; null where that is not known.
 * @param why GitHub's words.
 */
export async function refuseStatus(
  deps: Deps,
  repository: Omit<FoundRepository, 'installation'>,
  head: HeadStatus,
  wanted: Status,
  list: StatusList | null,
  why: string,
): Promise<void> {
  const { repositoryId, sha, observation } = head;
  const newest = list?.statuses[0];
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    // Also where the verdict changed meanwhile, what is found out about the commit is kept.
    await tx.headStatus.updateMany({
      where: { repositoryId, sha },
      data: {
        ...(newest && { writtenState: newest.state, writtenDescription: newest.description }),
        ...(list?.count && isFull(list.count) && { isFinal: true }),
        contradictedBy: null,
      },
    });
    const { count } = await tx.headStatus.updateMany({
      where: { repositoryId, sha, observation },
      data: { isWaiting: false, waitingSince: null, attempts: 0, notBefore: now },
    });
    if (count === 0 || head.state === 'success') return;
    if (newest && newest.state !== 'success') {
      await tx.headStatus.updateMany({ where: { repositoryId, sha }, data: { notHeld: null } });
      return;
    }
    const metadata = { sha, state: wanted.state, description: wanted.description, why };
    await markNotHeld(deps, tx, repository, head, { type: 'freeze_status.refused', metadata }, null);
  });
}
