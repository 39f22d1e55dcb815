import { html } from 'hono/html';
import type { Api, Parts } from '../http/api.ts';
import { webPage } from './web-page.ts';

/** The App's page, and the one on which people install it. */
export function installationPages(api: Api, { world, install }: Parts): void {
  const isApp = (slug: string) => world.registeredApp?.slug === slug;
  const candidates = () =>
    [...world.accounts.values()].filter(
      (account) => account.type !== 'Bot' && world.installationOf(account) === undefined,
    );
  const notFound = () => webPage('Not Found', html`<p>There is no such App.</p>`);

  api.get('/apps/:slug', (c) => {
    const slug = c.req.param('slug');
    if (!isApp(slug)) return c.html(notFound(), 404);
    return c.html(
      webPage(world.app.name, html`<p><a href="/apps/${slug}/installations/new">Install</a></p>`),
    );
  });

  api.get('/apps/:slug/installations/new', (c) => {
    if (!isApp(c.req.param('slug'))) return c.html(notFound(), 404);
    const buttons = candidates().map(
      ({ login }) => html`<p><button name="account" value="${login}">Install on ${login}</button></p>`,
    );
    return c.html(webPage(`Install ${world.app.name}`, html`<form method="post">${buttons}</form>`));
  });

  api.post('/apps/:slug/installations/new', async (c) => {
    const login = new URLSearchParams(await c.req.text()).get('account') ?? '';
    if (!isApp(c.req.param('slug')) || !candidates().some((account) => account.login === login))
      return c.html(notFound(), 404);
    const { id } = install(login);
    if (world.app.setupUrl === undefined) return c.redirect(`/apps/${world.app.slug}`);
    const back = new URL(world.app.setupUrl);
    back.searchParams.set('installation_id', String(id));
    back.searchParams.set('setup_action', 'install');
    return c.redirect(back.href);
  });
}
