import type { Probot } from 'probot';
import type { Deps } from '../deps.ts';
import { type Job, refreshPullRequest, syncInstallation, syncRepository } from '../jobs/tasks.ts';
import { acceptDelivery } from './accept-delivery.ts';

// Events say what to look at again; what is true is read from GitHub by the job. So an event that is late,
// repeated or out of order does no harm.

type InstallationPayload = { installation: { id: number } };
type RepositoryPayload = { repository: { id: number }; installation?: { id: number } };
type PullRequestPayload = RepositoryPayload & { pull_request: { number: number } };

/** Every event that Holdfast acts on, and what it makes look again. `app.yml` subscribes to these. */
const jobsOf = {
  installation: ({ installation }: InstallationPayload) => [syncInstallation(BigInt(installation.id))],
  installation_repositories: ({ installation }: InstallationPayload) => [
    syncInstallation(BigInt(installation.id)),
  ],
  repository: ({ repository, installation }: RepositoryPayload) => [
    syncRepository(BigInt(repository.id), idOf(installation)),
  ],
  pull_request: pullRequestJobs,
  pull_request_review: pullRequestJobs,
} as const;

/** The actions that can change what we know. Others (`assigned`, `starred` …) are acknowledged and dropped. */
export const handledEvents = [
  'installation.created',
  'installation.deleted',
  'installation.suspend',
  'installation.unsuspend',
  'installation.new_permissions_accepted',
  'installation_repositories.added',
  'installation_repositories.removed',
  'repository.created',
  'repository.renamed',
  'repository.transferred',
  'repository.archived',
  'repository.unarchived',
  'repository.deleted',
  'repository.privatized',
  'repository.publicized',
  'pull_request.opened',
  'pull_request.reopened',
  'pull_request.closed',
  'pull_request.synchronize',
  'pull_request.edited',
  'pull_request.labeled',
  'pull_request.unlabeled',
  'pull_request.converted_to_draft',
  'pull_request.ready_for_review',
  'pull_request_review.submitted',
  'pull_request_review.dismissed',
] as const;

function pullRequestJobs({ repository, pull_request, installation }: PullRequestPayload): Job[] {
  return [refreshPullRequest(BigInt(repository.id), pull_request.number, idOf(installation))];
}

function idOf(installation: { id: number } | undefined): bigint | null {
  return installation ? BigInt(installation.id) : null;
}

/** Turns each handled event into durable jobs. */
export function registerWebhooks(probot: Probot, deps: Pick<Deps, 'db' | 'jobs' | 'clock' | 'log'>): void {
  probot.on([...handledEvents], async ({ id, name, payload }) => {
    const jobs = (jobsOf[name as keyof typeof jobsOf] as (payload: unknown) => Job[])(payload);
    await acceptDelivery(deps, { guid: id, event: name }, jobs);
  });
}
