// What an archive holds. Tests hold these lists against prisma/schema.prisma and the tasks of the queue: each new table
// and task has to be decided on.
import type { TaskName } from '../queue/jobs.ts';

/** Tables that an archive holds, each after those that its rows refer to. */
export const carriedTables = [
  'app_credentials',
  'accounts',
  'installations',
  'repositories',
  'freeze_plans',
  'freezes',
  'exemptions',
  'comment_answers',
  'open_pull_requests',
  'pull_request_scopes',
  'merge_groups',
  'head_statuses',
  'written_statuses',
  'sessions',
  'application_keys',
  'oidc_rules',
  'audit_events',
  'idempotency_records',
  'webhook_deliveries',
  'delivery_scans',
  'used_sign_ins',
] as const;

/** Tables that Holdfast fills anew, with why nobody misses their rows. */
export const leftTables: Record<string, string> = {
  minute_counts: 'counts of the present minute',
  known_credentials: 'who was let in within 30 days; the next call finds out again',
  unfinished_imports: 'about this database alone',
  finished_imports: 'about this database alone',
};

/** Tasks whose waiting jobs an archive holds, because nothing sends them again. */
export const carriedTasks = [
  'announce-request',
  'answer-comment',
  'correct-status',
  'end-sessions',
  'find-bypass',
  'read-delivery',
  'reconcile-closed-heads',
] as const satisfies readonly TaskName[];

/** Tasks whose waiting jobs stay behind, with what sends them again. */
export const leftTasks: Record<Exclude<TaskName, (typeof carriedTasks)[number]>, string> = {
  'ask-merge-states': 'the sweep, where merge_state_due_at has passed',
  'drain-outbox': 'the sweep, where a status waits',
  'end-exemptions': 'the sweep, where an exemption has expired or its freezes are over',
  'keep-plan': 'the sweep, for each plan that was not kept for an hour',
  'keep-plans': 'sync-installation',
  'reconcile-merge-queue': 'the import has its repository reconciled; the sweep, for groups in flight',
  'reconcile-pull-request': 'the import has its repository reconciled',
  'reconcile-repository': 'the import has the repository reconciled; the sweep, for boundaries to come',
  'recover-deliveries': 'the sweep',
  'remind-of-freezes': 'the sweep',
  sweep: 'the start of a worker',
  'sync-installation': 'sync-installations',
  'sync-installations': 'the start of a worker',
  'sync-repository': 'sync-installation, which reads all repositories',
};
