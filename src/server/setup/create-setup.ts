import { Hono } from 'hono';
import { errorResponse } from '../../api/error-response.ts';
import { logRequests, ownRequestId } from '../../api/log-requests.ts';
import { loadApp } from '../../github/app-credentials-store.ts';
import { helpRoutes } from '../../pages/help/help-routes.ts';
import { mountAssets } from '../../pages/assets.ts';
import { compressPages } from '../../pages/layout.ts';
import type { Phase } from '../service.ts';
import type { SetupDeps } from './finish-setup.ts';
import { SetupCode } from './setup-code.ts';
import { setupRoutes } from './setup-routes.ts';

/** How often we check the database for an App that another process saved, in milliseconds. */
const lookEvery = 2000;

/**
 * Serves requests until there is an App: the setup page, the health checks, and for everything else the address of the
 * setup page. It also watches for an App that another process saved.
 */
export function createSetup(deps: SetupDeps): Phase {
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
