import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { refreshRepository } from '../queue/jobs.ts';
import type { Freeze } from './freeze.ts';

/**
 * Has the repository looked at now and at the freeze's boundaries to come. Part of the change's transaction: a
 * freeze that is saved will begin and end.
 */
export async function requestRefresh(
  deps: Pick<Deps, 'jobs'>,
  tx: Tx,
  freeze: Freeze,
  now: Date,
): Promise<void> {
  const { repositoryId, startsAt, endsAt } = freeze;
  await tx.repository.update({ where: { id: repositoryId }, data: { refreshRequestedAt: now } });
  const boundaries = [startsAt, endsAt].filter((at) => at !== null && at > now) as Date[];
  await deps.jobs.send(
    [refreshRepository(repositoryId), ...boundaries.map((at) => refreshRepository(repositoryId, at))],
    tx,
  );
}
