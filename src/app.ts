import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { Logger } from 'pino';
import { loadApp } from './setup/app-credentials-store.ts';
import { envFilePath } from './setup/env-file.ts';
import { type Clock, systemClock } from './clock.ts';
import type { AppCredentials, StartConfig } from './config.ts';
import { connectDatabase } from './database/connect.ts';
import type { Database } from './database/database.ts';
import type { Deps } from './deps.ts';
import { createLogger } from './log.ts';
import type { Phase } from './phase.ts';
import { readSecretKey } from './setup/secret-key.ts';
import { createService, type Ground, type Service } from './service.ts';
import { createSetup } from './setup/create-setup.ts';

export type App = {
  /** Where it listens, with the port that was really taken. */
  url: string;
  log: Logger;
  /** Of the running service. @throws while no GitHub App is configured. */
  readonly deps: Deps;
  /** Resolves when no job runs and none is due. @returns how many this process has taken so far. */
  settled(): Promise<number>;
  /** Takes no new work, finishes what runs (at most 10 s), and closes the database. */
  close(): Promise<void>;
};

/** What tests put in the place of the real thing. */
export type Overrides = { clock?: Clock; database?: Database; log?: Logger; envFile?: string };

/**
 * Milliseconds that a connection may be idle: longer than proxies keep theirs (60 s is common), or they send a request
 * into one that is just being closed.
 */
const keepAliveTimeout = 75_000;

/**
 * Puts everything together and starts it: the only place that knows all parts. With an App, from the environment or
 * kept by the setup page, that is the service. Without one it is the setup page, which hands over once there is one.
 * @throws DataDirInUse; ConfigError where the kept App cannot be read; what the database, the port or the App's key
 *   throw when they cannot be used.
 */
export async function createApp(given: StartConfig, overrides: Overrides = {}): Promise<App> {
  const log = overrides.log ?? createLogger(given);
  const clock = overrides.clock ?? systemClock;
  const database = overrides.database ?? (await connectDatabase(given.database));
  // A database that is given has no folder for a key.
  const secretKey = overrides.database ? given.secretKey : await readSecretKey(given);
  const config = { ...given, secretKey };
  const ground: Ground = { config, clock, log, database };
  let service: Service | null = null;
  let phase: Phase;
  let handover: Promise<void> | null = null;

  const takeOver = async (app: AppCredentials): Promise<void> => {
    const next = await createService(ground, app);
    try {
      await next.start();
    } catch (error) {
      await next.close();
      throw error;
    }
    const before = phase;
    phase = service = next;
    await before.close();
    log.info({ app: app.id }, 'a GitHub App is configured: the service runs');
  };
  /** Runs once, even if several callers ask. A failed try may be repeated. */
  const become = (app: AppCredentials): Promise<void> =>
    (handover ??= takeOver(app).catch((error: unknown) => {
      handover = null;
      throw error;
    }));

  const app = config.app ?? (await loadApp(database.prisma, config, log));
  if (app) phase = service = await createService(ground, app);
  else {
    const envFile = overrides.envFile ?? envFilePath();
    phase = createSetup({ db: database.prisma, clock, log, config, secretKey, envFile, become });
  }

  const fetch = (request: Request, env: object) => phase.fetch(request, env);
  const { port: asked, host: hostname } = config;
  const serverOptions = { keepAliveTimeout };
  const server = serve({ fetch: fetch as never, port: asked, hostname, serverOptions });
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  await phase.start();
  const { port } = server.address() as AddressInfo;
  const url = `http://${config.host === '0.0.0.0' ? 'localhost' : config.host}:${port}`;
  log.info(
    { url, role: config.role, database: 'dataDir' in config.database ? 'embedded' : 'postgresql' },
    'listening',
  );
  return {
    url,
    log,
    get deps() {
      if (!service) throw new Error('No GitHub App is configured yet: open /setup.');
      return service.deps;
    },
    settled: async () => (await service?.settled()) ?? 0,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      if ('closeIdleConnections' in server) server.closeIdleConnections();
      await handover?.catch(() => {});
      await phase.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
      await database.close();
    },
  };
}
