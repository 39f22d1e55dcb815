// Holdfast without an App, a GitHub without one, and a person with a browser who sets it up.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type App, createApp } from '../../src/server/app.ts';
import type { StartConfig } from '../../src/config.ts';
import type { Database } from '../../src/database/database.ts';
import { redact } from '../../src/server/log.ts';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { freePort } from './free-port.ts';
import { openTestDatabase } from './database.ts';
import { settingsOfTests, startOfTests } from './holdfast.ts';
import { untilQuiet } from './until-quiet.ts';
import { TestClock } from './test-clock.ts';

export const secretKey = 'a secret key of the tests, long enough for anybody';

export type FirstRun = {
  app: App;
  github: Sandbox;
  clock: TestClock;
  database: Database;
  /** Where credentials are written on request; there is no such file yet. */
  envFile: string;
  /** Every line that the service logged. */
  logs: string[];
  /** The code that the log told last; with a URL, of the service that listens there. */
  code(url?: string): string;
  /** Opens the setup page and gives the code. */
  open(visitor: Visitor, url?: string): Promise<Shown>;
  /** Forgets the App, and starts a service anew on the same database. */
  begin(): Promise<void>;
  /** Another process on the same database, on a port of its own. */
  startAnother(config?: Partial<StartConfig>): Promise<App>;
  /** Waits until the configured service has nothing to do. */
  quiet(): Promise<void>;
  close(): Promise<void>;
};

/** @param config instead of what a first run has; `publicUrl` is the address on which it listens unless given. */
export async function startFirstRun(config: Partial<StartConfig> = {}): Promise<FirstRun> {
  const clock = new TestClock(startOfTests);
  const github = await startSandbox({ now: () => new Date(clock.now()), app: null });
  for (const login of ['ada', 'bob']) github.addUser(login);
  github.addOrganization('acme', { admins: ['ada'], members: ['bob'] });
  const database = await clock.drive(await openTestDatabase());
  const logs: string[] = [];
  const log = pino({ level: 'debug', base: null }, { write: (line: string) => void logs.push(redact(line)) });
  const apps: App[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-env-'));
  const envFile = join(folder, '.env');
  const start = async (more: Partial<StartConfig>) => {
    const port = await freePort();
    const app = await createApp(
      {
        ...settingsOfTests,
        port,
        publicUrl: `http://127.0.0.1:${port}`,
        app: null,
        lock: null,
        secretKey,
        githubApiUrl: github.url,
        slack: { apiUrl: 'https://slack.com/api/', app: null },
        ...more,
      },
      // Only the test closes it: one service after another uses it.
      { clock, database: { ...database, close: async () => {} }, log, envFile },
    );
    apps.push(app);
    return app;
  };
  const run: FirstRun = {
    app: await start(config),
    github,
    clock,
    database,
    envFile,
    logs,
    code(url = '') {
      const line = logs.findLast((each) => each.includes('"code"') && each.includes(`"setup":"${url}`));
      return line?.match(/"code":"([^"]+)"/)?.[1] ?? '';
    },
    async open(visitor, url = run.app.url) {
      return visitor.submit(await visitor.get(`${url}/setup`), { code: run.code(url) });
    },
    async begin() {
      for (const each of apps.splice(0)) await each.close();
      await database.prisma.appCredentials.deleteMany();
      logs.length = 0;
      run.app = await start(config);
    },
    startAnother: (more = {}) => start(more),
    async quiet() {
      await untilQuiet(run, -1);
    },
    async close() {
      for (const each of apps) await each.close();
      await database.close();
      await github.close();
      await rm(folder, { recursive: true });
      github.assertNoUnknownRoutes();
    },
  };
  return run;
}

/** @property redirects where redirects led on the way, in their order. */
export type Shown = { status: number; url: string; text: string; headers: Headers; redirects: string[] };

/** A browser without scripts: cookies by host name, redirects, forms. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #headers: Record<string, string>;

  /** @param headers sent with every request. */
  constructor(headers: Record<string, string> = {}) {
    this.#headers = headers;
  }

  get(url: string, headers: Record<string, string> = {}): Promise<Shown> {
    return this.#ask(url, { headers });
  }

  post(url: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Shown> {
    return this.#ask(url, {
      method: 'POST',
      body: new URLSearchParams(form).toString(),
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        Origin: new URL(url).origin,
        ...headers,
      },
    });
  }

  /** Sends the last form of a page with its values, some of them filled in. */
  submit(page: Shown, filled: Record<string, string> = {}): Promise<Shown> {
    const [, attributes = '', body = ''] = [...page.text.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)].at(
      -1,
    )!;
    const values: Record<string, string> = {};
    for (const [input] of body.matchAll(/<input[^>]*>/g)) {
      const [name, value] = [attributeOf(input, 'name'), attributeOf(input, 'value')];
      const isChoice = /type="(?:radio|checkbox)"/.test(input);
      if (name !== null && (!isChoice || / checked/.test(input))) values[name] = value ?? '';
    }
    const action = new URL(attributeOf(attributes, 'action') ?? page.url, page.url);
    return this.post(action.href, { ...values, ...filled });
  }

  async #ask(url: string, init: RequestInit): Promise<Shown> {
    const { host } = new URL(url);
    const cookie = [...this.cookies]
      .filter(([key]) => key.startsWith(`${host} `))
      .map(([key, value]) => `${key.slice(host.length + 1)}=${value}`)
      .join('; ');
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie === '' ? {} : { Cookie: cookie }), ...this.#headers, ...init.headers },
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/max-age=0/i.test(set)) this.cookies.delete(`${host} ${name}`);
      else this.cookies.set(`${host} ${name}`, value);
    }
    const location = response.headers.get('location');
    if (location !== null) {
      const to = new URL(location, url).href;
      const shown = await this.get(to);
      return { ...shown, redirects: [to, ...shown.redirects] };
    }
    const { status, headers } = response;
    return { status, url, text: await response.text(), headers, redirects: [] };
  }
}

/**
 * Sets a fresh service up with the sandbox's GitHub, and keeps the App in its database.
 * @param output what the service printed so far, with the code of the setup page.
 * @returns the last page.
 */
export async function setUpAs(login: string, url: string, output: string): Promise<Shown> {
  const visitor = new Visitor();
  const code = [...output.matchAll(/"code":"([^"]+)"/g)].at(-1)![1]!;
  const form = await visitor.submit(await visitor.get(`${url}/setup`), { code });
  const review = await visitor.submit(form, { owner: 'person', name: 'Kept' });
  return visitor.submit(await visitor.submit(review), { as: login });
}

function attributeOf(tag: string, name: string): string | null {
  const value = new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];
  return (
    value
      ?.replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&') ?? null
  );
}
