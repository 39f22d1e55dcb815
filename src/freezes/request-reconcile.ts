import type { Tx } from '../database/database.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { Freeze } from './freeze.ts';
import { nextBoundary } from './freeze-window.ts';
import type { FreezeDeps } from './freeze-deps.ts';

/**
 * Requests an observation of the repository now and at the future boundaries of the freeze, and a record of those. Runs in
 * the transaction of the change, so that a saved freeze will begin and end.
 * @param before the freeze before a change. If it began and nobody recorded that yet, it is still to be recorded.
 */
export async function requestReconcile(
  deps: Pick<FreezeDeps, 'queue'>,
  tx: Tx,
  freeze: Freeze,
  now: Date,
  before: Freeze | null = null,
): Promise<void> {
  const { id, repositoryId, startsAt, endsAt } = freeze;
  const boundary = nextBoundary(freeze, now);
  const staysToldUntil = before !== null && before.startsAt <= now && (endsAt === null || endsAt > now);
  await tx.$executeRaw`
    WITH told AS (
      UPDATE freezes SET next_told_at =
        CASE WHEN ${staysToldUntil} AND next_told_at <= starts_at THEN next_told_at ELSE ${boundary}::timestamptz END
      WHERE id = ${id}::uuid AND deleted_at IS NULL
    )
    UPDATE repositories SET reconcile_requested_at = ${now} WHERE id = ${repositoryId}`;
  const boundaries = [startsAt, endsAt].filter((at) => at !== null && at > now) as Date[];
  await deps.queue.send(
    [
      jobs.reconcileRepository(repositoryId),
      ...boundaries.map((at) => jobs.reconcileRepository(repositoryId, at)),
      ...(boundary ? [jobs.recordBoundaries(boundary)] : []),
    ],
    tx,
  );
}
