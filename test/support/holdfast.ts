import { BlockList } from 'node:net';
import { type App, createApp } from '../../src/server/app.ts';
import type { Config } from '../../src/config.ts';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { generateKey, hashKey, type KeyScope } from '../../src/auth/application-key.ts';
import { createLogger } from '../../src/server/log.ts';
import { openTestDatabase } from './database.ts';
import type { Database } from '../../src/database/database.ts';
import { postWebhook, serveInside } from './inside.ts';
import { untilQuiet } from './until-quiet.ts';
import { TestClock } from './test-clock.ts';
import type { Clock } from '../../src/time/clock.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
export type Answer = { status: number; body: any; headers: Headers; text: string };

/** Holdfast and a GitHub for it, in this process, on a clock that only the test moves. */
export type Holdfast = {
  app: App;
  github: Sandbox;
  clock: TestClock;
  /** Every line that the service logged. */
  logs: string[];
  /** Calls the service. `as` is the credential; a body that is not a string is sent as JSON. */
  call(
    method: string,
    path: string,
    more?: { as?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Answer>;
  /** An application key, made without the API. */
  key(owner: string, scope: KeyScope, more?: { expiresAt?: Date; revokedAt?: Date }): Promise<string>;
  /**
   * Starts another process's service on the same database: it works, and no webhook reaches it.
   * @param itsClock by default the same.
   */
  replica(itsClock?: Clock): Promise<App>;
  /** Moves the clock to an instant, as if all of that time had passed. */
  advanceTo(instant: string | Date): Promise<void>;
  /** Waits until no job waits or runs and no webhook is under way. */
  quiet(): Promise<void>;
  close(): Promise<void>;
};

export const startOfTests = '2026-03-01T09:00:00Z';

/** What every service of the tests is set to. */
export const settingsOfTests = {
  host: '127.0.0.1',
  database: { dataDir: 'unused: the test opens the database' },
  secretKeyPrevious: null,
  statusContext: 'holdfast/freeze',
  statusWritesPerMinute: { least: 1_000_000, most: 1_000_000 },
  strangerQuestionsPerMinute: 1_000_000,
  callerQuestionsPerMinute: 1_000_000,
  trustedProxies: new BlockList(),
  webhookAllowedHosts: ['127.0.0.1'],
  httpProxy: null,
  httpsProxy: null,
  noProxy: '',
  metricsToken: null,
  role: 'all',
  logLevel: 'debug',
  logFormat: 'json',
} satisfies Partial<Config>;

/**
 * @param populate fills GitHub before the service starts; the App is told of what it installs by webhook.
 * @param lock whether there is a second App.
 */
export async function startHoldfast(
  populate: (github: Sandbox) => void | Promise<void> = () => {},
  config: Partial<Config> = {},
  { lock = false }: { lock?: boolean } = {},
): Promise<Holdfast> {
  const clock = new TestClock(startOfTests);
  const publicUrl = config.publicUrl ?? 'https://holdfast.example';
  const github = await startSandbox({
    now: () => new Date(clock.elapsed()),
    app: { callbackUrls: [`${publicUrl}/auth/callback`] },
    send: postWebhook,
  });
  const logs: string[] = [];
  const database = await clock.drive(await openTestDatabase());
  const log = createLogger({ logLevel: 'trace', logFormat: 'json' }, (line) => void logs.push(line));
  const start = (parts: { database: Database; clock?: Clock }) =>
    createApp(
      {
        ...settingsOfTests,
        port: 0,
        publicUrl,
        app: { ...github.app, oauth: github.app },
        lock: lock ? github.addSecondApp() : null,
        secretKey: 'a secret key of the tests, 32 characters or more',
        githubApiUrl: github.url,
        slack: { apiUrl: 'http://slack.invalid/api/', app: null },
        ...config,
      },
      { clock, log, ...parts },
    );
  const app = await start({ database });
  const leave = [serveInside(github.url, github.fetch), serveInside(app.url, app.fetch)];
  const replicas: App[] = [];
  github.deliverTo(`${app.url}/api/github/webhooks`);
  let restedAt = 0;
  const holdfast: Holdfast = {
    app,
    github,
    clock,
    logs,
    async call(method, path, { as, body, headers } = {}) {
      const response = await fetch(`${app.url}${path}`, {
        method,
        headers: {
          ...(as === undefined ? {} : { Authorization: `Bearer ${as}` }),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.text();
      return {
        status: response.status,
        body: text === '' ? undefined : JSON.parse(text),
        headers: response.headers,
        text,
      };
    },
    async key(owner, scope, more = {}) {
      const account = await app.deps.db.account.findFirstOrThrow({
        where: { loginKey: owner.toLowerCase() },
      });
      const secret = generateKey(scope);
      await app.deps.db.applicationKey.create({
        data: {
          id: crypto.randomUUID(),
          accountId: account.id,
          name: `${scope} key`,
          scope,
          secretHash: hashKey(secret),
          createdAt: new Date(clock.now()),
          createdBy: { type: 'user', id: 0, name: 'test' },
          ...more,
        },
      });
      return secret;
    },
    async replica(itsClock = clock) {
      const one = await start({ database: { ...database, close: async () => {} }, clock: itsClock });
      replicas.push(one);
      leave.push(serveInside(one.url, one.fetch));
      return one;
    },
    async advanceTo(instant) {
      await holdfast.quiet();
      await clock.setTime(new Date(instant));
      await clock.tick(0);
      await holdfast.quiet();
    },
    async quiet() {
      restedAt = await untilQuiet({ app, replicas, github, clock }, restedAt);
    },
    async close() {
      for (const each of leave) each();
      for (const one of replicas) await one.close();
      await app.close();
      await github.close();
      github.assertNoUnknownRoutes();
    },
  };
  await populate(github);
  await holdfast.quiet();
  return holdfast;
}
