import type { OpenAPIHono } from '@hono/zod-openapi';
import { Hono, type MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import type { Deps } from '../deps.ts';
import { ExplanationsForPages } from '../explanations/explanations-for-pages.ts';
import type { StrangerLimits } from '../github/limits/stranger-limits.ts';
import { mountSignIn } from './mount-sign-in.ts';
import { readSession } from '../auth/sign-in/read-session.ts';
import { RepositoryReaders } from '../auth/sign-in/repository-readers.ts';
import { mountAssets } from './assets.ts';
import { errorPage } from './error-page.ts';
import { showFirstSteps } from './first-steps/show-first-steps.ts';
import { changesOfFreeze } from './freeze/change-forms.ts';
import { changeFreeze } from './freeze/change-freeze.ts';
import { showFreeze } from './freeze/show-freeze.ts';
import { layout } from './layout.ts';
import { pageHeaders } from './page-headers.ts';
import { forRequest, type PageDeps } from './reader.ts';
import { showRepository } from './repository/show-repository.ts';
import { askForExemption, decideOnExemption, decisions } from './status/change-exemption.ts';
import { mergeGroupPage } from './status/merge-group-page.ts';
import { pullRequestPage } from './status/pull-request-page.ts';

/** The pages for people: one file a page, each mounted here. */
export function mountPages(app: OpenAPIHono, given: Deps, strangers: StrangerLimits): void {
  const pages = new Hono();
  const { clock } = given;
  const deps: PageDeps = {
    ...given,
    readers: new RepositoryReaders(clock),
    explanations: new ExplanationsForPages(clock),
    strangers,
  };
  pages.onError((error, context) => errorPage(error, context, given.log));
  mountAssets(pages);
  pages.use(pageHeaders(), notStored);
  mountSignIn(pages, deps, strangers);
  pages.get('/repos/:owner/:repository', (context) => showRepository(forRequest(deps, context), context));
  pages.get('/repos/:owner/:repository/freezes/:id', (context) =>
    showFreeze(forRequest(deps, context), context),
  );
  for (const change of changesOfFreeze)
    pages.post(`/repos/:owner/:repository/freezes/:id/${change}`, changeFreeze(deps, change));
  pages.get('/repos/:owner/:repository/pulls/:number', (context) =>
    pullRequestPage(forRequest(deps, context), context),
  );
  pages.post('/repos/:owner/:repository/pulls/:number/exemptions', askForExemption(deps));
  for (const decision of decisions)
    pages.post(
      `/repos/:owner/:repository/pulls/:number/exemptions/:id/${decision}`,
      decideOnExemption(deps, decision),
    );
  pages.get('/repos/:owner/:repository/merge-groups/:sha', (context) =>
    mergeGroupPage(forRequest(deps, context), context),
  );
  pages.get('/owners/:owner/first-steps', (context) => showFirstSteps(forRequest(deps, context), context));
  pages.get('/', async (context) =>
    context.html(layout({ title: 'Home', body: home, viewer: await readSession(deps, context) })),
  );
  app.route('/', pages);
}

/** Pages differ by who asks and when. */
const notStored: MiddlewareHandler = async (context, next) => {
  await next();
  context.header('Cache-Control', 'private, no-store');
};

const home = html`<h1>Merge freezes that hold, and let go</h1>
  <p>
    Each pull request links from its <code>holdfast/freeze</code> status to a page that says why it is held.
    Admins schedule freezes through the <a href="/docs">API</a>.
  </p>`;
