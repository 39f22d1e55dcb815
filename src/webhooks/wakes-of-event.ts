import {
  findBypass,
  type Job,
  refreshMergeQueue,
  refreshPullRequest,
  syncInstallation,
  syncRepository,
} from '../jobs/tasks.ts';
import { branchOfRef } from '../merge-queue/merge-group-ref.ts';
import type { Payloads } from './payloads.ts';
import type { Wake } from './wake.ts';

// Events say what to look at again; what is true is read from GitHub by the job. So an event that is late,
// repeated or out of order does no harm.

type InRepository = Payloads['repository'];
type InOrganization = Payloads['organization'];
type PullRequestPayload = Payloads['pull_request_review']['pull_request'];

/** Every event that Holdfast acts on, and what it makes look again. `app.yml` subscribes to these. */
export const wakesOf: { [Event in keyof Payloads]: (payload: Payloads[Event], own: Own) => Wake[] } = {
  installation: ({ installation }) => always(syncInstallation(BigInt(installation.id))),
  installation_repositories: ({ installation }) => always(syncInstallation(BigInt(installation.id))),
  repository: ({ repository, installation }) =>
    always(syncRepository(BigInt(repository.id), idOf(installation))),
  pull_request: (payload) => {
    const refresh = refreshOf(payload);
    if (payload.action !== 'closed' || payload.pull_request.merged !== true) return always(refresh);
    const { repository: place, pull_request } = payload;
    return [
      ...always(refresh, findBypass(BigInt(place.id), pull_request.number)),
      // Others may say that they depend on it.
      { to: 'account', accountId: BigInt(place.owner.id), reads: ['dependencies'] },
    ];
  },
  merge_group: ({ action, merge_group: group, repository: place, installation }) => {
    const told = {
      headSha: group.head_sha,
      headRef: group.head_ref,
      isGone: action === 'destroyed',
      installationId: installation && String(installation.id),
    };
    return always(refreshMergeQueue(BigInt(place.id), branchOfRef(group.base_ref), told));
  },
  pull_request_review: (payload) => always(refreshOf(payload)),
  pull_request_review_comment: threads,
  pull_request_review_thread: threads,
  label: (payload) => repository(payload, ['labels']),
  milestone: (payload) => repository(payload, ['milestone']),
  check_run: (payload) => head(payload, payload.check_run.head_sha, ['checks', 'required-checks']),
  // Under our own context: somebody may have overwritten what we say. No condition reads it.
  status: (payload, own) =>
    payload.context.toLowerCase() === own.statusContext.toLowerCase()
      ? [ownStatus(payload)]
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

const always = (...jobs: Job[]): Wake[] => [{ to: 'jobs', jobs }];

function ownStatus({ repository: place, sha, id, state, description, sender }: Payloads['status']): Wake {
  const written = {
    id: String(id),
    state,
    description: description ?? '',
    by: sender.login,
    byId: sender.id,
  };
  return { to: 'own-status', repositoryId: BigInt(place.id), sha, written };
}

const refreshOf = (payload: InRepository & { pull_request: PullRequestPayload }): Job =>
  refreshPullRequest(BigInt(payload.repository.id), {
    number: payload.pull_request.number,
    nodeId: payload.pull_request.node_id,
    changedAt: payload.pull_request.updated_at,
    installationId: payload.installation ? String(payload.installation.id) : null,
  });

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
