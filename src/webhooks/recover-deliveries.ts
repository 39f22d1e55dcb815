import { nowOf } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import { isGitHubStatus } from '../github/github-error.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { type Job, jobs } from '../database/queue/jobs.ts';
import { acceptEvent, jobsOf, type WakeDeps } from './accept-event.ts';
import { ownerIn } from './owner-events.ts';
import { isHandled } from './handled-events.ts';
import { readsOfEvent } from '../github/facts/attribute-groups.ts';

/** For how long GitHub lists deliveries. In milliseconds, like all times here. */
const listedFor = 3 * 86_400_000;
/** A delivery only shows as failed after GitHub stops waiting for the answer. */
const overlap = 120_000;
const mostPagesOfDeliveries = 30;
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
  const oldest = new Date(now.getTime() - listedFor);
  const scan = await deps.db.deliveryScan.findUnique({ where: { id: 1 } });
  const isRecent = scan !== null && scan.scannedUntil > oldest;
  const since = isRecent ? new Date(scan.scannedUntil.getTime() - overlap) : oldest;
  const { failed, isCut } = await listFailed(deps, since);
  // This includes deliveries that arrived later.
  const fresh = await withoutJobs(deps, failed);
  noteRefused(deps, fresh);
  // Reading every installation reconciles every repository.
  const all = { served: fresh, jobs: [jobs.syncInstallations()] };
  const standIns: StandIn[] = isCut && fresh.length > 0 ? [all] : await standInsOf(deps, fresh);
  for (let start = 0; start < standIns.length; start += batch) {
    const some = standIns.slice(start, start + batch);
    await deps.db.$transaction(async (tx) => {
      const lost = some.flatMap(({ served }) => served);
      await tx.webhookDelivery.createMany({
        data: lost.map(({ guid, event }) => ({ guid, event, receivedAt: now, isLost: true })),
        skipDuplicates: true,
      });
      const replacing = some.flatMap(({ jobs }) => jobs);
      await deps.queue.send(replacing, tx);
    });
  }
  const scanned = { scannedUntil: now };
  await deps.db.deliveryScan.upsert({ where: { id: 1 }, create: scanned, update: scanned });
  if (standIns.length > 0) {
    const counts = { deliveries: fresh.length, looks: standIns.length };
    deps.log.info(counts, 'webhook deliveries failed; checking what they were about');
  }
}

/** Tells of what GitHub could not deliver: only GitHub's own list shows that a wrong signature is not a stranger's. */
function noteRefused({ metrics, log }: Pick<Deps, 'metrics' | 'log'>, failed: FailedDelivery[]): void {
  const refused = failed.filter(({ status_code }) => status_code === 401);
  metrics.countUndelivered(failed.length, refused.length);
  if (refused.length > 0)
    log.error(
      { deliveries: refused.length },
      'GitHub’s webhooks are refused: WEBHOOK_SECRET differs from the secret in the App’s settings',
    );
}

/** The failed deliveries without jobs, each once: the first one in the list. */
async function withoutJobs({ db }: Deps, failed: FailedDelivery[]): Promise<FailedDelivery[]> {
  const byGuid = new Map<string, FailedDelivery>();
  for (const delivery of failed) if (!byGuid.has(delivery.guid)) byGuid.set(delivery.guid, delivery);
  const known = await db.webhookDelivery.findMany({
    where: { guid: { in: [...byGuid.keys()] } },
    select: { guid: true },
  });
  for (const { guid } of known) byGuid.delete(guid);
  return [...byGuid.values()];
}

/** The failed deliveries since an instant, newest first as GitHub lists them. `isCut` if there are more. */
async function listFailed(deps: Deps, since: Date): Promise<{ failed: FailedDelivery[]; isCut: boolean }> {
  const app = await deps.github.asApp();
  const failed: FailedDelivery[] = [];
  const asked = { status: 'failure', per_page: 100 } as const;
  let pages = 0;
  for await (const { data, headers } of app.paginate.iterator('GET /app/hook/deliveries', asked)) {
    const recent = data.filter(({ delivered_at }) => new Date(delivered_at) >= since);
    failed.push(...recent);
    if (recent.length < data.length) break;
    if (++pages < mostPagesOfDeliveries || !headers.link?.includes('rel="next"')) continue;
    deps.log.warn({ deliveries: failed.length }, 'too many webhook deliveries failed; checking everything');
    return { failed, isCut: true };
  }
  return { failed, isCut: false };
}

export const recoverDeliveriesTask = defineTask(jobs.recoverDeliveries, recoverDeliveries);

/** A delivery in GitHub's list, without the payload. */
type FailedDelivery = {
  id: number | bigint;
  guid: string;
  status_code: number;
  event: string;
  action: string | null;
  repository_id: number | bigint | null;
  installation_id: number | bigint | null;
};

/** Jobs that replace failed deliveries. */
type StandIn = {
  /** The deliveries that are replaced. */
  served: FailedDelivery[];
  jobs: Job[];
};

/**
 * Events that no observation can find afterwards: the merge of a pull request that we never saw open, a deployment that
 * waits for us, a revoked authorization, and a command in a comment or in the text of a review. We read their payloads from
 * GitHub, those that say the most first.
 */
const toRead = [
  'pull_request.closed',
  'deployment_protection_rule.requested',
  'github_app_authorization.revoked',
  'issue_comment.created',
  'pull_request_review.submitted',
];
/** How many of these we read at once, of each kind the newest first. For the rest, we reconcile the repository. */
const mostRead = 200;

/** Replaces failed deliveries: one job for each repository and installation that they name. */
async function standInsOf(deps: WakeDeps, failed: FailedDelivery[]): Promise<StandIn[]> {
  const handled = failed.filter(({ event, action }) => isHandled(event, { action }));
  const byName = Map.groupBy(handled, nameOfDelivery);
  const read = toRead.flatMap((name) => byName.get(name) ?? []).slice(0, mostRead);
  const rest = handled.filter((delivery) => !read.includes(delivery));
  const inRepositories = Map.groupBy(
    rest.filter(({ repository_id: id }) => id !== null),
    ({ repository_id: id }) => BigInt(id!),
  );
  const inInstallations = Map.groupBy(
    rest.filter(({ repository_id: place, installation_id: id }) => place === null && id !== null),
    ({ installation_id: id }) => BigInt(id!),
  );
  const known = await deps.db.repository.findMany({
    where: { id: { in: [...inRepositories.keys()] }, installationId: { not: null } },
    select: { id: true },
  });
  const knownIds = new Set(known.map(({ id }) => id));
  const standIns: StandIn[] = read.map((delivery) => ({
    // A delivery counts as arrived when its own jobs are saved.
    served: [],
    jobs: [jobs.readDelivery(String(delivery.id), delivery.guid)],
  }));
  for (const [id, served] of inInstallations) standIns.push({ served, jobs: [jobs.syncInstallation(id)] });
  for (const [id, served] of inRepositories) {
    standIns.push({ served, jobs: await lookAt(deps, id, served, knownIds.has(id)) });
  }
  return standIns;
}

const nameOfDelivery = ({ event, action }: FailedDelivery): string => (action ? `${event}.${action}` : event);

/** The job for a repository; none if its events can only change facts that no current freeze reads. */
async function lookAt(
  deps: WakeDeps,
  repositoryId: bigint,
  failed: FailedDelivery[],
  isKnown: boolean,
): Promise<Job[]> {
  const events = new Set(failed.map(({ event }) => event));
  if (!isKnown || events.has('repository')) {
    const through = failed.find(({ installation_id: id }) => id !== null)?.installation_id;
    return [jobs.syncRepository(repositoryId, through === undefined ? null : BigInt(through!))];
  }
  const reads = [...events].map(readsOfEvent);
  if (reads.some((facts) => facts.length === 0)) return [jobs.reconcileRepository(repositoryId)];
  return jobsOf(deps, [{ to: 'repository', repositoryId, reads: reads.flat(), isLater: false }]);
}

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
    const payload = request.payload ?? {};
    await acceptEvent(deps, { guid, name, payload, owner: ownerIn(payload) });
  } catch (error) {
    if (!isGitHubStatus(error, 404)) throw error;
    deps.log.warn({ deliveryId, err: error }, 'GitHub has forgotten a webhook delivery');
  }
}

export const readDeliveryTask = defineTask(jobs.readDelivery, (deps: Deps, { deliveryId }) =>
  readDelivery(deps, deliveryId),
);
