import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { Job } from '../queue/jobs.ts';

const insertDelivery = `
  INSERT INTO webhook_deliveries (guid, event, received_at) VALUES ($3, $4, $5)
  ON CONFLICT DO NOTHING RETURNING guid`;

/**
 * Saves a delivery and its jobs in one statement. A GUID seen before changes nothing: GitHub keeps it when a delivery
 * is sent again. One whose statement failed was never saved, so sending it again works.
 */
export async function acceptDelivery(
  { queue, clock, log }: Pick<Deps, 'queue' | 'clock' | 'log'>,
  delivery: { guid: string; event: string },
  jobs: Job[],
): Promise<void> {
  // Nothing waits on it, so it leaves no trace: checks and pushes come in great numbers.
  if (jobs.length === 0) {
    log.debug(delivery, 'delivery of no consequence');
    return;
  }
  const values = [delivery.guid, delivery.event, nowOf(clock)];
  const isNew = await queue.sendAfter({ name: 'accept delivery', text: insertDelivery, values }, jobs);
  log.debug({ ...delivery, isNew, jobs: jobs.map(({ task, key }) => `${task} ${key}`) }, 'delivery accepted');
}
