import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { jobs } from '../queue/jobs.ts';
import type { Freeze } from './freeze.ts';

/**
 * Requests an observation of the repository now and at the future boundaries of the freeze. Runs in the transaction of the
 * change, so that a saved freeze will begin and end.
 */
export async function requestReconcile(
  deps: Pick<Deps, 'queue'>,
  tx: Tx,
  freeze: Freeze,
  now: Date,
): Promise<void> {
  const { repositoryId, startsAt, endsAt } = freeze;
  await tx.repository.update({ where: { id: repositoryId }, data: { reconcileRequestedAt: now } });
  const boundaries = [startsAt, endsAt].filter((at) => at !== null && at > now) as Date[];
  await deps.queue.send(
    [
      jobs.reconcileRepository(repositoryId),
      ...boundaries.map((at) => jobs.reconcileRepository(repositoryId, at)),
    ],
    tx,
  );
}

/** How many of these repositories wait for an observation that can happen. */
export const countRequested = (db: Tx, repositoryIds: bigint[]): Promise<number> =>
  db.repository.count({
    where: {
      id: { in: repositoryIds },
      reconcileRequestedAt: { not: null },
      installation: { deletedAt: null, suspendedAt: null },
    },
  });
