import { auditEventTypes } from './append-event.ts';

/**
 * Event types that clients of the interface know but Holdfast never writes: merge queues and workflows of another
 * implementation of the interface. A query for them gets an empty answer, not an error.
 */
const typesOfOthers = [
  'action.assign',
  'action.backport',
  'action.close',
  'action.comment',
  'action.copy',
  'action.delete_head_branch',
  'action.dismiss_reviews',
  'action.edit',
  'action.github_actions',
  'action.label',
  'action.merge',
  'action.post_check',
  'action.queue.batch_bisection_end',
  'action.queue.batch_bisection_start',
  'action.queue.change',
  'action.queue.checks.change',
  'action.queue.checks_end',
  'action.queue.checks_not_started',
  'action.queue.checks_start',
  'action.queue.enter',
  'action.queue.leave',
  'action.queue.merged',
  'action.rebase',
  'action.refresh',
  'action.request_reviewers',
  'action.request_reviews',
  'action.requeue',
  'action.review',
  'action.squash',
  'action.unqueue',
  'action.update',
  'ci_issue.created',
  'ci_issue.linked',
  'ci_issue.merged',
  'ci_issue.renamed',
  'ci_issue.reopened',
  'ci_issue.resolved',
  'ci_issue.unresolved',
  'command.dequeue',
  'command.queue',
  'command.requeue',
  'queue.freeze.create',
  'queue.freeze.delete',
  'queue.freeze.update',
  'queue.pause.create',
  'queue.pause.delete',
  'queue.pause.update',
] as const;

/** Every event type that a client may query. */
export const knownEventTypes: string[] = [...auditEventTypes, ...typesOfOthers];
