import type { Deps } from '../deps.ts';
import { isGitHubStatus } from '../github/github-error.ts';
import { acceptEvent } from './accept-event.ts';
import { defineTask } from '../queue/define-task.ts';
import { jobs } from '../queue/jobs.ts';

/**
 * Handles a failed delivery from GitHub's copy as if it had arrived.
 * @param deliveryId a string, because these ids are too large for a number.
 * @throws GitHub's error while it cannot answer. The job queue tries again.
 */
export async function readDelivery(deps: Deps, deliveryId: string): Promise<void> {
  const app = await deps.github.asApp();
  try {
    const { data } = await app.request('GET /app/hook/deliveries/{delivery_id}', {
      delivery_id: deliveryId as unknown as number,
    });
    const { guid, event: name, request } = data;
    await acceptEvent(deps, { guid, name, payload: request.payload ?? {} });
  } catch (error) {
    if (!isGitHubStatus(error, 404)) throw error;
    deps.log.warn({ deliveryId, err: error }, 'GitHub has forgotten a webhook delivery');
  }
}

export const readDeliveryTask = defineTask(jobs.readDelivery, (deps, { deliveryId }) =>
  readDelivery(deps, deliveryId),
);
