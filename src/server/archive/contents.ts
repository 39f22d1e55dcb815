// What an archive holds. Tests hold these lists against prisma/schema.prisma: each new table has to be decided on.
import { jobs, type TaskName } from '../../queue/jobs.ts';

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
  jobs: 'the header has those that nothing sends again',
  unfinished_imports: 'about this database alone',
  finished_imports: 'about this database alone',
};

/** Tasks whose waiting jobs an archive holds, because nothing sends them again. */
export const carriedTasks: TaskName[] = Object.values(jobs)
  .filter(({ sentAgainBy }) => sentAgainBy === null)
  .map(({ task }) => task);
