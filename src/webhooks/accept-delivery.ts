import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { Job } from '../queue/jobs.ts';

/**
 * Saves a delivery and its jobs in one transaction. A GUID seen before changes nothing: GitHub keeps it when a
 * delivery is sent again. One whose transaction failed was never saved, so sending it again works.
 */
export async function acceptDelivery(
  deps: Pick<Deps, 'db' | 'queue' | 'clock' | 'log'>,
  delivery: { guid: string; event: string },
  jobs: Job[],
): Promise<void> {
  // Nothing waits on it, so it leaves no trace: checks and pushes come in great numbers.
  if (jobs.length === 0) {
    deps.log.debug(delivery, 'delivery of no consequence');
    return;
  }
  const isNew = await deps.db.$transaction(async (tx) => {
    const data = [{ ...delivery, receivedAt: nowOf(deps.clock) }];
    const { count } = await tx.webhookDelivery.createMany({ data, skipDuplicates: true });
    if (count === 0) return false;
    await deps.queue.send(jobs, tx);
    return true;
  });
  deps.log.debug(
    { ...delivery, isNew, jobs: jobs.map(({ task, key }) => `${task} ${key}`) },
    'delivery accepted',
  );
}
