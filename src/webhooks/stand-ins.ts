import { type Job, jobs } from '../queue/jobs.ts';
import { handledEvents } from './handled-events.ts';
import { jobsOf, type WakeDeps } from './wake.ts';
import { readsOfEvent } from '../github/facts/attribute-groups.ts';

/** A delivery in GitHub's list, without the payload. */
export type FailedDelivery = {
  id: number | bigint;
  guid: string;
  event: string;
  action: string | null;
  repository_id: number | bigint | null;
  installation_id: number | bigint | null;
};

/** Jobs that replace failed deliveries. */
export type StandIn = {
  /** The deliveries that are replaced. */
  served: FailedDelivery[];
  jobs: Job[];
};

/**
 * Events that no observation can find afterwards: the merge of a pull request that we never saw open, a command in a
 * comment, and a revoked authorization. We read their payloads from GitHub.
 */
const toRead = ['pull_request.closed', 'issue_comment.created', 'github_app_authorization.revoked'];
/** How many of these we read at once, newest first. For the rest, we reconcile the repository. */
const mostRead = 200;

/** Replaces failed deliveries: one job for each repository and installation that they name. */
export async function standInsOf(deps: WakeDeps, failed: FailedDelivery[]): Promise<StandIn[]> {
  const handled = failed.filter((delivery) =>
    (handledEvents as readonly string[]).includes(nameOf(delivery)),
  );
  const read = handled.filter((delivery) => toRead.includes(nameOf(delivery))).slice(0, mostRead);
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

const nameOf = ({ event, action }: FailedDelivery): string => (action ? `${event}.${action}` : event);

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
