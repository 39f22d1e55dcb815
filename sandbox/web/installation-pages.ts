import { html } from 'hono/html';
import type { Api, Parts } from '../http/api.ts';
import type { AppIdentity } from '../state/world.ts';
import { webPage } from './web-page.ts';

/** The App's page, and the one on which people install it: a private App on the account that owns it, and nowhere else. */
export function installationPages(api: Api, { world, install }: Parts): void {
  const appAt = (slug: string) => world.apps.find((app) => app.slug === slug);
  const candidates = (app: AppIdentity) =>
    [...world.accounts.values()].filter(
      (account) =>
        account.type !== 'Bot' &&
        (app.isPublic !== false || account === app.owner) &&
        world.installationOf(account, app) === undefined,
    );
  const notFound = () => webPage('Not Found', html`<p>There is no such App.</p>`);

  api.get('/apps/:slug', (c) => {
    const slug = c.req.param('slug');
    const app = appAt(slug);
    if (!app) return c.html(notFound(), 404);
    return c.html(webPage(app.name, html`<p><a href="/apps/${slug}/installations/new">Install</a></p>`));
  });

  api.get('/apps/:slug/installations/new', (c) => {
    const app = appAt(c.req.param('slug'));
    if (!app) return c.html(notFound(), 404);
    const buttons = candidates(app).map(
      ({ login }) => html`<p><button name="account" value="${login}">Install on ${login}</button></p>`,
    );
    return c.html(webPage(`Install ${app.name}`, html`<form method="post">${buttons}</form>`));
  });

  api.post('/apps/:slug/installations/new', async (c) => {
    const login = new URLSearchParams(await c.req.text()).get('account') ?? '';
    const app = appAt(c.req.param('slug'));
    if (!app || !candidates(app).some((account) => account.login === login)) return c.html(notFound(), 404);
    const { id } = install(login, { app });
    if (app.setupUrl === undefined) return c.redirect(`/apps/${app.slug}`);
    const back = new URL(app.setupUrl);
    back.searchParams.set('installation_id', String(id));
    back.searchParams.set('setup_action', 'install');
    return c.redirect(back.href);
  });
}
