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

/** `app.yml`: what Holdfast asks of GitHub, the same wherever it runs. */
export type AppTemplate = z.output<typeof schema>;

/** What GitHub's App manifest flow takes. */
export type AppManifest = AppTemplate & {
  url: string;
  hook_attributes: { url: string; active: true };
  redirect_url: string;
  callback_urls: string[];
  setup_url: string;
};

/** Reads `app.yml`. */
export const readAppTemplate = (): AppTemplate =>
  schema.parse(parse(readFileSync(new URL('../../app.yml', import.meta.url), 'utf8')));

/**
 * The App to make, with this installation's addresses.
 * @param redirectUrl where the browser of the person who makes it comes back to; GitHub itself need not reach it.
 */
export function manifestFor(
  template: AppTemplate,
  { name, publicUrl, redirectUrl }: { name: string; publicUrl: string; redirectUrl: string },
): AppManifest {
  return {
    ...template,
    name,
    url: publicUrl,
    hook_attributes: { url: `${publicUrl}/api/github/webhooks`, active: true },
    redirect_url: redirectUrl,
    callback_urls: [`${publicUrl}/auth/callback`],
    setup_url: `${publicUrl}/`,
  };
}
