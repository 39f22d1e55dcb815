import { getConnInfo } from '@hono/node-server/conninfo';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { errorResponse } from '../../api/error-response.ts';
import { logRequests, ownRequestId } from '../../api/log-requests.ts';
import { readLimited } from '../../api/read-request.ts';
import { ownFormsOnly } from '../../auth/own-forms.ts';
import { loadApp } from '../../github/app-credentials-store.ts';
import { manifestFor } from '../../github/app-manifest.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { mountAssets } from '../../pages/assets.ts';
import { helpRoutes } from '../../pages/help/help-routes.ts';
import { compressPages, headersOfPages } from '../../pages/layout.ts';
import { newAppPath } from '../../pages/settings/create-lock-app.ts';
import type { ServicePhase } from '../service.ts';
import { originOf, publicUrlWarnings, SetupCode, SetupCookies, type SetupEnv } from './admission.ts';
import { Attempts, finishSetup, isEnvFileWritable, type SetupDeps } from './finish-setup.ts';
import {
  type Choices,
  codePage,
  firstChoices,
  readChoices,
  reviewPage,
  setupPage,
  stopPage,
} from './setup-pages.ts';

/** How often we check the database for an App that another process saved, in milliseconds. */
const lookEvery = 2000;

/**
 * Serves requests until there is an App: the setup page, the health checks, and for everything else the address of the
 * setup page. It also watches for an App that another process saved.
 */
export function createSetup(deps: SetupDeps): ServicePhase {
  const { clock, config, db, log } = deps;
  const where = `${config.publicUrl}/setup`;
  const detail = `No GitHub App is configured yet. Open ${where}.`;
  const code = new SetupCode(clock, (text) =>
    log.warn({ setup: where, code: text }, 'no GitHub App is configured: open the setup page'),
  );
  const app = new Hono();
  app.use(ownRequestId, logRequests(log));
  app.onError((error, context) => errorResponse(error, context, log));
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/readyz', (context) => context.json({ status: 'setup', detail }, 503));
  if (config.role === 'worker') {
    log.warn(
      { setup: where },
      'no GitHub App is configured: waiting until a process with ROLE all or web has one',
    );
  } else {
    app.use(compressPages);
    mountAssets(app);
    app.route('/help', helpRoutes());
    for (const page of ['/', '/docs', '/repos/*']) app.get(page, (context) => context.redirect('/setup'));
    app.route('/setup', setupRoutes(deps, code));
  }
  app.notFound((context) => context.json({ detail }, 503));

  let timer: unknown;
  let isClosed = false;
  let hasComplained = false;
  const look = async (): Promise<void> => {
    try {
      const saved = await loadApp(db, config, log);
      if (saved) return await deps.become(saved);
    } catch (error) {
      if (!hasComplained) log.error({ err: error }, 'the App that was set up cannot be used');
      hasComplained = true;
    }
    if (!isClosed) timer = clock.setTimeout(() => void look(), lookEvery);
  };
  return {
    fetch: (request, env) => app.fetch(request, env),
    async start() {
      if (config.role !== 'worker') code.announce();
      timer = clock.setTimeout(() => void look(), lookEvery);
    },
    async close() {
      isClosed = true;
      clock.clearTimeout(timer);
    },
  };
}

/** The limit for the forms of these pages, in bytes. */
const largestForm = 4096;

const formOf = async (context: Context): Promise<URLSearchParams> =>
  new URLSearchParams(Buffer.from(await readLimited(context.req.raw, largestForm)).toString());

/** `/setup` and the paths below it. */
export function setupRoutes(deps: SetupDeps, code: SetupCode): Hono<SetupEnv> {
  const { config, clock, secretKey, envFile } = deps;
  const webUrl = webUrlOf(config.githubApiUrl);
  const cookies = new SetupCookies(clock, config);
  const attempts = new Attempts();
  const routes = new Hono<SetupEnv>();

  const places = async () => ({ database: secretKey !== null, env: await isEnvFileWritable(envFile) });

  const showForm = async (context: Context, choices: Choices, problem: string | null) => {
    const warnings = publicUrlWarnings(config.publicUrl, webUrl);
    const setup = { choices, problem, webUrl, publicUrl: config.publicUrl, warnings, places: await places() };
    return context.html(setupPage(setup), problem === null ? 200 : 422);
  };

  routes.use(headersOfPages([webUrl]));
  routes.use(notStored, admitVisitor(config.publicUrl), ownForms);

  // A person who returns from GitHub has the cookie of a visit that only an admitted person can start.
  routes.get('/callback', (context) => finishSetup(deps, cookies, attempts, context));

  routes.post('/code', async (context) => {
    const { address = '' } = getConnInfo(context).remote;
    switch (code.try((await formOf(context)).get('code') ?? '', address)) {
      case 'right':
        await cookies.admit(context);
        return context.redirect('/setup', 303);
      case 'wrong':
        deps.log.warn('a wrong setup code was entered');
        return context.redirect('/setup?code=wrong', 303);
      case 'too-many':
        return context.redirect('/setup?code=too-many', 303);
    }
  });

  routes.use(async (context, next) => {
    if (await cookies.isAdmitted(context)) return next();
    const refused = context.req.query('code');
    if (refused === 'too-many') context.header('Retry-After', '60');
    if (refused === 'wrong' || refused === 'too-many')
      return context.html(codePage(refusedCodes[refused].text), refusedCodes[refused].status);
    return context.html(codePage(null), context.req.method === 'GET' ? 200 : 403);
  });

  routes.get('/', (context) => showForm(context, firstChoices, null));

  // The answer to the form has an address, so a page that is loaded again sends no form. The form has no secrets.
  routes.post('/', async (context) => context.redirect(`/setup/review?${await formOf(context)}`, 303));

  routes.get('/review', async (context) => {
    const { choices, problem } = readChoices(new URL(context.req.url).searchParams);
    if (problem !== null) return showForm(context, choices, problem);
    const { database, env } = await places();
    const place = database && choices.place === 'database' ? 'database' : 'env';
    if (place === 'env' && !env) return showForm(context, choices, `Holdfast cannot write ${envFile}.`);
    const state = await cookies.begin(context, place);
    const organization = choices.owner === 'person' ? null : choices.organization;
    const { name, takesCommands, holdsDeployments } = choices;
    const manifest = manifestFor({
      ...{ name, takesCommands, holdsDeployments },
      publicUrl: config.publicUrl,
      redirectUrl: `${context.get('origin')}/setup/callback`,
    });
    const action = `${webUrl}${newAppPath(organization)}?state=${state}`;
    return context.html(reviewPage({ manifest, action, owner: organization ?? 'you' }));
  });
  return routes;
}

/** What the page says after a code that was not accepted. */
const refusedCodes = {
  wrong: {
    status: 403,
    text: 'This code is wrong. Find the current code in the log after the latest start.',
  },
  'too-many': {
    status: 429,
    text: 'Too many wrong codes from your address. Enter the right one, or wait a minute.',
  },
} as const;

const notStored: MiddlewareHandler = async (context, next) => {
  context.header('Cache-Control', 'no-store');
  return next();
};

/** Stops visitors who use a host name that is not ours. */
const admitVisitor =
  (publicUrl: string): MiddlewareHandler<SetupEnv> =>
  async (context, next) => {
    const origin = originOf(context.req.header('host'), publicUrl);
    if (origin === null) {
      const text = `Open ${publicUrl}/setup, or open the setup page at localhost on the machine that runs Holdfast. If people reach Holdfast by another name, set PUBLIC_URL to that name and restart Holdfast.`;
      return context.html(stopPage('Wrong address', text), 403);
    }
    context.set('origin', origin);
    return next();
  };

/** Stops forms that do not come from these pages. */
const ownForms = ownFormsOnly(
  (context) => context.get('origin'),
  (context) => {
    const text = 'Open the setup page directly. A proxy in front of Holdfast must forward the Host header.';
    return context.html(stopPage('Request from another site', text), 403);
  },
);
