import { commandLine } from './commands/command.ts';
import { type Job, jobs } from '../database/queue/jobs.ts';
import { readsOfEvent } from '../github/facts/attribute-groups.ts';
import { branchOfRef } from '../github/merge-group-ref.ts';
import type { Payloads } from './handled-events.ts';
import type { Wake } from './accept-event.ts';

// Events only say what to check again. The job reads the facts from GitHub. So late, repeated or unordered events do no
// harm.

type InRepository = Payloads['repository'];
type InOrganization = Payloads['organization'];
type PullRequestPayload = Payloads['pull_request_review']['pull_request'];

/**
 * Every event that Holdfast handles, and what it checks again. `app.yml` subscribes to those that GitHub does not always
 * send.
 */
export const wakesOf: { [Event in keyof Payloads]: (payload: Payloads[Event], own: Own) => Wake[] } = {
  installation: ({ installation }) => always(jobs.syncInstallation(BigInt(installation.id))),
  installation_repositories: ({ installation }) => always(jobs.syncInstallation(BigInt(installation.id))),
  // A person revokes the authorization of the App: their sessions end.
  github_app_authorization: ({ sender }) => always(jobs.endSessions(sender.id)),
  repository: ({ repository, installation }) =>
    always(jobs.syncRepository(BigInt(repository.id), installation ? BigInt(installation.id) : null)),
  pull_request: (payload) => {
    const reconcile = pullRequestJob(payload);
    // The whole stack is new, and GitHub may say so of one of its pull requests alone.
    if (payload.action === 'stacked') return always(jobs.reconcileRepository(BigInt(payload.repository.id)));
    if (payload.action !== 'closed' || payload.pull_request.merged !== true) return always(reconcile);
    const { repository: place, pull_request } = payload;
    return [
      ...always(reconcile, jobs.findBypass(BigInt(place.id), pull_request.number)),
      // Others may say that they depend on it.
      { to: 'account', accountId: BigInt(place.owner.id), reads: ['dependencies'] },
    ];
  },
  issue_comment: commands,
  merge_group: ({ action, merge_group: group, repository: place, installation }) => {
    const change = {
      headSha: group.head_sha,
      headRef: group.head_ref,
      isGone: action === 'destroyed',
      installationId: installation && String(installation.id),
    };
    return always(jobs.reconcileMergeQueue(BigInt(place.id), branchOfRef(group.base_ref), change));
  },
  pull_request_review: (payload) => always(pullRequestJob(payload)),
  pull_request_review_comment: threads,
  pull_request_review_thread: threads,
  label: (payload) => repository(payload, readsOfEvent('label')),
  milestone: (payload) => repository(payload, readsOfEvent('milestone')),
  check_run: (payload) => head(payload, payload.check_run.head_sha, readsOfEvent('check_run')),
  // With our own context: somebody may have overwritten our status. No condition reads it.
  status: (payload, own) =>
    payload.context.toLowerCase() === own.statusContext.toLowerCase()
      ? [ownStatus(payload)]
      : head(payload, payload.sha, readsOfEvent('check_run')),
  deployment_status: (payload) => [
    ...repository(payload, readsOfEvent('deployment_status')),
    ...runOfDeployment(payload),
  ],
  deployment_protection_rule: ({ repository: place, environment, installation, ...payload }, own) => {
    const runId = runOfCallback(payload.deployment_callback_url, place.full_name, own);
    if (runId === null) return [];
    return always(jobs.lookAtRun(BigInt(place.id), runId, environment, idOf(installation)));
  },
  push: (payload) => {
    const { ref, deleted, repository: place } = payload;
    if (!ref.startsWith('refs/heads/')) return [];
    // It may have been renamed. Pull requests into it then have another base, and GitHub does not always say so of them.
    if (deleted) return [{ to: 'base', repositoryId: BigInt(place.id), branch: branchOfRef(ref) }];
    return repository(payload, readsOfEvent('push'), true);
  },
  membership: (payload) => teams(payload),
  team: (payload) => teams(payload),
  organization: (payload) => teams(payload),
};

/** Our own names in events. */
export type Own = { statusContext: string; githubApiUrl: string };

const always = (...jobs: Job[]): Wake[] => [{ to: 'jobs', jobs }];

/** The id of the run in the address where we answer. The address is rebuilt and compared, and never followed. */
function runOfCallback(url: string, fullName: string, { githubApiUrl }: Own): string | null {
  const runId = /\/actions\/runs\/(\d{1,15})\/deployment_protection_rule$/.exec(url)?.[1];
  const own = `${githubApiUrl}/repos/${fullName}/actions/runs/${runId}/deployment_protection_rule`;
  return runId !== undefined && url.toLowerCase() === own.toLowerCase() ? runId : null;
}

/** A deployment that began or ended: perhaps one that waits for us. */
function runOfDeployment({
  repository: place,
  deployment_status: status,
  workflow_run: run,
}: Payloads['deployment_status']): Wake[] {
  if (!run?.id || status?.state === 'waiting') return [];
  return [{ to: 'deployments', repositoryId: BigInt(place.id), runId: String(run.id) }];
}

function ownStatus(payload: Payloads['status']): Wake {
  const { repository: place, sha, id, state, description, created_at, commit, sender } = payload;
  const written = {
    id: String(id),
    at: created_at,
    state,
    description: description ?? '',
    by: sender.login,
    byId: sender.id,
  };
  const merges = commit?.parents?.[1]?.sha ?? null;
  return { to: 'own-status', repositoryId: BigInt(place.id), sha, merges, written };
}

/** Only people can write commands, on pull requests. Comments from bots or Apps are not commands. */
function commands({ repository: place, issue, comment, installation }: Payloads['issue_comment']): Wake[] {
  const { user, body, performed_via_github_app: app } = comment;
  const text = commandLine(body);
  if (text === null || !issue.pull_request || user?.type !== 'User' || app) return [];
  return always(
    jobs.answerComment(BigInt(place.id), {
      commentId: String(comment.id),
      number: issue.number,
      person: { id: user.id, login: user.login },
      at: comment.created_at,
      text,
      installationId: idOf(installation),
    }),
  );
}

type OfPullRequest = InRepository & {
  pull_request: PullRequestPayload & { stack?: { number: number } | null };
};

const pullRequestJob = (payload: OfPullRequest): Job =>
  jobs.reconcilePullRequest(BigInt(payload.repository.id), {
    number: payload.pull_request.number,
    nodeId: payload.pull_request.node_id,
    changedAt: payload.pull_request.updated_at,
    stack: payload.pull_request.stack && payload.pull_request.stack.number,
    installationId: idOf(payload.installation),
  });

type Reads = Extract<Wake, { reads: unknown }>['reads'];

const repository = (payload: InRepository, reads: Reads, isLater = false): Wake[] => [
  { to: 'repository', repositoryId: BigInt(payload.repository.id), reads, isLater },
];

const head = ({ repository: { id }, installation }: InRepository, sha: string, reads: Reads): Wake[] => [
  { to: 'head', repositoryId: BigInt(id), sha, installationId: idOf(installation), reads },
];

function threads(payload: InRepository & { pull_request: { number: number } }): Wake[] {
  const {
    repository: { id },
    pull_request: { number },
    installation,
  } = payload;
  const reads = readsOfEvent('pull_request_review_thread');
  return [
    { to: 'pull-request', repositoryId: BigInt(id), number, installationId: idOf(installation), reads },
  ];
}

const teams = ({ organization }: InOrganization): Wake[] => [
  { to: 'account', accountId: BigInt(organization.id), reads: ['teams'] },
];

const idOf = (installation: { id: number } | undefined): string | null =>
  installation ? String(installation.id) : null;
