import type { Logger } from 'pino';
import { createApi } from './http.ts';
import { Permissions } from '../auth/permissions.ts';
import type { Clock } from '../time/clock.ts';
import type { AppCredentials, StartConfig } from '../config.ts';
import type { Database } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { clearTurns } from '../statuses/instant-hold/hold-store.ts';
import { clearClaims } from '../deployments/deployment-store.ts';
import { clearLeases } from '../statuses/lease.ts';
import { lookAhead } from '../explanations/preview-freeze.ts';
import { createGitHubApp } from '../github/github-app.ts';
import { Metrics } from './metrics/metrics.ts';
import { loadLock } from '../github/app-credentials-store.ts';
import { OwnWrites } from '../statuses/write-status.ts';
import { createJobQueue } from '../database/queue/queue.ts';
import { type Sockets, startSockets } from '../webhooks/slack/socket-mode.ts';
import { startWorker, type Worker } from './worker.ts';

/** The current phase of the process: the setup, or the service. The HTTP server outlives the change. */
export type Phase = {
  fetch(request: Request, env: object): Response | Promise<Response>;
  /** Called when it is reachable. */
  start(): Promise<void>;
  /** @param answered resolves when no request needs it any more; without it, none does. */
  close(answered?: Promise<void>): Promise<void>;
};

/** What exists before an App is known. */
export type Ground = { config: StartConfig; clock: Clock; log: Logger; database: Database };

/** The service with an App: its interface, webhooks and, unless the role is `web`, the worker. */
export type Service = Phase & {
  deps: Deps;
  /** Resolves when no job runs and none is due. @returns how many jobs this process has taken so far. */
  settled(): Promise<number>;
};

/** Milliseconds for work under way to finish when the service stops. It hands back the rest. */
const patience = 5000;

/** Connects the parts of the service of an App. @throws the errors of a database or an App key that cannot be used. */
export async function createService(ground: Ground, app: AppCredentials): Promise<Service> {
  const { clock, log, database } = ground;
  const config = { ...ground.config, app };
  const queue = createJobQueue(database, clock);
  const stopping = new AbortController();
  const cutOff = new AbortController();
  const metrics = new Metrics();
  const github = await createGitHubApp(config, log, clock, cutOff.signal, metrics, () =>
    loadLock(database.prisma, config, log),
  );
  const deps: Deps = {
    db: database.prisma,
    sql: database.sql,
    keepUp: database.keepUp,
    queue,
    ownWrites: new OwnWrites(),
    github,
    lookAhead,
    permissions: new Permissions(clock),
    metrics,
    clock,
    log,
    config,
    stopping: stopping.signal,
  };
  if ('dataDir' in config.database)
    await Promise.all([clearLeases(deps), clearTurns(deps.db), clearClaims(deps.db)]);
  const api = createApi(deps, queue);
  let worker: Worker | null = null;
  let sockets: Sockets | null = null;
  return {
    deps,
    fetch: api.fetch,
    async start() {
      if (config.role === 'web') return;
      worker = await startWorker(deps, queue);
      sockets = startSockets(deps);
    },
    settled: async () => (await worker?.settled()) ?? 0,
    /** Takes no new jobs, and hands back jobs that do not finish in time. */
    async close(answered) {
      stopping.abort();
      // Jobs that still wait for GitHub are handed back, and such requests answered with an error.
      const cut = setTimeout(() => cutOff.abort(), patience);
      await Promise.all([worker?.stop(), sockets?.stop(), answered]);
      clearTimeout(cut);
    },
  };
}
