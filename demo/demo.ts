// `npm run demo`: the whole product on loopback. The sandbox GitHub and the real service in this process, seeded,
// with keys made through the API, a tour of curl lines, and one line for each status that changes.
//   --port N, --github-port N   where to listen; 0 takes any free port. Without them 3000 and 3001 if they are free.
//   --setup                     begins before that: no GitHub App yet, and the setup page to make one.
import { BlockList } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { createApp } from '../src/app.ts';
import type { StartConfig } from '../src/config.ts';
import { redact } from '../src/log.ts';
import { requireStatus, seed } from './demo-seed.ts';
import { tour, type TourValues } from './demo-tour.ts';
import { type Sandbox, startSandbox } from '../sandbox/github.ts';

/** Something that the user can mend. Shown without a stack. */
class DemoError extends Error {}

const host = '127.0.0.1';
/** What is closed at the end, in this order. */
const parts: { close(): Promise<void> }[] = [];
let dataDir: string | null = null;
let isStopping = false;
/** What lets one open the setup page. */
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
  // npm sends a Ctrl-C on to us that the terminal has sent already: every one after the first is ignored.
  process.on(signal, () => void stop(0));
}

async function start(): Promise<void> {
  const { setup, ...ports } = readOptions();
  print('Starting a GitHub and Holdfast on this machine …');
  const port = await choosePort(ports.service, 3000, 'the service');
  const githubPort = await choosePort(ports.github, 3001, 'GitHub');
  const github = await startSandbox({ port: githubPort, ...(setup && { app: null }) });
  const { adminToken } = seed(github);
  github.onStatus(printStatus);
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
  const config = configFor(github, port, dataDir, setup);
  const app = await createApp(config, { log: warnings() });
  parts.push(app, github);
  if (isStopping) return;
  if (setup) printSetup(app.url, setupCode);
  else {
    print('The statuses of the open pull requests, as they are set:');
    github.deliverTo(`${app.url}/api/github/webhooks`);
    github.install('acme');
  }
  await everyStatusSet(github, setup ? Infinity : 60);
  if (isStopping) return;
  requireStatus(github);
  const adminKey = await createKey(app.url, adminToken, 'admin');
  const ciKey = await createKey(app.url, adminToken, 'ci');
  printTour({ serviceUrl: app.url, githubUrl: github.url, adminToken, adminKey, ciKey });
}

async function stop(code: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  if (code === 0) print('\nStopping …');
  // What is half made cannot be closed, so it is made first. Whatever hangs, the end comes, and the data goes.
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

/** The port asked for; or the usual one, or a free one where another program has that. */
async function choosePort(asked: number | null, usual: number, what: string): Promise<number> {
  const found = await probe(asked ?? usual);
  if (found !== null) return found;
  if (asked !== null)
    throw new DemoError(`port ${asked} is taken. Choose another for ${what}, or 0 for any free one.`);
  print(`Port ${usual} is taken, so ${what} takes another.`);
  return (await probe(0))!;
}

/** The port, if it is free; a free one for 0; null if it is taken. */
function probe(port: number): Promise<number | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(port, host, () => {
      const { port: found } = server.address() as AddressInfo;
      server.close(() => resolve(found));
    });
  });
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
    secretKey: null,
    githubApiUrl: github.url,
    statusContext: 'holdfast/freeze',
    // This GitHub has no limit on writes.
    statusWritesPerMinute: { least: 6000, most: 6000 },
    strangerQuestionsPerMinute: 1_000_000,
    trustedProxies: new BlockList(),
    role: 'all',
    logLevel: 'warn',
    logFormat: 'json',
  };
}

/** The service's warnings as one line each; the code of the setup page is printed with its address. */
function warnings() {
  const write = (line: string) => {
    const { msg, code } = JSON.parse(redact(line)) as { msg?: string; code?: string };
    if (code !== undefined) setupCode = code;
    else if (!isStopping) print(`Holdfast warns: ${msg}`);
  };
  return pino({ level: 'warn', base: null }, { write });
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

/** Every open pull request gets its first status soon after the start; the tour begins from there. */
async function everyStatusSet(github: Sandbox, seconds: number): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  const open = ['acme/web', 'acme/api', 'acme/vault'].flatMap((name) => github.pullRequests(name));
  while (!isStopping && open.some(({ repository, number }) => !github.currentStatus(repository, number))) {
    if (Date.now() > deadline)
      throw new Error(`the service has not set the first statuses within ${seconds} s`);
    await delay(50);
  }
}

type StatusPosted = Parameters<Parameters<Sandbox['onStatus']>[0]>[0];

function printStatus({ repository, pullRequests, state, description, at }: StatusPosted): void {
  const colour = state === 'success' ? '32' : '33';
  const shown = process.stdout.isTTY ? `\u001b[${colour}m${state}\u001b[0m` : state;
  const numbers = pullRequests.map((number) => `#${number}`).join(' ');
  const padding = ' '.repeat(Math.max(0, 'pending'.length - state.length));
  const place = `${repository} ${numbers}`.padEnd(16);
  print(`${at.toTimeString().slice(0, 8)}  ${place} ${shown}${padding}  ${description}`);
}

function printSetup(serviceUrl: string, code: string): void {
  print(`
Holdfast runs without a GitHub App. Open its setup page in a browser, make the App for the organization acme, and
install it there:

  ${serviceUrl}/setup

The code that it asks for: ${code}

The tour follows when every open pull request has its first status. Ctrl-C ends it and leaves nothing behind.
`);
}

function printTour(values: TourValues): void {
  print(`
Holdfast     ${values.serviceUrl}   (its interface: ${values.serviceUrl}/docs)
Its pages    ${values.serviceUrl}/repos/acme/web and ${values.serviceUrl}/repos/acme/web/pulls/2
GitHub       ${values.githubUrl}   (a sandbox: nothing leaves this machine)
ada's token  ${values.adminToken}   (a GitHub token; ada is an admin of acme)
admin key    ${values.adminKey}
ci key       ${values.ciKey}
Enforced?    HOLDFAST_URL=${values.serviceUrl} HOLDFAST_TOKEN=${values.adminKey} npx --no-install holdfast doctor acme/web

The tour: paste each line into a second terminal, and watch the statuses change here.
Steps 2 to 6 fit into the minute that the freeze of step 2 lasts.`);
  tour(values).forEach(({ title, command }, index) => print(`\n# ${index + 1}. ${title}\n${command}`));
  print('\nCtrl-C ends it and leaves nothing behind.\n');
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
