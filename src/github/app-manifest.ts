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

/**
 * The App to make, with this installation's addresses.
 * @param redirectUrl where the browser of the person who makes it comes back to; GitHub itself need not reach it.
 */
export function manifestFor({
  name,
  publicUrl,
  redirectUrl,
}: {
  name: string;
  publicUrl: string;
  redirectUrl: string;
}): AppManifest {
  return {
    ...appTemplate,
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

/** The permissions of `app.yml` that are not granted, or at too low a level. */
export const missingPermissions = ({ permissions }: Grants): string[] =>
  Object.entries(appTemplate.default_permissions)
    .filter(([name, wanted]) => !['write', 'admin', wanted].includes(permissions[name] ?? ''))
    .map(([name]) => name);

/** The events of `app.yml` that are not sent. */
export const missingEvents = ({ events }: Grants): string[] =>
  appTemplate.default_events.filter((event) => !events.includes(event));

/** A permission with its level, as `app.yml` has it. */
export const permissionText = (name: string): string => `${name}: ${appTemplate.default_permissions[name]}`;
