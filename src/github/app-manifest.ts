// app.yml: what Holdfast needs from GitHub, what an installation lacks, and the manifest of the App.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import * as z from 'zod';

const schema = z.object({
  name: z.string(),
  description: z.string(),
  public: z.boolean(),
  default_permissions: z.record(z.string(), z.enum(['read', 'write'])),
  default_events: z.array(z.string()),
});

/** The same for every Holdfast. */
type AppTemplate = z.output<typeof schema>;

/** The manifest that GitHub's App manifest flow accepts. */
export type AppManifest = AppTemplate & {
  url: string;
  hook_attributes: { url: string; active: true };
  redirect_url: string;
  callback_urls: string[];
  setup_url: string;
};

export const appTemplate: AppTemplate = schema.parse(
  parse(readFileSync(new URL('../../app.yml', import.meta.url), 'utf8')),
);

/** What the App also asks for if its owner wants commands in comments. */
export const forComments: Pick<AppTemplate, 'default_permissions' | 'default_events'> = {
  // To receive events about comments, and to answer comments.
  default_permissions: { issues: 'read', pull_requests: 'write' },
  default_events: ['issue_comment'],
};

/**
 * The manifest of the App, with the addresses of this Holdfast.
 * @param takesCommands whether people can write commands in comments.
 * @param redirectUrl where the browser returns after the App is made. GitHub itself does not call it.
 */
export function manifestFor({
  name,
  publicUrl,
  redirectUrl,
  takesCommands,
}: {
  name: string;
  publicUrl: string;
  redirectUrl: string;
  takesCommands: boolean;
}): AppManifest {
  const more = takesCommands ? forComments : { default_permissions: {}, default_events: [] };
  return {
    ...appTemplate,
    default_permissions: { ...appTemplate.default_permissions, ...more.default_permissions },
    default_events: [...appTemplate.default_events, ...more.default_events],
    name,
    url: publicUrl,
    hook_attributes: { url: `${publicUrl}/api/github/webhooks`, active: true },
    redirect_url: redirectUrl,
    callback_urls: [`${publicUrl}/auth/callback`],
    setup_url: `${publicUrl}/`,
  };
}

/** The permissions and events that the App asks for, or that an installation granted. */
export type Grants = { permissions: Partial<Record<string, string>>; events: string[] };

type Granted = Pick<Grants, 'permissions'> & Partial<Grants>;
type Subscribed = Pick<Grants, 'events'> & Partial<Grants>;

/** The permissions that are missing, or granted at too low a level. @param wanted by default those of `app.yml`. */
export const missingPermissions = (
  { permissions }: Granted,
  wanted = appTemplate.default_permissions,
): string[] =>
  Object.entries(wanted)
    .filter(([name, level]) => !['write', 'admin', level].includes(permissions[name] ?? ''))
    .map(([name]) => name);

/** The events that GitHub does not send. @param wanted by default those of `app.yml`. */
export const missingEvents = ({ events }: Subscribed, wanted = appTemplate.default_events): string[] =>
  wanted.filter((event) => !events.includes(event));

/** A permission with its level. @param wanted by default those of `app.yml`. */
export const permissionText = (name: string, wanted = appTemplate.default_permissions): string =>
  `${name}: ${wanted[name]}`;

/** Whether the App receives events about comments: its owner wants commands in comments. */
export const asksForComments = (asked: Subscribed): boolean =>
  missingEvents(asked, forComments.default_events).length === 0;

/** The missing permissions for commands in comments, with their levels. */
export const missingForComments = (grants: Granted): string[] => {
  const wanted = forComments.default_permissions;
  return missingPermissions(grants, wanted).map((name) => permissionText(name, wanted));
};
