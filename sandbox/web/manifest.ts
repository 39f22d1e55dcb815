import * as z from 'zod';

const url = z.url({ protocol: /^https?$/, error: 'must be a URL' });

/** The documented parameters of a GitHub App manifest; GitHub knows no others. */
const schema = z.strictObject({
  name: z.string().max(34, 'is too long (maximum is 34 characters)').optional(),
  url,
  hook_attributes: z.strictObject({ url, active: z.boolean().default(true) }).optional(),
  redirect_url: url.optional(),
  callback_urls: z.array(url).max(10).default([]),
  setup_url: url.optional(),
  description: z.string().optional(),
  public: z.boolean().default(false),
  default_events: z.array(z.string()).default([]),
  default_permissions: z.record(z.string(), z.enum(['read', 'write'])).default({}),
  request_oauth_on_install: z.boolean().optional(),
  setup_on_update: z.boolean().optional(),
});

export type Manifest = z.output<typeof schema>;

/** Sent to every App; a manifest that subscribes to them is refused. */
const automatic = ['installation', 'installation_repositories', 'github_app_authorization'];

/** Any App can subscribe to these. */
const withoutPermission = ['installation_target'];

/** The permissions, one of which an event needs. */
const needs: Record<string, string[]> = {
  check_run: ['checks'],
  deployment_protection_rule: ['deployments'],
  deployment_status: ['deployments'],
  issue_comment: ['issues'],
  label: ['metadata', 'issues', 'pull_requests'],
  membership: ['members'],
  merge_group: ['merge_queues'],
  milestone: ['issues', 'pull_requests'],
  organization: ['members'],
  pull_request: ['pull_requests'],
  pull_request_review: ['pull_requests'],
  pull_request_review_comment: ['pull_requests'],
  pull_request_review_thread: ['pull_requests'],
  push: ['contents'],
  repository: ['metadata'],
  status: ['statuses'],
  team: ['members'],
};

/** Reads a posted manifest, or the problems that the page shows. */
export function readManifest(text: string): { manifest: Manifest } | { problems: string[] } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problems: ['The manifest is not valid JSON'] };
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success)
    return { problems: parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`) };
  const { default_events: events, default_permissions: permissions } = parsed.data;
  const isAllowed = (event: string) =>
    withoutPermission.includes(event) || (needs[event] ?? []).some((name) => permissions[name]);
  const wrong = events.filter((event) => automatic.includes(event) || !isAllowed(event));
  return wrong.length > 0
    ? { problems: [`Default events unsupported: ${wrong.join(', ')}`] }
    : { manifest: parsed.data };
}
