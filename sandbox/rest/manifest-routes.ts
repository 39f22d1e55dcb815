import { instantJson } from '../json/instant-json.ts';
import { notFound } from '../http/github-error.ts';
import { accountJson } from '../json/account-json.ts';
import type { Api, Parts } from '../http/api.ts';

/** The last step of the manifest flow: anybody with the code gets the App's credentials, once and within an hour. */
export function manifestRoutes(api: Api, { world }: Parts): void {
  api.post('/app-manifests/:code/conversions', (c) => {
    const code = c.req.param('code');
    const issued = world.manifestCodes.get(code);
    world.manifestCodes.delete(code);
    if (!issued || issued.expiresAt <= Date.now()) throw notFound();
    const { app } = issued;
    const at = instantJson(world.now());
    return c.json(
      {
        id: app.id,
        slug: app.slug,
        node_id: Buffer.from(`03:App${app.id}`).toString('base64'),
        owner: app.owner && accountJson(world, app.owner),
        name: app.name,
        description: null,
        external_url: app.homepage,
        html_url: `${world.url}/apps/${app.slug}`,
        created_at: at,
        updated_at: at,
        permissions: app.permissions,
        events: app.events,
        client_id: app.clientId,
        client_secret: app.clientSecret,
        // The documentation allows null: an App without webhooks has none.
        webhook_secret: app.webhookSecret || null,
        pem: app.privateKey,
      },
      201,
    );
  });
}
