// app.yml: what Holdfast asks of GitHub, what an installation lacks of it, and the App to make.
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

/** The same wherever Holdfast runs. */
export type AppTemplate = z.output<typeof schema>;

/** What GitHub's App manifest flow takes. */
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

/** What the App asks for besides, where its owner wants people to write commands in comments. */
export const forComments: Pick<AppTemplate, 'default_permissions' | 'default_events'> = {
  // To be told of comments; and to answer them.
  default_permissions: { issues: 'read', pull_requests: 'write' },
  default_events: ['issue_comment'],
};

/**
 * The App to make, with this installation's addresses.
 * @param takesCommands whether people may write commands in comments.
 * @param redirectUrl where the browser of the person who makes it comes back to; GitHub itself need not reach it.
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

/** What the App was granted where it is installed, or asks for. */
export type Grants = { permissions: Partial<Record<string, string>>; events: string[] };

type Granted = Pick<Grants, 'permissions'> & Partial<Grants>;
type Subscribed = Pick<Grants, 'events'> & Partial<Grants>;

/** The permissions that are not granted, or at too low a level. @param wanted those of `app.yml`, if no others. */
export const missingPermissions = (
  { permissions }: Granted,
  wanted = appTemplate.default_permissions,
): string[] =>
  Object.entries(wanted)
    .filter(([name, level]) => !['write', 'admin', level].includes(permissions[name] ?? ''))
    .map(([name]) => name);

/** The events that are not sent. @param wanted those of `app.yml`, if no others. */
export const missingEvents = ({ events }: Subscribed, wanted = appTemplate.default_events): string[] =>
  wanted.filter((event) => !events.includes(event));

/** A permission with its level. @param wanted as `app.yml` has it, if not otherwise. */
export const permissionText = (name: string, wanted = appTemplate.default_permissions): string =>
  `${name}: ${wanted[name]}`;

/** Whether the App asks to be told of comments: its owner wants people to write commands there. */
export const asksForComments = (asked: Subscribed): boolean =>
  missingEvents(asked, forComments.default_events).length === 0;

/** What commands in comments need and is not granted, as permissions with their levels. */
export const missingForComments = (grants: Granted): string[] => {
  const wanted = forComments.default_permissions;
  return missingPermissions(grants, wanted).map((name) => permissionText(name, wanted));
};
