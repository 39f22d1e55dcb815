import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { defineTask } from '../queue/define-task.ts';
import { type Job, jobs } from '../queue/jobs.ts';
import { recallFresh, readScannedUntil, saveLost, saveScannedUntil } from './delivery-store.ts';
import { type FailedDelivery, standInsOf } from './stand-ins.ts';

/** GitHub keeps deliveries for three days. In milliseconds, like all times here. */
const kept = 3 * 86_400_000;
/** A delivery only shows as failed after GitHub stops waiting for the answer. */
const overlap = 120_000;
const mostPages = 30;
/** How many jobs one transaction saves. A larger transaction could exceed its time limit. */
const batch = 100;

/**
 * Checks again what undelivered webhooks were about. Reads GitHub's list of failed deliveries since the last time. Counts
 * each delivery once and checks each repository once, no matter how many deliveries failed. If too many failed, checks
 * everything that the App has access to.
 * @throws GitHub's error while it cannot answer. The next sweep tries again.
 */
export async function recoverDeliveries(deps: Deps): Promise<void> {
  const now = nowOf(deps.clock);
  const oldest = new Date(now.getTime() - kept);
  const scanned = await readScannedUntil(deps.db);
  const since = scanned && scanned > oldest ? new Date(scanned.getTime() - overlap) : oldest;
  const { failed, isCut } = await listFailed(deps, since);
  // This includes deliveries that arrived later.
  const fresh = await recallFresh(deps.db, failed);
  const standIns = isCut && fresh.length > 0 ? lookAtAll(fresh) : await standInsOf(deps, fresh);
  for (let start = 0; start < standIns.length; start += batch) {
    const some = standIns.slice(start, start + batch);
    await deps.db.$transaction(async (tx) => {
      await saveLost(
        tx,
        some.flatMap(({ served }) => served),
        now,
      );
      await deps.queue.send(
        some.flatMap(({ jobs }) => jobs),
        tx,
      );
    });
  }
  await saveScannedUntil(deps.db, now);
  if (standIns.length > 0) {
    const counts = { deliveries: fresh.length, looks: standIns.length };
    deps.log.info(counts, 'webhook deliveries failed; checking what they were about');
  }
}

/** Reads every installation, and so reconciles every repository. */
function lookAtAll(served: FailedDelivery[]): { served: FailedDelivery[]; jobs: Job[] }[] {
  return [{ served, jobs: [jobs.syncInstallations()] }];
}

/** The failed deliveries since an instant, newest first as GitHub lists them. `isCut` if there are more. */
async function listFailed(deps: Deps, since: Date): Promise<{ failed: FailedDelivery[]; isCut: boolean }> {
  const app = await deps.github.asApp();
  const failed: FailedDelivery[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const { data, headers } = await app.request('GET /app/hook/deliveries', {
      status: 'failure',
      per_page: 100,
      cursor,
    });
    const recent = data.filter(({ delivered_at }) => new Date(delivered_at) >= since);
    failed.push(...recent);
    cursor = nextCursor(headers.link);
    if (recent.length < data.length || cursor === undefined) return { failed, isCut: false };
  }
  deps.log.warn({ deliveries: failed.length }, 'too many webhook deliveries failed; checking everything');
  return { failed, isCut: true };
}

function nextCursor(link: string | undefined): string | undefined {
  const url = /<([^>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
  return url === undefined ? undefined : (new URL(url).searchParams.get('cursor') ?? undefined);
}

export const recoverDeliveriesTask = defineTask(jobs.recoverDeliveries, recoverDeliveries);
