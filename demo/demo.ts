// `npm run demo`: the whole product on loopback. The sandbox GitHub and the real service in this process, with two weeks
// of freezes behind them. It prints a tour of curl lines, the pages to open, and one line for each status that changes.
//   --port N, --github-port N   where to listen; 0 takes any free port. By default 3000 and 3001, if they are free.
//   --setup                     begins earlier: without a GitHub App, and with the setup page to make one.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { BlockList } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { createApp } from '../src/server/app.ts';
import { type Clock, systemClock } from '../src/time/clock.ts';
import type { StartConfig } from '../src/config.ts';
import { connectDatabase } from '../src/database/connect.ts';
import { redact } from '../src/server/log.ts';
import { forComments } from '../src/github/app-manifest.ts';
import { beginOf, liveTwoWeeks } from './demo-life.ts';
import { print, printPages, printSetup, printStatus, printTour } from './demo-output.ts';
import { inThePast } from './demo-past.ts';
import { repositories, requireStatus, seed } from './demo-seed.ts';
import { type Sandbox, startSandbox } from '../sandbox/github.ts';
import { freePort, isFree } from '../test/support/free-port.ts';
import { TestClock } from '../test/support/test-clock.ts';

/** An error that the user can fix. Shown without a stack. */
class DemoError extends Error {}

const host = '127.0.0.1';
/** What to close at the end, in this order. */
const parts: { close(): Promise<void> }[] = [];
let dataDir: string | null = null;
let isStopping = false;
/** The code that opens the setup page. */
let setupCode = '';

const starting = start();
starting.catch((error: unknown) => {
  if (isStopping) return;
  const text = error instanceof Error ? error.message : String(error);
  console.error(`\nThe demo could not start: ${text}`);
  if (!(error instanceof DemoError)) console.error('If this should not happen, run `npm test` to see more.');
  void stop(1);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // The terminal sends Ctrl-C, and npm passes it on again, so only the first one counts.
  process.on(signal, () => void stop(0));
}

async function start(): Promise<void> {
  const { setup, ...ports } = readOptions();
  print('Starting a GitHub and Holdfast on this machine …');
  const port = await choosePort(ports.service, 3000, 'the service');
  const githubPort = await choosePort(ports.github, 3001, 'GitHub');
  const now = new Date();
  // GitHub's clock goes through the past with the service's.
  const past = setup ? null : new TestClock(beginOf(now));
  let clock: Clock = past ?? systemClock;
  const github = await startSandbox({
    port: githubPort,
    now: () => new Date(clock.now()),
    ...(setup && { app: null }),
  });
  parts.unshift(github);
  if (!setup) github.askForMore({ ...forComments.default_permissions }, forComments.default_events);
  const tokens = seed(github);
  if (!setup) github.ownApp('acme');
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
  const config = configFor(github, port, dataDir, setup);
  const database = await connectDatabase(config.database);
  parts.unshift(database);
  if (past) {
    print('Living through two weeks of freezes …');
    const place = { config, database, log: shown('error'), github, clock: past, assertGoingOn };
    await inThePast(place, (lived) => liveTwoWeeks(github, tokens, lived, now));
    clock = systemClock;
  }
  assertGoingOn();
  // This also closes the database.
  const app = await createApp(config, { database, log: shown('warn') });
  parts.splice(0, 1, app);
  github.onStatus(printStatus);
  if (setup) {
    printSetup(app.url, setupCode);
    await everyStatusSet(github);
    requireStatus(github);
  } else github.deliverTo(`${app.url}/api/github/webhooks`);
  const adminKey = await createKey(app.url, tokens.ada, 'admin');
  const ciKey = await createKey(app.url, tokens.ada, 'ci');
  assertGoingOn();
  const urls = { serviceUrl: app.url, githubUrl: github.url };
  printTour({ ...urls, adminToken: tokens.ada, adminKey, ciKey });
  printPages(urls, setup);
}

function assertGoingOn(): void {
  if (isStopping) throw new DemoError('it was stopped.');
}

async function stop(code: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  if (code === 0) print('\nStopping …');
  // A half-made part cannot be closed, so finish it first. Even if something hangs, end and delete the data.
  const late = delay(12_000);
  await Promise.race([starting.catch(() => {}), late]);
  for (const part of parts) await Promise.race([part.close().catch(() => {}), late]);
  if (dataDir) rmSync(dataDir, { recursive: true, force: true });
  if (code === 0) print('Everything is stopped, and its data is deleted.');
  process.exit(code);
}

function readOptions(): { service: number | null; github: number | null; setup: boolean } {
  const options = {
    port: { type: 'string' },
    'github-port': { type: 'string' },
    setup: { type: 'boolean', default: false },
  } as const;
  let values: { port?: string; 'github-port'?: string; setup: boolean };
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new DemoError(`${(error as Error).message}. It takes --port N, --github-port N and --setup.`);
  }
  const read = (name: 'port' | 'github-port') => {
    const text = values[name];
    if (text === undefined) return null;
    if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
      throw new DemoError(`--${name} takes a port from 0 to 65535, not ${text}.`);
    return Number(text);
  };
  return { service: read('port'), github: read('github-port'), setup: values.setup };
}

/** The requested port, or the usual one, or a free one if another program has that. */
async function choosePort(asked: number | null, usual: number, what: string): Promise<number> {
  if (asked === 0) return freePort();
  if (await isFree(asked ?? usual)) return asked ?? usual;
  if (asked !== null)
    throw new DemoError(`port ${asked} is taken. Choose another for ${what}, or 0 for any free one.`);
  print(`Port ${usual} is taken, so ${what} takes another.`);
  return freePort();
}

function configFor(github: Sandbox, port: number, dataDir: string, setup: boolean): StartConfig {
  const publicUrl = `http://${host}:${port}`;
  if (!setup) github.app.callbackUrls.push(`${publicUrl}/auth/callback`);
  return {
    port,
    host,
    publicUrl,
    database: { dataDir },
    app: setup ? null : { ...github.app, oauth: github.app },
    lock: null,
    secretKey: randomBytes(32).toString('hex'),
    secretKeyPrevious: null,
    githubApiUrl: github.url,
    statusContext: 'holdfast/freeze',
    // This GitHub has no limit on writes.
    statusWritesPerMinute: { least: 6000, most: 6000 },
    strangerQuestionsPerMinute: 1_000_000,
    callerQuestionsPerMinute: 1_000_000,
    webhookAllowedHosts: ['127.0.0.1'],
    httpProxy: null,
    httpsProxy: null,
    noProxy: '',
    trustedProxies: new BlockList(),
    metricsToken: null,
    slack: { apiUrl: 'https://slack.com/api/', app: null },
    role: 'all',
    logLevel: 'warn',
    logFormat: 'json',
  };
}

/** The service's log from a level on, one line each. The code of the setup page is printed with its address. */
function shown(level: 'error' | 'warn') {
  const write = (line: string) => {
    const { msg, code } = JSON.parse(redact(line)) as { msg?: string; code?: string };
    if (code !== undefined) setupCode = code;
    else if (!isStopping) print(`Holdfast warns: ${msg}`);
  };
  return pino({ level, base: null }, { write });
}

async function createKey(serviceUrl: string, token: string, scope: 'admin' | 'ci'): Promise<string> {
  const response = await fetch(`${serviceUrl}/v1/applications/acme`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `demo ${scope}`, scope }),
  });
  if (response.status !== 201)
    throw new Error(`making a key was answered with ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { secret: string }).secret;
}

/** Waits for the first status of every open pull request, soon after the App is installed. Then the tour begins. */
async function everyStatusSet(github: Sandbox): Promise<void> {
  const open = repositories.flatMap((name) => github.pullRequests(name));
  while (open.some(({ repository, number }) => !github.currentStatus(repository, number))) {
    assertGoingOn();
    await delay(50);
  }
}
