import type { Logger } from 'pino';
import { OpenAPIHono } from '@hono/zod-openapi';
import { Hono, type MiddlewareHandler } from 'hono';
import { Permissions } from '../auth/permissions.ts';
import type { Clock } from '../time/clock.ts';
import type { Witnesses } from '../time/witnesses.ts';
import type { AppCredentials, StartConfig } from '../config.ts';
import { Changes } from '../database/changes.ts';
import type { Database } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { clearTurns } from '../statuses/instant-hold/hold-store.ts';
import { clearLeases } from '../statuses/lease.ts';
import { lookAhead } from '../explanations/preview-freeze.ts';
import { createGitHubApp } from '../github/github-app.ts';
import { Metrics } from '../metrics.ts';
import { loadLock } from '../github/app-credentials-store.ts';
import { createJobQueue, type JobQueue } from '../database/queue/queue.ts';
import { watchClock } from './watch-clock.ts';
import { type Sockets, startSockets } from '../chat/slack/socket-mode.ts';
import { startWorker, type Worker } from './worker.ts';
import { JobTokens } from '../auth/oidc/job-token.ts';
import { CallerLimits } from '../github/limits/caller-limits.ts';
import { serveMetrics } from './metrics/figures.ts';
import { helpRoutes } from '../pages/help/help-routes.ts';
import { mountApiReference } from '../pages/api-reference.ts';
import { mountPages } from '../pages/mount-pages.ts';
import { compressPages } from '../pages/layout.ts';
import { receiveSlackCommand, receiveSlackInteraction } from '../chat/slack/receive-slack.ts';
import { receiveWebhook } from '../webhooks/receive-webhook.ts';
import { endpoints } from '../api/endpoints.ts';
import { errorResponse } from '../api/error-response.ts';
import { logRequests, ownRequestId } from '../api/log-requests.ts';
import { mountCalendars } from '../api/v1/calendars.ts';
import { serveEndpoint } from '../api/serve-endpoint.ts';
import { mountNaturalAddresses, mountNotServed, noSuchRoute } from './not-served.ts';
import { openApiDocument } from '../api/openapi.ts';
import { mountHealth, watchWork } from './health.ts';
import { requestPatience, withPatience } from '../database/patience.ts';
import { taskNames } from '../database/queue/jobs.ts';
import { OwnWrites } from '../statuses/own-writes.ts';

/** The current phase of the process: the setup, or the service. The HTTP server outlives the change. */
export type ServicePhase = {
  fetch(request: Request, env: object): Response | Promise<Response>;
  /** Called when it is reachable. */
  start(): Promise<void>;
  /** @param answered resolves when no request needs it any more; without it, none does. */
  close(answered?: Promise<void>): Promise<void>;
};

/** What exists before an App is known. */
export type WithoutApp = {
  config: StartConfig;
  /** That of the witnesses. */
  clock: Clock;
  witnesses: Witnesses;
  log: Logger;
  database: Database;
};

/** The service with an App: its interface, webhooks and, unless the role is `web`, the worker. */
export type RunningService = ServicePhase & {
  deps: Deps;
  /** Resolves when no job runs and none is due. @returns how many jobs this process has taken so far. */
  settled(): Promise<number>;
};

/** Milliseconds for work under way to finish when the service stops. It hands back the rest. */
const stopPatience = 5000;

/** Connects the parts of the service of an App. @throws the errors of a database or an App key that cannot be used. */
export async function createService(ground: WithoutApp, app: AppCredentials): Promise<RunningService> {
  const { clock, witnesses, log, database } = ground;
  const config = { ...ground.config, app };
  const queue = createJobQueue(database, clock, witnesses);
  const stopping = new AbortController();
  const cutOff = new AbortController();
  const metrics = new Metrics(taskNames);
  const github = await createGitHubApp(
    config,
    log,
    clock,
    cutOff.signal,
    metrics,
    () => loadLock(database.prisma, config, log),
    witnesses,
  );
  const deps: Deps = {
    db: database.prisma,
    sql: database.sql,
    trouble: database.trouble,
    keepUp: database.keepUp,
    queue,
    changes: new Changes(database, clock),
    ownWrites: new OwnWrites(),
    github,
    lookAhead,
    permissions: new Permissions(clock),
    metrics,
    clock,
    witnesses,
    log,
    config,
    stopping: stopping.signal,
  };
  if ('dataDir' in config.database) await Promise.all([clearLeases(deps), clearTurns(deps.db)]);
  const api = createApi(deps, queue);
  const watch = watchClock(deps);
  let work: { stop(): void } | null = null;
  let worker: Worker | null = null;
  let sockets: Sockets | null = null;
  return {
    deps,
    fetch: api.fetch,
    async start() {
      await watch.start();
      if (config.role === 'web') {
        work = watchWork(deps);
        return;
      }
      worker = await startWorker(deps, queue);
      sockets = startSockets(deps);
    },
    settled: async () => (await worker?.settled()) ?? 0,
    /** Takes no new jobs, and hands back jobs that do not finish in time. */
    async close(answered) {
      stopping.abort();
      watch.stop();
      work?.stop();
      // Jobs that still wait for GitHub are handed back, and such requests answered with an error.
      const cut = setTimeout(() => cutOff.abort(), stopPatience);
      await Promise.all([worker?.stop(), sockets?.stop(), answered]);
      await deps.changes.close();
      clearTimeout(cut);
    },
  };
}

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
  api.use((_context, next) => withPatience(requestPatience, next));
  api.onError((error, context) => errorResponse(error, context, deps.log));
  api.notFound(noSuchRoute);
  mountHealth(api, deps, queue);
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
