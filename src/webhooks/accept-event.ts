import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { isHandled } from './handled-events.ts';
import { jobsOf, type Wake } from './wake.ts';
import { type Own, wakesOf } from './wakes-of-event.ts';

const insertDelivery = `
  INSERT INTO webhook_deliveries (guid, event, received_at) VALUES ($3, $4, $5)
  ON CONFLICT DO NOTHING RETURNING guid`;

/** An event from GitHub with its raw payload. */
export type WebhookEvent = { guid: string; name: string; payload: object };

/**
 * Turns an event into durable jobs and saves them with its delivery in one statement. A known GUID changes nothing,
 * because GitHub keeps the GUID when it redelivers. If the statement fails, nothing is saved, so a redelivery works. Does
 * not use Probot's handlers, which create a client for each event.
 */
export async function acceptEvent(
  deps: Pick<Deps, 'db' | 'sql' | 'queue' | 'clock' | 'log' | 'ownWrites' | 'config'>,
  { guid, name, payload }: WebhookEvent,
): Promise<void> {
  if (!isHandled(name, payload)) return;
  const { queue, clock, log } = deps;
  const wakes = wakesOf[name as keyof typeof wakesOf] as (payload: unknown, own: Own) => Wake[];
  const jobs = await jobsOf(deps, wakes(payload, deps.config));
  const delivery = { guid, event: name };
  // Nothing depends on it, so we save nothing. Checks and pushes come in great numbers.
  if (jobs.length === 0) {
    log.debug(delivery, 'delivery of no consequence');
    return;
  }
  const values = [guid, name, nowOf(clock)];
  const isNew = await queue.sendAfter({ name: 'accept delivery', text: insertDelivery, values }, jobs);
  log.debug({ ...delivery, isNew, jobs: jobs.map(({ task, key }) => `${task} ${key}`) }, 'delivery accepted');
}
