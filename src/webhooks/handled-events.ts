import * as z from 'zod';

const id = z.int().positive();
/** The maximum of GraphQL integers, and so of GitHub's numbers. */
const number = z.int().min(1).max(2_147_483_647);
const sha = z.string().regex(/^[0-9a-f]{40,64}$/, 'Send a SHA in hexadecimal.');
/** The database cannot store NUL or halves of surrogate pairs. */
const text = z
  .string()
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'Send well-formed text without NUL.');
const name = text.min(1, 'Send text that is not empty.');

const installed = { installation: z.object({ id }).optional() };
const inRepository = { ...installed, repository: z.object({ id }) };
const inOrganization = z.object({ ...installed, organization: z.object({ id }) });
const ofPullRequest = z.object({ ...inRepository, pull_request: z.object({ number }) });
const pullRequest = z.object({ number, node_id: name, updated_at: z.iso.datetime({ offset: true }) });
const installation = z.object({ installation: z.object({ id }) });

export const envelope = z.object({ action: z.string().optional() });

/** The fields that Holdfast reads from GitHub's payloads, by event. It ignores all other fields. */
export const payloads = {
  installation,
  installation_repositories: installation,
  github_app_authorization: z.object({ sender: z.object({ id }) }),
  repository: z.object(inRepository),
  pull_request: z.object({
    ...inRepository,
    repository: z.object({ id, owner: z.object({ id }) }),
    action: name,
    pull_request: pullRequest.extend({
      merged: z.boolean().nullish(),
      stack: z.object({ number }).nullish(),
    }),
  }),
  pull_request_review: z.object({ ...inRepository, pull_request: pullRequest }),
  pull_request_review_comment: ofPullRequest,
  pull_request_review_thread: ofPullRequest,
  issue_comment: z.object({
    ...inRepository,
    issue: z.object({ number, pull_request: z.object({}).nullish() }),
    comment: z.object({
      id,
      body: z.string(),
      created_at: z.iso.datetime({ offset: true }),
      user: z.object({ id, login: name, type: name }).nullable(),
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
    description: text.nullable(),
    created_at: z.iso.datetime({ offset: true }),
    commit: z.object({ parents: z.array(z.object({ sha })).optional() }).optional(),
    sender: z.object({ id, login: name }),
  }),
  deployment_status: z.object({
    ...inRepository,
    deployment: z.object({ sha: name }),
    deployment_status: z.object({ state: name }).nullish(),
    workflow_run: z.object({ id: id.nullish() }).nullish(),
  }),
  // It has no reliable id of the run but in this address.
  deployment_protection_rule: z.object({
    ...inRepository,
    repository: z.object({ id, full_name: name }),
    environment: name.max(255, 'Send at most 255 characters.'),
    deployment_callback_url: name,
  }),
  push: z.object({ ...inRepository, ref: name, deleted: z.boolean().nullish() }),
  membership: inOrganization,
  team: inOrganization,
  organization: inOrganization,
};

export type Payloads = { [Event in keyof typeof payloads]: z.output<(typeof payloads)[Event]> };

/** The actions that can change what we know; null for events without actions. We acknowledge and drop others (`starred` …). */
export const actionsOf: Record<keyof Payloads, readonly string[] | null> = {
  installation: ['created', 'deleted', 'suspend', 'unsuspend', 'new_permissions_accepted'],
  installation_repositories: ['added', 'removed'],
  github_app_authorization: ['revoked'],
  repository: [
    'created',
    'renamed',
    'transferred',
    'archived',
    'unarchived',
    'deleted',
    'privatized',
    'publicized',
  ],
  pull_request: [
    'opened',
    'reopened',
    'closed',
    'synchronize',
    'edited',
    'labeled',
    'unlabeled',
    'assigned',
    'unassigned',
    'review_requested',
    'review_request_removed',
    'milestoned',
    'demilestoned',
    'locked',
    'unlocked',
    'converted_to_draft',
    'ready_for_review',
    'enqueued',
    'stacked',
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
  push: null,
  membership: ['added', 'removed'],
  team: ['created', 'edited', 'deleted'],
  organization: ['member_removed'],
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
