import * as z from 'zod';
import { type Job, jobs } from '../database/queue/jobs.ts';
import { readsOfEvent } from '../github/facts/attribute-groups.ts';
import { branchOfRef } from '../github/merge-group-ref.ts';
import type { Wake } from './accept-event.ts';
import { commandOfComment, commandOfReview } from './commands-in-events.ts';
import { ownerPayloads, ownerWakes } from './owner-events.ts';
import { changedRules, deploymentOfRun, requestedDeployment } from './rules-and-deployments.ts';

const id = z.int().positive();
/** The maximum of GraphQL integers, and so of GitHub's numbers. */
const numberPart = z.int().min(1).max(2_147_483_647);
const sha = z.string().regex(/^[0-9a-f]{40,64}$/, 'Send a SHA in hexadecimal.');
/** The database cannot store NUL or halves of surrogate pairs. */
const textPart = z
  .string()
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'Send well-formed text without NUL.');
const name = textPart.min(1, 'Send text that is not empty.');

const installedPart = { installation: z.object({ id }).optional() };
const inRepository = { ...installedPart, repository: z.object({ id }) };
const ofPullRequest = z.object({ ...inRepository, pull_request: z.object({ number: numberPart }) });
const pullRequest = z.object({
  number: numberPart,
  node_id: name,
  updated_at: z.iso.datetime({ offset: true }),
});
const installation = z.object({ installation: z.object({ id }) });
const author = z.object({ id, login: name, type: name }).nullable();
const instantPart = z.iso.datetime({ offset: true });

export const envelope = z.object({ action: z.string().optional() });

/** The fields that Holdfast reads from GitHub's payloads, by event. It ignores all other fields. */
export const payloads = {
  installation,
  installation_repositories: installation,
  github_app_authorization: z.object({ sender: z.object({ id }) }),
  repository: z.object({
    ...installedPart,
    action: name,
    repository: z.object({ id, default_branch: name.nullish() }),
    changes: z.object({ default_branch: z.object({ from: name }).nullish() }).nullish(),
  }),
  pull_request: z.object({
    ...inRepository,
    repository: z.object({ id, owner: z.object({ id }) }),
    action: name,
    pull_request: pullRequest.extend({
      merged: z.boolean().nullish(),
      state: z.string().nullish(),
      stack: z.object({ number: numberPart }).nullish(),
    }),
  }),
  pull_request_review: z.object({
    ...inRepository,
    action: name,
    pull_request: pullRequest,
    review: z.object({ id, body: z.string().nullish(), submitted_at: instantPart.nullish(), user: author }),
  }),
  pull_request_review_comment: ofPullRequest,
  pull_request_review_thread: ofPullRequest,
  issue_comment: z.object({
    ...inRepository,
    issue: z.object({ number: numberPart, pull_request: z.object({}).nullish() }),
    comment: z.object({
      id,
      body: z.string(),
      created_at: instantPart,
      user: author,
      performed_via_github_app: z.object({}).nullish(),
    }),
  }),
  label: z.object(inRepository),
  milestone: z.object(inRepository),
  check_run: z.object({ ...inRepository, check_run: z.object({ head_sha: sha }) }),
  merge_group: z.object({
    ...inRepository,
    action: name,
    merge_group: z.object({ head_sha: sha, head_ref: name, base_ref: name }),
  }),
  status: z.object({
    ...inRepository,
    id,
    sha,
    context: name,
    state: name,
    description: textPart.nullable(),
    created_at: z.iso.datetime({ offset: true }),
    commit: z.object({ parents: z.array(z.object({ sha })).optional() }).optional(),
    sender: z.object({ id, login: name }),
  }),
  deployment_status: z.object({
    ...inRepository,
    deployment: z.object({ sha: name, environment: name.nullish() }),
    deployment_status: z.object({ state: name }).nullish(),
    workflow_run: z.object({ id: id.nullish() }).nullish(),
  }),
  // It has no reliable id of the run but in this address.
  deployment_protection_rule: z.object({
    ...inRepository,
    repository: z.object({ id, full_name: name }),
    environment: name.max(255, 'Send at most 255 characters.'),
    deployment_callback_url: name,
    deployment: z.object({ created_at: z.iso.datetime({ offset: true }).nullish() }).nullish(),
  }),
  branch_protection_configuration: z.object(inRepository),
  branch_protection_rule: z.object(inRepository),
  // Of a repository, or of an organization for many of its repositories.
  repository_ruleset: z.object({
    ...installedPart,
    repository: z.object({ id }).nullish(),
    organization: z.object({ id }).nullish(),
  }),
  push: z.object({ ...inRepository, ref: name, deleted: z.boolean().nullish() }),
  ...ownerPayloads,
};

export type Payloads = { [Event in keyof typeof payloads]: z.output<(typeof payloads)[Event]> };

/** The actions that can change what we know; null for events without actions. We acknowledge and drop others (`starred` …). */
export const actionsOf: Record<keyof Payloads, readonly string[] | null> = {
  installation: ['created', 'deleted', 'suspend', 'unsuspend', 'new_permissions_accepted'],
  installation_repositories: ['added', 'removed'],
  github_app_authorization: ['revoked'],
  repository: [
    ...['created', 'renamed', 'transferred', 'archived', 'unarchived'],
    ...['deleted', 'privatized', 'publicized', 'edited'],
  ],
  pull_request: [
    ...['opened', 'reopened', 'closed', 'synchronize', 'edited', 'labeled', 'unlabeled', 'assigned'],
    ...['unassigned', 'review_requested', 'review_request_removed', 'milestoned', 'demilestoned'],
    ...['locked', 'unlocked', 'converted_to_draft', 'ready_for_review', 'enqueued', 'stacked'],
  ],
  pull_request_review: ['submitted', 'edited', 'dismissed'],
  pull_request_review_comment: ['created', 'edited', 'deleted'],
  pull_request_review_thread: ['resolved', 'unresolved'],
  issue_comment: ['created'],
  label: ['edited', 'deleted'],
  milestone: ['edited', 'deleted'],
  check_run: ['created', 'completed', 'rerequested'],
  merge_group: ['checks_requested', 'destroyed'],
  status: null,
  deployment_status: ['created'],
  deployment_protection_rule: ['requested'],
  branch_protection_configuration: ['disabled', 'enabled'],
  branch_protection_rule: ['created', 'edited', 'deleted'],
  repository_ruleset: ['created', 'edited', 'deleted'],
  push: null,
  membership: ['added', 'removed'],
  team: ['created', 'edited', 'deleted'],
  organization: ['member_removed', 'renamed'],
  installation_target: ['renamed'],
};

const handled = new Map<string, readonly string[] | null>(Object.entries(actionsOf));

/** Whether what an event means depends on its action. */
export const needsAction = (name: string): boolean => Boolean(handled.get(name));

/** Whether we handle an event. Its payload may be anything. */
export function isHandled(name: string, payload: object): boolean {
  const actions = handled.get(name);
  if (!actions) return actions === null;
  return 'action' in payload && actions.includes(payload.action as string);
}

// Events only say what to check again. The job reads the facts from GitHub. So late, repeated or unordered events do no
// harm.

type InRepository = Payloads['label'];
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
  repository: ({ action, repository: { id, default_branch: renamedTo }, installation, changes }) => {
    if (action !== 'edited')
      return always(jobs.syncRepository(BigInt(id), installation ? BigInt(installation.id) : null));
    const branch = changes?.default_branch?.from;
    return branch && renamedTo ? [{ to: 'base', repositoryId: BigInt(id), branch, renamedTo }] : [];
  },
  pull_request: (payload) => {
    const { state, stack } = payload.pull_request;
    // GitHub leaves the stack out where there is none. That of a closed pull request counts for nothing.
    const reconcile = pullRequestJob(payload, state === 'closed' ? undefined : (stack?.number ?? null));
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
  issue_comment: commandOfComment,
  merge_group: ({ action, merge_group: group, repository: place, installation }) => {
    const change = {
      headSha: group.head_sha,
      headRef: group.head_ref,
      isGone: action === 'destroyed',
      installationId: installation && String(installation.id),
    };
    return always(jobs.reconcileMergeQueue(BigInt(place.id), branchOfRef(group.base_ref), change));
  },
  pull_request_review: (payload) => [...always(pullRequestJob(payload)), ...commandOfReview(payload)],
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
    ...deploymentOfRun(payload),
  ],
  deployment_protection_rule: requestedDeployment,
  branch_protection_configuration: changedRules,
  branch_protection_rule: changedRules,
  repository_ruleset: changedRules,
  push: (payload) => {
    const { ref, deleted, repository: place } = payload;
    if (!ref.startsWith('refs/heads/')) return [];
    // It may have been renamed. Pull requests into it then have another base, and GitHub does not always say so of them.
    if (deleted) return [{ to: 'base', repositoryId: BigInt(place.id), branch: branchOfRef(ref) }];
    return repository(payload, readsOfEvent('push'), true);
  },
  ...ownerWakes,
};

/** Our own names in events. */
export type Own = { statusContext: string; githubApiUrl: string };

const always = (...jobs: Job[]): Wake[] => [{ to: 'jobs', jobs }];

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

type OfPullRequest = InRepository & { pull_request: PullRequestPayload };

const pullRequestJob = (payload: OfPullRequest, stack?: number | null): Job =>
  jobs.reconcilePullRequest(BigInt(payload.repository.id), {
    number: payload.pull_request.number,
    nodeId: payload.pull_request.node_id,
    changedAt: payload.pull_request.updated_at,
    ...(stack !== undefined && { stack }),
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
  const { repository: place, pull_request: pullRequest, installation } = payload;
  const about = { number: pullRequest.number, installationId: idOf(installation) };
  const reads = readsOfEvent('pull_request_review_thread');
  return [{ to: 'pull-request', repositoryId: BigInt(place.id), ...about, reads }];
}

const idOf = (installation: { id: number } | undefined): string | null =>
  installation ? String(installation.id) : null;
