import type { Probot } from 'probot';
import type { Deps } from '../deps.ts';
import { acceptDelivery } from './accept-delivery.ts';
import { jobsOf, type Wake, type WakeDeps } from './wake.ts';
import { type Own, wakesOf } from './wakes-of-event.ts';

/** The actions that can change what we know. Others (`starred`, `subscribed` …) are acknowledged and dropped. */
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

/** Turns each handled event into durable jobs. */
export function registerWebhooks(
  probot: Probot,
  deps: WakeDeps & Pick<Deps, 'queue' | 'log' | 'config'>,
): void {
  probot.on([...handledEvents], async ({ id, name, payload }) => {
    const wakes = wakesOf[name as keyof typeof wakesOf] as (payload: unknown, own: Own) => Wake[];
    const jobs = await jobsOf(deps, wakes(payload, deps.config));
    await acceptDelivery(deps, { guid: id, event: name }, jobs);
  });
}
