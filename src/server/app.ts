// `server/` starts and serves. It opens the database and the port, makes the service and its routes, runs the worker,
// and asks for the sweep. It knows every room, and decides nothing itself.
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo, BlockList, Socket } from 'node:net';
import { serve } from '@hono/node-server';
import type { Logger } from 'pino';
import { addressHere } from '../address-here.ts';
import { loadApp } from '../github/app-credentials-store.ts';
import { envFilePath } from './setup/finish-setup.ts';
import { type Clock, systemClock, within } from '../time/clock.ts';
import { Witnesses } from '../time/witnesses.ts';
import type { AppCredentials, Config, StartConfig } from '../config.ts';
import { connectDatabase } from '../database/connect.ts';
import type { Database } from '../database/database.ts';
import { noteServer, refuseWithoutServer } from '../database/data-folder.ts';
import { KnownTrouble } from '../database/known-trouble.ts';
import type { DatabaseTrouble } from '../database/trouble.ts';
import type { Deps } from '../deps.ts';
import { createLogger, tellTrouble } from './log.ts';
import { tellOfClock } from './watch-clock.ts';
import { readSecretKey } from './setup/secret-key.ts';
import { createService, type WithoutApp, type ServicePhase, type RunningService } from './service.ts';
import { leaveUnread } from './unread-bodies.ts';
import { createSetup } from './setup/create-setup.ts';
import { clientAddress, isTrusted, networkOf } from '../github/limits/client-address.ts';

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
  /** Resolves when the process must be started again, with the reason. */
  ended: Promise<DatabaseTrouble> | undefined;
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
const requestsPatience = 8000;

/** @param beforeMove is called before an embedded database is moved, which can take minutes. */
async function openDatabase(
  where: Config['database'],
  parts: { clock: Clock; log: Logger; beforeMove: () => Promise<unknown> },
): Promise<Database> {
  if ('dataDir' in where) {
    await refuseWithoutServer(where.dataDir);
    const { renewFolder } = await import('./archive/import-database.ts');
    await renewFolder(where.dataDir, parts);
  }
  const database = await connectDatabase(where, new KnownTrouble(tellTrouble(parts.log)));
  if ('noteIn' in where && where.noteIn) await noteServer(where.noteIn, where.connectionString);
  return database;
}

const movingText =
  'The embedded database is being moved to a newer PostgreSQL, which can take minutes. What is held stays held. Nothing has to be done.';

/** While the embedded database is moved: whoever restarts what does not answer would begin the move again. */
const moving: ServicePhase = {
  fetch: ({ url }) =>
    new URL(url).pathname === '/healthz'
      ? Response.json({ status: 'ok' })
      : Response.json(
          { status: 'moving', detail: movingText },
          { status: 503, headers: { 'Retry-After': '10' } },
        ),
  start: async () => {},
  close: async () => {},
};

/**
 * Connects all parts and starts them: only this file knows all parts. With an App, from the environment or from the
 * setup page, it starts the service. Without an App it starts the setup page, which hands over when there is one.
 * @throws DataDirInUse; ConfigError if the saved App cannot be read; the errors of a database, port or App key that
 *   cannot be used.
 */
export async function createApp(given: StartConfig, overrides: Overrides = {}): Promise<App> {
  const log = overrides.log ?? createLogger(given);
  const witnesses = new Witnesses(overrides.clock ?? systemClock, tellOfClock(log));
  const { clock } = witnesses;
  let phase: ServicePhase = moving;
  let isStopping = false;
  const fetch = async (request: Request, env: object): Promise<Response> => {
    const answer = await phase.fetch(request, env);
    leaveUnread(env);
    // Otherwise a client could send its next request into a connection that is closing.
    if (isStopping) answer.headers.set('Connection', 'close');
    return answer;
  };
  let listening: ReturnType<typeof listen> | null = null;
  const listenOnce = () => (listening ??= listen(given, fetch));
  const database =
    overrides.database ?? (await openDatabase(given.database, { clock, log, beforeMove: listenOnce }));
  // A given database has no folder for a key.
  const secretKey = overrides.database ? given.secretKey : await readSecretKey(given);
  const config = { ...given, secretKey };
  const ground: WithoutApp = { config, clock, witnesses, log, database };
  let service: RunningService | null = null;
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

  const { port, stopServing } = await listenOnce();
  await phase.start();
  const url = addressHere(config.host, port);
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
    ended: database.ended,
    async close() {
      isStopping = true;
      const answered = stopServing(requestsPatience);
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

/** Listens where the configuration says. @throws the error of the system if it cannot. */
async function listen(
  { port, host, trustedProxies }: Pick<StartConfig, 'port' | 'host' | 'trustedProxies'>,
  fetch: App['fetch'],
): Promise<{ port: number; stopServing(patience: number): Promise<void> }> {
  const serverOptions = { keepAliveTimeout, ...slowest };
  const options = { port, hostname: host, serverOptions, autoCleanupIncoming: false };
  const server = serve({ fetch: fetch as never, ...options }) as Server;
  const stopServing = limitConnections(server, trustedProxies);
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  return { port: (server.address() as AddressInfo).port, stopServing };
}

/** The connections of a process. */
const mostConnections = 1_000;
/** What one network may have of them. Behind a trusted proxy is everybody, so only the total counts. */
const mostOfOne = mostConnections / 4;

/**
 * Milliseconds. A head takes one round trip, and a body of 1 MiB few seconds; webhooks have limits of their own. Node
 * answers 408 to what takes longer.
 */
export const slowest = { headersTimeout: 10_000, requestTimeout: 20_000, connectionsCheckingInterval: 2_000 };

/** Milliseconds until a connection that became idle is ended when the service stops. */
const endIdleEvery = 50;

/** @property request the last one that came through the connection, while it is not answered. */
type OpenSocket = { network: string | null; isUsed: boolean; request: IncomingMessage | null };

/**
 * Closes the connection that has been waiting for its client for longest, when a new one is too many: idle ones, and slow
 * heads and bodies. So they keep out nobody whose request comes at once, such as GitHub.
 * @returns a function that stops listening, and waits until clients have the answers to what they asked. A client whose
 *   answer is lost repeats what was done. After `patience` milliseconds it cuts what is left.
 */
function limitConnections(server: Server, trustedProxies: BlockList): (patience: number) => Promise<void> {
  /** In the order in which they began or ended a request. */
  const open = new Map<Socket, OpenSocket>();
  const keepTo = (limit: number, isMeant: (connection: OpenSocket) => boolean) => {
    const meant = [...open].filter(([, connection]) => isMeant(connection));
    if (meant.length <= limit) return;
    // The new one waits for its client, too.
    const [socket] = meant.find(([, { request }]) => !request?.complete)!;
    open.delete(socket);
    socket.destroy();
  };
  const note = (socket: Socket, request: IncomingMessage | null) => {
    const connection = open.get(socket);
    if (!connection) return;
    open.delete(socket);
    open.set(socket, { ...connection, isUsed: true, request });
  };
  server.on('connection', (socket: Socket) => {
    const address = clientAddress(socket.remoteAddress, undefined, trustedProxies);
    const network = address && isTrusted(address, trustedProxies) ? null : networkOf(address);
    open.set(socket, { network, isUsed: false, request: null });
    socket.once('close', () => open.delete(socket));
    if (network !== null) keepTo(mostOfOne, (other) => other.network === network);
    keepTo(mostConnections, () => true);
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    note(socket, request);
    response.once('close', () => {
      if (open.get(socket)?.request === request) note(socket, null);
    });
  });
  return async (patience) => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Browsers open some connections ahead, and Node does not count them as idle.
    for (const [socket, { isUsed }] of open) if (!isUsed) socket.destroy();
    const ending = setInterval(() => server.closeIdleConnections(), endIdleEvery);
    await within(patience, closed);
    clearInterval(ending);
    server.closeAllConnections();
    await closed;
  };
}
