import type { Need } from '../conditions/needs.ts';
import { type Job, jobs } from '../queue/jobs.ts';
import { handledEvents } from './handled-events.ts';
import { jobsOf, type WakeDeps } from './wake.ts';
import { readsOfEvent } from './wakes-of-event.ts';

/** A delivery in GitHub's list: what it was about, without the payload. */
export type FailedDelivery = {
  id: number | bigint;
  guid: string;
  event: string;
  action: string | null;
  repository_id: number | bigint | null;
  installation_id: number | bigint | null;
};

/** Jobs that do for failed deliveries what their arrival would have done. */
export type StandIn = {
  /** The deliveries that need not arrive any more. */
  served: FailedDelivery[];
  jobs: Job[];
};

/**
 * What no look can find afterwards: a merge of a pull request that no look saw open, a command in a comment, and a
 * person who took an authorization back. Their payloads are read from GitHub.
 */
const toRead = ['pull_request.closed', 'issue_comment.created', 'github_app_authorization.revoked'];
/** Of these at once, the newest first; what the rest was about is looked at. */
const mostRead = 200;

/** What stands in for failed deliveries: one look for each repository and installation that they name. */
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
    // It counts as arrived when its own jobs are saved.
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

/** The look at a repository; none where its events can only have changed what no present freeze reads. */
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
  const facts: Partial<Record<string, readonly Need[]>> = readsOfEvent;
  const reads = [...events].map((event) => facts[event]);
  if (reads.includes(undefined)) return [jobs.reconcileRepository(repositoryId)];
  return jobsOf(deps, [
    { to: 'repository', repositoryId, reads: reads.flatMap((each) => each!), isLater: false },
  ]);
}
