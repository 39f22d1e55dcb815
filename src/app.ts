import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { Logger } from 'pino';
import { createApi } from './api/create-api.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { connectDatabase } from './database/connect.ts';
import type { Database } from './database/database.ts';
import { keptSecretKey } from './database/secret-key.ts';
import type { Deps } from './deps.ts';
import { clearLeases } from './freeze-status/installation-lease.ts';
import { createGitHubApp } from './github/github-app.ts';
import { startJobQueue } from './jobs/queue.ts';
import { startWorker } from './jobs/worker.ts';
import { createLogger } from './log.ts';
import { registerWebhooks } from './webhooks/register-webhooks.ts';

export type App = {
  /** Where it listens, with the port that was really taken. */
  url: string;
  log: Logger;
  deps: Deps;
  /** Takes no new work, finishes what runs (at most 10 s), and closes the database. */
  close(): Promise<void>;
};

/** Milliseconds that work under way has to finish when the service stops; the rest is handed back. */
const patience = 5000;

/** What tests put in the place of the real thing. */
export type Overrides = { clock?: Clock; database?: Database; log?: Logger };

/**
 * Puts the service together and starts it: the only place that knows all parts.
 * @throws DataDirInUse; what the database, the port or the App's key throw when they cannot be used.
 */
export async function createApp(given: Config, overrides: Overrides = {}): Promise<App> {
  const log = overrides.log ?? createLogger(given);
  const clock = overrides.clock ?? systemClock;
  const database = overrides.database ?? (await connectDatabase(given.database));
  const config = overrides.database ? given : await withSecretKey(given);
  const queue = await startJobQueue(database, clock, log);
  const stopping = new AbortController();
  const cutOff = new AbortController();
  const github = await createGitHubApp(config, log, cutOff.signal);
  const deps: Deps = {
    db: database.prisma,
    jobs: queue,
    github,
    clock,
    log,
    config,
    stopping: stopping.signal,
  };
  registerWebhooks(github.probot, deps);
  if ('dataDir' in config.database) await clearLeases(deps);
  const api = createApi(deps, queue);
  const server = serve({ fetch: api.fetch, port: config.port, hostname: config.host });
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  const worker = config.role === 'web' ? null : await startWorker(deps, queue);
  const { port } = server.address() as AddressInfo;
  const url = `http://${config.host === '0.0.0.0' ? 'localhost' : config.host}:${port}`;
  log.info(
    { url, role: config.role, database: 'dataDir' in config.database ? 'embedded' : 'postgresql' },
    'listening',
  );
  return {
    url,
    log,
    deps,
    async close() {
      stopping.abort();
      // What GitHub has not answered by then is handed back.
      const cut = setTimeout(() => cutOff.abort(), patience);
      worker?.stop();
      const closed = new Promise((resolve) => server.close(resolve));
      if ('closeIdleConnections' in server) server.closeIdleConnections();
      await queue.stop();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
      clearTimeout(cut);
      await database.close();
    },
  };
}

/** With a data folder of its own the service needs no operator for its secret key. */
async function withSecretKey(config: Config): Promise<Config> {
  if (config.secretKey || !('dataDir' in config.database)) return config;
  return { ...config, secretKey: await keptSecretKey(config.database.dataDir) };
}
