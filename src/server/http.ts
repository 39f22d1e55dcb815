import { OpenAPIHono } from '@hono/zod-openapi';
import { Hono, type MiddlewareHandler } from 'hono';
import { JobTokens } from '../auth/oidc/job-token.ts';
import type { Deps } from '../deps.ts';
import { CallerLimits } from '../github/limits/caller-limits.ts';
import type { JobQueue } from '../database/queue/queue.ts';
import { serveMetrics } from './metrics/serve-metrics.ts';
import { helpRoutes } from '../pages/help/help-routes.ts';
import { mountApiReference } from '../pages/api-reference.ts';
import { mountPages } from '../pages/mount-pages.ts';
import { compressPages } from '../pages/page-headers.ts';
import { receiveSlackCommand, receiveSlackInteraction } from '../webhooks/slack/receive-slack.ts';
import { receiveWebhook } from '../webhooks/receive-webhook.ts';
import { endpoints } from '../api/endpoints.ts';
import { errorResponse } from '../api/error-response.ts';
import { logRequests, ownRequestId } from '../api/log-requests.ts';
import { mountCalendars } from '../api/serve-calendar.ts';
import { serveEndpoint } from '../api/serve-endpoint.ts';
import { mountNotServed, noSuchRoute, mountNaturalAddresses } from './not-served.ts';
import { openApiDocument } from '../api/openapi.ts';
import { within } from '../time/clock.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';

/**
 * Answers are only for the caller, and browsers must not guess their type. This sets the headers before the answer is
 * made, because changing a finished answer copies its body through a stream.
 */
const apiHeaders: MiddlewareHandler = async (context, next) => {
  context.header('X-Content-Type-Options', 'nosniff');
  context.header('Cache-Control', 'no-store');
  await next();
};

const webhookPath = '/api/github/webhooks';

/** The HTTP side: the `/v1` interface, GitHub's webhooks, health, and metrics. */
export function createApi(deps: Deps, queue: JobQueue): OpenAPIHono {
  const api = new OpenAPIHono();
  const limits = new CallerLimits(deps.clock);
  const callers = { jobs: new JobTokens(deps.clock), limits };
  api.use(ownRequestId, logRequests(deps.log, deps.metrics));
  api.onError((error, context) => errorResponse(error, context, deps.log));
  api.notFound(noSuchRoute);
  mountHealth(api, deps.db, queue);
  serveMetrics(api, deps);
  mountCalendars(api, deps);
  api.post('/slack/commands', (context) => receiveSlackCommand(deps, context));
  api.post('/slack/interactions', (context) => receiveSlackInteraction(deps, context));
  api.post(webhookPath, (context) => receiveWebhook(deps, context));
  const v1 = new Hono();
  api.use('/v1/*', apiHeaders);
  for (const definition of endpoints) serveEndpoint(v1, deps, callers, definition);
  let made: object | undefined;
  const document = () => (made ??= openApiDocument(deps.config.publicUrl));
  v1.get('/openapi.json', (context) => context.json(document()));
  api.route('/v1', v1);
  api.use(compressPages);
  mountApiReference(api, document);
  api.route('/help', helpRoutes(deps));
  mountPages(api, deps, limits);
  mountNotServed(api);
  mountNaturalAddresses(api);
  return api;
}

/** How many milliseconds a part may take to answer before it counts as not ready. */
const patience = 3000;

/** `/healthz`: the process runs. `/readyz`: the database and the job queue answer, so the process can take traffic. */
function mountHealth(api: OpenAPIHono, db: PrismaClient, queue: Pick<JobQueue, 'isReady'>): void {
  api.get('/healthz', (context) => context.json({ status: 'ok' }));
  api.get('/readyz', async (context) => {
    const [database, jobs] = await Promise.all([
      inTime(db.$queryRaw`SELECT 1`.then(() => true)),
      inTime(queue.isReady()),
    ]);
    const checks = { database: database ? 'ok' : 'unavailable', job_queue: jobs ? 'ok' : 'unavailable' };
    return context.json(
      { status: database && jobs ? 'ready' : 'not ready', checks },
      database && jobs ? 200 : 503,
    );
  });
}

const inTime = async (check: Promise<boolean>): Promise<boolean> =>
  (await within(
    patience,
    check.catch(() => false),
  )) ?? false;
