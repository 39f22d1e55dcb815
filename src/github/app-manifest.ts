// What app.yml asks for; a test holds the two equal.

export type Level = 'read' | 'write';

export const appPermissions = {
  metadata: 'read',
  statuses: 'write',
  pull_requests: 'read',
  merge_queues: 'read',
  contents: 'read',
  checks: 'read',
  deployments: 'read',
  members: 'read',
} as const satisfies Record<string, Level>;

export type AppPermission = keyof typeof appPermissions;

export const appEvents = [
  'check_run',
  'deployment_status',
  'label',
  'membership',
  'merge_group',
  'milestone',
  'organization',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'pull_request_review_thread',
  'push',
  'repository',
  'status',
  'team',
] as const;

/** Whether a granted level is enough; `write` includes `read`. */
export const isGranted = (granted: string | undefined, wanted: Level): boolean =>
  granted === 'write' || granted === 'admin' || granted === wanted;
