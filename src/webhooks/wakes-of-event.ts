import { type Job, refreshPullRequest, syncInstallation, syncRepository } from '../jobs/tasks.ts';
import type { Wake } from './wake.ts';

// Events say what to look at again; what is true is read from GitHub by the job. So an event that is late,
// repeated or out of order does no harm.

type Installed = { installation?: { id: number } };
type InRepository = Installed & { repository: { id: number } };
type InOrganization = Installed & { organization: { id: number } };

type Payloads = {
  installation: { installation: { id: number } };
  installation_repositories: { installation: { id: number } };
  repository: InRepository;
  pull_request: InRepository & {
    repository: { owner: { id: number } };
    action: string;
    pull_request: { number: number; merged?: boolean };
  };
  pull_request_review: InRepository & { pull_request: { number: number } };
  pull_request_review_comment: InRepository & { pull_request: { number: number } };
  pull_request_review_thread: InRepository & { pull_request: { number: number } };
  label: InRepository;
  milestone: InRepository;
  check_run: InRepository & { check_run: { head_sha: string } };
  status: InRepository & { sha: string; context: string };
  deployment_status: InRepository & { deployment: { sha: string } };
  push: InRepository & { ref: string };
  membership: InOrganization;
  team: InOrganization;
  organization: InOrganization;
};

/** Every event that Holdfast acts on, and what it makes look again. `app.yml` subscribes to these. */
export const wakesOf: { [Event in keyof Payloads]: (payload: Payloads[Event], own: Own) => Wake[] } = {
  installation: ({ installation }) => always(syncInstallation(BigInt(installation.id))),
  installation_repositories: ({ installation }) => always(syncInstallation(BigInt(installation.id))),
  repository: ({ repository, installation }) =>
    always(syncRepository(BigInt(repository.id), idOf(installation))),
  pull_request: (payload) => {
    const wakes = always(refreshOf(payload));
    // Others may say that they depend on it.
    const isMerge = payload.action === 'closed' && payload.pull_request.merged === true;
    const accountId = BigInt(payload.repository.owner.id);
    return isMerge ? [...wakes, { to: 'account', accountId, reads: ['dependencies'] }] : wakes;
  },
  pull_request_review: (payload) => always(refreshOf(payload)),
  pull_request_review_comment: threads,
  pull_request_review_thread: threads,
  label: (payload) => repository(payload, ['labels']),
  milestone: (payload) => repository(payload, ['milestone']),
  check_run: (payload) => head(payload, payload.check_run.head_sha, ['checks', 'required-checks']),
  // Ours says what we wrote, and no condition reads it.
  status: (payload, own) =>
    payload.context.toLowerCase() === own.statusContext.toLowerCase()
      ? []
      : head(payload, payload.sha, ['checks', 'required-checks']),
  // The former one of an environment becomes inactive without an event.
  deployment_status: (payload) => repository(payload, ['deployments']),
  // Whether a pull request conflicts or is behind changes with its base.
  push: (payload) =>
    payload.ref.startsWith('refs/heads/') ? repository(payload, ['conflict', 'behind'], true) : [],
  membership: teams,
  team: teams,
  organization: teams,
};

/** What of ourselves comes back in events. */
export type Own = { statusContext: string };

const always = (job: Job): Wake[] => [{ to: 'jobs', jobs: [job] }];

const refreshOf = (payload: InRepository & { pull_request: { number: number } }): Job =>
  refreshPullRequest(BigInt(payload.repository.id), payload.pull_request.number, idOf(payload.installation));

type Reads = Extract<Wake, { reads: unknown }>['reads'];

const repository = (payload: InRepository, reads: Reads, isLater = false): Wake[] => [
  { to: 'repository', repositoryId: BigInt(payload.repository.id), reads, isLater },
];

const head = (payload: InRepository, sha: string, reads: Reads): Wake[] => [
  {
    to: 'head',
    repositoryId: BigInt(payload.repository.id),
    sha,
    installationId: idOf(payload.installation),
    reads,
  },
];

function threads(payload: InRepository & { pull_request: { number: number } }): Wake[] {
  const { repository: place, pull_request, installation } = payload;
  const where = {
    repositoryId: BigInt(place.id),
    number: pull_request.number,
    installationId: idOf(installation),
  };
  return [{ to: 'pull-request', ...where, reads: ['review-threads'] }];
}

function teams({ organization }: InOrganization): Wake[] {
  return [{ to: 'account', accountId: BigInt(organization.id), reads: ['teams'] }];
}

function idOf(installation: { id: number } | undefined): bigint | null {
  return installation ? BigInt(installation.id) : null;
}
