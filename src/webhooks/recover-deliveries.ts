import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { askBack, keepFailures, readScannedUntil, saveScannedUntil } from './redelivery-store.ts';
import { isGitHubStatus } from '../github/github-error.ts';

/** GitHub keeps deliveries for three days. Milliseconds, as all here. */
const kept = 3 * 86_400_000;
/** A delivery shows as failed only when GitHub has stopped waiting for the answer. */
const overlap = 120_000;
/** Requests are asked of one budget for the whole App: so many a minute at most. */
const mostAsked = 60;
const mostPages = 30;

/**
 * Has GitHub send again what it could not deliver: reads its list of failed deliveries since the last time, and asks
 * for each again, later each time, until it does not come back as failed.
 * @throws what GitHub throws while it cannot answer; the next sweep tries again.
 */
export async function recoverDeliveries(deps: Deps): Promise<void> {
  const now = nowOf(deps.clock);
  const oldest = new Date(now.getTime() - kept);
  const scanned = await readScannedUntil(deps.db);
  const since = scanned && scanned > oldest ? new Date(scanned.getTime() - overlap) : oldest;
  await scan(deps, since);
  await saveScannedUntil(deps.db, now);
  const app = await deps.github.asApp();
  await askBack(deps.db, now, mostAsked, async (deliveryId) => {
    try {
      // A string: these ids have outgrown what a number can hold.
      await app.request('POST /app/hook/deliveries/{delivery_id}/attempts', {
        delivery_id: String(deliveryId) as unknown as number,
      });
    } catch (error) {
      if (!isGitHubStatus(error, 404, 422)) throw error;
      deps.log.warn(
        { deliveryId: String(deliveryId), err: error },
        'GitHub has forgotten a webhook delivery',
      );
    }
  });
}

/** Keeps the failed deliveries since an instant, newest first as GitHub lists them. */
async function scan(deps: Deps, since: Date): Promise<void> {
  const app = await deps.github.asApp();
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const { data, headers } = await app.request('GET /app/hook/deliveries', {
      status: 'failure',
      per_page: 100,
      cursor,
    });
    const recent = data.filter(({ delivered_at }) => new Date(delivered_at) >= since);
    if (recent.length > 0) {
      const failures = recent.map(({ id, guid }) => ({ deliveryId: BigInt(id), guid }));
      const count = await keepFailures(deps.db, failures, nowOf(deps.clock));
      if (count > 0) deps.log.info({ count }, 'webhook deliveries failed; asking GitHub for them again');
    }
    cursor = nextCursor(headers.link);
    if (recent.length < data.length || cursor === undefined) return;
  }
  deps.log.warn({ pages: mostPages }, 'more webhook deliveries failed than are asked for again');
}

function nextCursor(link: string | undefined): string | undefined {
  const url = /<([^>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
  return url === undefined ? undefined : (new URL(url).searchParams.get('cursor') ?? undefined);
}
