import type { SocketModeClient } from '@slack/socket-mode';
import { assertStorable } from '../../api/read-request.ts';
import { within } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { type SlackApp, slackAppsWithSockets } from '../../notices/slack/slack-apps.ts';
import { proxyAgent } from '../../github/through-proxy.ts';
import { optionsOf, quiet } from '../../notices/slack/slack-client.ts';
import { acceptRequest, type Heard, readCommandRequest, readInteraction } from './receive-slack.ts';

// Socket Mode, for services that Slack cannot reach: one connection for each app and worker process. Requests are the
// same as over HTTP. Who has the app's token opened the socket, so that they need no signature.

/** Milliseconds between two looks for apps that owners connected or changed. */
const lookForAppsEvery = 60_000;
/** Milliseconds after which a connection did not fail. */
const lasting = 10_000;
/** Milliseconds before the next try to connect: none at first, and longer after each failure. */
const soonest = 1_000;
const latest = 60_000;
/** Milliseconds that closing a connection takes. */
const socketPatience = 2_000;

export type Sockets = { stop(): Promise<void> };

/** Connects the apps that have an app-level token, and those that get one later. */
export function startSockets(deps: Deps): Sockets {
  const open = new Map<string, Connection>();
  let isLooking = false;
  const look = async (): Promise<void> => {
    const apps = new Map((await slackAppsWithSockets(deps)).map((app) => [socketKeyOf(app), app]));
    for (const [key, connection] of open)
      if (!apps.has(key)) {
        open.delete(key);
        void connection.close();
      }
    if (deps.stopping.aborted) return;
    for (const [key, app] of apps) if (!open.has(key)) open.set(key, new Connection(deps, app));
  };
  const lookAgain = () => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((error: unknown) => deps.log.warn({ err: error }, 'could not look for Slack apps'))
      .finally(() => (isLooking = false));
  };
  lookAgain();
  const timer = deps.clock.setInterval(lookAgain, lookForAppsEvery);
  return {
    async stop() {
      deps.clock.clearInterval(timer);
      await Promise.all([...open.values()].map((connection) => connection.close()));
    },
  };
}

/** A new token is another connection. */
const socketKeyOf = ({ key, appToken }: SlackApp): string => `${key} ${appToken}`;

type Envelope = { ack(payload?: object): Promise<void>; body: unknown };

/** The connection of an app. The library would end the process where it cannot connect again, so we connect again. */
class Connection {
  readonly #deps: Deps;
  readonly #app: SlackApp;
  #client: SocketModeClient | null = null;
  #timer: unknown = null;
  #isClosed = false;
  #failures = 0;

  constructor(deps: Deps, app: SlackApp) {
    this.#deps = deps;
    this.#app = app;
    void this.#connect();
  }

  async #connect(): Promise<void> {
    const { log } = this.#deps;
    const about = { app: this.#app.key };
    try {
      const { SocketModeClient } = await import('@slack/socket-mode');
      const dispatcher = await proxyAgent(this.#deps.config);
      if (this.#isClosed) return;
      const client = new SocketModeClient({
        appToken: this.#app.appToken!,
        autoReconnectEnabled: false,
        logger: quiet,
        clientOptions: optionsOf(this.#deps),
        dispatcher,
      });
      this.#client = client;
      client.on('slash_commands', (envelope: Envelope) => void this.#hear(envelope, readCommandRequest));
      client.on('interactive', (envelope: Envelope) => void this.#hear(envelope, readInteraction));
      await client.start();
      const since = this.#deps.clock.now();
      log.info(about, 'connected to Slack by Socket Mode');
      // Slack ends connections now and then, and tells nobody anything meanwhile.
      client.once('disconnected', () => {
        if (this.#deps.clock.now() - since > lasting) this.#failures = 0;
        this.#again();
      });
    } catch (error) {
      log.warn(
        { ...about, why: (error as Error | undefined)?.message },
        'could not connect to Slack by Socket Mode',
      );
      this.#again();
    }
  }

  #again(): void {
    if (this.#isClosed) return;
    if (this.#failures++ === 0) return void this.#connect();
    const wait = Math.min(latest, soonest * 2 ** Math.min(this.#failures, 6));
    this.#timer = this.#deps.clock.setTimeout(() => void this.#connect(), wait);
  }

  /** Slack sends again what is not acknowledged within 3 s. */
  async #hear({ ack, body }: Envelope, read: (body: unknown) => Heard | null): Promise<void> {
    try {
      const heard = read(body);
      if (heard) assertStorable(heard, 'body');
      await ack((heard && (await acceptRequest(this.#deps, this.#app, heard))) ?? undefined);
    } catch (error) {
      this.#deps.log.error({ err: error }, 'a request of Slack could not be saved');
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#deps.clock.clearTimeout(this.#timer);
    if (this.#client)
      await within(
        socketPatience,
        this.#client.disconnect().catch(() => undefined),
      );
  }
}
