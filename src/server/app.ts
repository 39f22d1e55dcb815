import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { Logger } from 'pino';
import { loadApp } from '../github/app-credentials-store.ts';
import { envFilePath } from './setup/env-file.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import type { AppCredentials, Config, StartConfig } from '../config.ts';
import { connectDatabase } from '../database/connect.ts';
import type { Database } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { limitConnections, slowest } from './connections.ts';
import { createLogger } from './log.ts';
import { readSecretKey } from './setup/secret-key.ts';
import { createService, type Ground, type Phase, type Service } from './service.ts';
import { createSetup } from './setup/create-setup.ts';

export type App = {
  /** Where it listens, with the actual port. */
  url: string;
  /** Answers a request as the server does. @param env of `@hono/node-server`, such as the socket of the caller. */
  fetch(request: Request, env: object): Promise<Response>;
  log: Logger;
  /** The parts of the running service. @throws while no GitHub App is configured. */
  readonly deps: Deps;
  /** Resolves when no job runs and none is due. @returns how many jobs this process has taken so far. */
  settled(): Promise<number>;
  /** Takes no new requests and jobs, finishes those under way (at most 10 s), and closes the database. */
  close(): Promise<void>;
};

/** What tests use instead of the real parts. */
type Overrides = { clock?: Clock; database?: Database; log?: Logger; envFile?: string };

/**
 * Milliseconds that a connection can be idle. This is longer than proxies keep theirs (60 s is common). Otherwise they
 * could send a request into a connection that is closing.
 */
const keepAliveTimeout = 75_000;

/** Milliseconds for requests under way when the service stops. Their calls to GitHub are ended before. */
const patience = 8000;

async function openDatabase(
  where: Config['database'],
  parts: { clock: Clock; log: Logger },
): Promise<Database> {
  if ('dataDir' in where) {
    const { renewFolder } = await import('./archive/renew-folder.ts');
    await renewFolder(where.dataDir, parts);
  }
  return connectDatabase(where);
}

/**
 * Connects all parts and starts them: only this file knows all parts. With an App, from the environment or from the
 * setup page, it starts the service. Without an App it starts the setup page, which hands over when there is one.
 * @throws DataDirInUse; ConfigError if the saved App cannot be read; the errors of a database, port or App key that
 *   cannot be used.
 */
export async function createApp(given: StartConfig, overrides: Overrides = {}): Promise<App> {
  const log = overrides.log ?? createLogger(given);
  const clock = overrides.clock ?? systemClock;
  const database = overrides.database ?? (await openDatabase(given.database, { clock, log }));
  // A given database has no folder for a key.
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
  /** Runs once, even if several callers ask. After a failure, it can run again. */
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

  let isStopping = false;
  const fetch = async (request: Request, env: object): Promise<Response> => {
    const answer = await phase.fetch(request, env);
    // Otherwise a client could send its next request into a connection that is closing.
    if (isStopping) answer.headers.set('Connection', 'close');
    return answer;
  };
  const serverOptions = { keepAliveTimeout, ...slowest };
  const listenTo = { port: config.port, hostname: config.host };
  const server = serve({ fetch: fetch as never, ...listenTo, serverOptions }) as Server;
  const stopServing = limitConnections(server, config.trustedProxies);
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
    fetch,
    log,
    get deps() {
      if (!service) throw new Error('No GitHub App is configured yet: open /setup.');
      return service.deps;
    },
    settled: async () => (await service?.settled()) ?? 0,
    async close() {
      isStopping = true;
      const answered = stopServing(patience);
      await handover?.catch(() => {});
      const stopped = phase;
      await stopped.close(answered);
      await answered;
      // A last request of the setup page may have started the service.
      await handover?.catch(() => {});
      if (phase !== stopped) await phase.close();
      await database.close();
    },
  };
}
