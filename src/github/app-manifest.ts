// app.yml: what Holdfast needs from GitHub, what an installation lacks, and the manifest of the App.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import * as z from 'zod';

const permissionsSchema = z.object({
  name: z.string(),
  description: z.string(),
  public: z.boolean(),
  default_permissions: z.record(z.string(), z.enum(['read', 'write'])),
  default_events: z.array(z.string()),
});

/** The same for every Holdfast. */
type AppTemplate = z.output<typeof permissionsSchema>;

/** The manifest that GitHub's App manifest flow accepts. */
export type AppManifest = AppTemplate & {
  url: string;
  hook_attributes: { url: string; active: boolean };
  redirect_url: string;
  callback_urls?: string[];
  setup_url?: string;
};

export const appTemplate: AppTemplate = permissionsSchema.parse(
  parse(readFileSync(new URL('../../app.yml', import.meta.url), 'utf8')),
);

/** What the App also asks for if its owner wants commands in comments. */
export const forComments: Pick<AppTemplate, 'default_permissions' | 'default_events'> = {
  // To receive events about comments, and to answer comments.
  default_permissions: { issues: 'read', pull_requests: 'write' },
  default_events: ['issue_comment'],
};

/** What the App also asks for if freezes should hold deployments through GitHub's deployment protection rules. */
export const forDeployments: Pick<AppTemplate, 'default_permissions' | 'default_events'> = {
  // To decide on deployments, and to find those that wait.
  default_permissions: { deployments: 'write', actions: 'read' },
  default_events: ['deployment_protection_rule'],
};

/** What the owner of the App can add, so that GitHub tells at once when somebody changes what branches require. */
export const forRules: Pick<AppTemplate, 'default_permissions' | 'default_events'> = {
  // GitHub sends these to Apps that may read the settings. Nothing else needs it, so the App does not ask for it.
  default_permissions: { administration: 'read' },
  default_events: ['branch_protection_configuration', 'branch_protection_rule', 'repository_ruleset'],
};

/**
 * The manifest of the App, with the addresses of this Holdfast.
 * @param takesCommands whether people can write commands in comments.
 * @param holdsDeployments whether freezes hold deployments at GitHub.
 * @param redirectUrl where the browser returns after the App is made. GitHub itself does not call it.
 */
export function manifestFor({
  name,
  publicUrl,
  redirectUrl,
  takesCommands,
  holdsDeployments,
}: {
  name: string;
  publicUrl: string;
  redirectUrl: string;
  takesCommands: boolean;
  holdsDeployments: boolean;
}): AppManifest {
  const more = [...(takesCommands ? [forComments] : []), ...(holdsDeployments ? [forDeployments] : [])];
  return {
    ...appTemplate,
    default_permissions: Object.assign(
      {},
      ...[appTemplate, ...more].map((each) => each.default_permissions),
    ) as AppTemplate['default_permissions'],
    default_events: [appTemplate, ...more].flatMap((each) => each.default_events),
    name,
    url: publicUrl,
    hook_attributes: { url: `${publicUrl}/api/github/webhooks`, active: true },
    redirect_url: redirectUrl,
    callback_urls: [`${publicUrl}/auth/callback`],
    setup_url: `${publicUrl}/installed`,
  };
}

/** What the second App asks for. GitHub grants `metadata` to every App. */
const forLock: AppTemplate['default_permissions'] = { administration: 'write', metadata: 'read' };

/** The manifest of the second App: no webhooks, and nobody signs in with it. @param owner its login. */
export const lockManifestFor = (owner: string, publicUrl: string, redirectUrl: string): AppManifest => ({
  // GitHub takes 34 characters, and lets the person change them.
  name: `Holdfast lock ${owner}`.slice(0, 34),
  description: 'Makes merge freezes block at once.',
  public: appTemplate.public,
  url: publicUrl,
  hook_attributes: { url: `${publicUrl}/api/github/webhooks`, active: false },
  redirect_url: redirectUrl,
  setup_url: `${publicUrl}/installed`,
  default_permissions: forLock,
  default_events: [],
});

/** Whether an App has what the second App needs, and nothing else. */
export const isForLock = ({ permissions }: Granted): boolean =>
  permissions['administration'] === 'write' && Object.keys(permissions).every((name) => name in forLock);

/** The permissions and events that the App asks for, or that an installation granted. */
export type Grants = { permissions: Partial<Record<string, string>>; events: string[] };

type Granted = Pick<Grants, 'permissions'> & Partial<Grants>;
type Subscribed = Pick<Grants, 'events'> & Partial<Grants>;

/** The permissions that are missing, or granted at too low a level. @param wanted by default those of `app.yml`. */
export const missingPermissions = (
  { permissions }: Granted,
  wanted: Partial<Record<string, string>> = appTemplate.default_permissions,
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

type Extra = typeof forComments;

const asksFor =
  (extra: Extra) =>
  (asked: Subscribed): boolean =>
    missingEvents(asked, extra.default_events).length === 0;

const missingFor =
  ({ default_permissions: wanted }: Extra) =>
  (grants: Granted): string[] =>
    missingPermissions(grants, wanted).map((name) => permissionText(name, wanted));

/** Whether the App receives events about comments: its owner wants commands in comments. */
export const asksForComments = asksFor(forComments);

export const missingForComments = missingFor(forComments);

/** Whether GitHub asks the App about deployments: its owner wants freezes to hold them. */
export const asksForDeployments = asksFor(forDeployments);

export const missingForDeployments = missingFor(forDeployments);
