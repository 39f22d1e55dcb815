// What an archive holds. A test holds both lists against prisma/schema.prisma: each new table has to be decided on.

/** Tables that an archive holds, each after those that its rows refer to. */
export const carried = [
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
export const leftBehind: Record<string, string> = {
  minute_counts: 'counts of the present minute',
  known_credentials: 'who was let in within the last day; the next call with a credential finds out again',
};
