import type { OpenAPIHono } from '@hono/zod-openapi';
import { Hono } from 'hono';
import { html } from 'hono/html';
import type { Deps } from '../deps.ts';
import { mountAssets } from './assets.ts';
import { layout } from './layout.ts';
import { pageHeaders } from './page-headers.ts';
import { showRepository } from './repository/show-repository.ts';

/** The pages for people: one file a page, each mounted here. */
export function mountPages(app: OpenAPIHono, deps: Deps): void {
  const pages = new Hono();
  mountAssets(pages);
  pages.use(pageHeaders());
  pages.get('/', (context) => context.html(layout({ title: 'Home', body: home })));
  pages.get('/repos/:owner/:repository', (context) => showRepository(deps, context));
  app.route('/', pages);
}

const home = html`<h1>Merge freezes that hold, and let go</h1>
  <p>
    Each pull request links from its <code>holdfast/freeze</code> status to a page that says why it is held.
    Admins schedule freezes through the <a href="/docs">API</a>.
  </p>`;
