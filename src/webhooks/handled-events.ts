/** The actions that can change what we know. We acknowledge and drop others (`starred`, `subscribed` …). */
export const handledEvents = [
  'installation.created',
  'installation.deleted',
  'installation.suspend',
  'installation.unsuspend',
  'installation.new_permissions_accepted',
  'installation_repositories.added',
  'installation_repositories.removed',
  'github_app_authorization.revoked',
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
  'pull_request.assigned',
  'pull_request.unassigned',
  'pull_request.review_requested',
  'pull_request.review_request_removed',
  'pull_request.milestoned',
  'pull_request.demilestoned',
  'pull_request.locked',
  'pull_request.unlocked',
  'pull_request.converted_to_draft',
  'pull_request.ready_for_review',
  'pull_request.enqueued',
  'pull_request.stacked',
  'issue_comment.created',
  'merge_group.checks_requested',
  'merge_group.destroyed',
  'pull_request_review.submitted',
  'pull_request_review.edited',
  'pull_request_review.dismissed',
  'pull_request_review_comment.created',
  'pull_request_review_comment.edited',
  'pull_request_review_comment.deleted',
  'pull_request_review_thread.resolved',
  'pull_request_review_thread.unresolved',
  'label.edited',
  'label.deleted',
  'milestone.edited',
  'milestone.deleted',
  'check_run.created',
  'check_run.completed',
  'check_run.rerequested',
  'status',
  'deployment_status.created',
  'push',
  'membership.added',
  'membership.removed',
  'team.created',
  'team.edited',
  'team.deleted',
  'organization.member_removed',
] as const;

const handled = new Set<string>(handledEvents);

const withActions = new Set(handledEvents.flatMap((name) => name.match(/^\w+(?=\.)/)?.[0] ?? []));

/** Whether what an event means depends on its action. */
export const needsAction = (name: string): boolean => withActions.has(name);

/** Whether we handle an event. Its payload may be anything. */
export const isHandled = (name: string, payload: object): boolean =>
  handled.has(name) ||
  ('action' in payload && typeof payload.action === 'string' && handled.has(`${name}.${payload.action}`));
