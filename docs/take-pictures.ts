// `npm run docs:pictures`: takes the pictures of README.md and docs/pages.md again. It sets up Holdfast in a browser, on
// the demo's GitHub, only on this machine, and makes some freezes. The pages of an owner and the film are of the demo.
// It needs Debian's chromium, or CHROMIUM.
import { BlockList } from 'node:net';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { chromium, type Page } from 'playwright-core';
import { Temporal } from 'temporal-polyfill';
import { type App, createApp } from '../src/server/app.ts';
import { requireStatus, seed } from '../demo/demo-seed.ts';
import { startSandbox } from '../sandbox/github.ts';
import { freePort } from '../test/support/free-port.ts';
import { type Demo, signIn, takeFilm } from './take-film.ts';

/** One picture: the top of a page, or of a part of it, and so many pixels from there. */
type Picture = { name: string; path: string; width?: number; height: number; colorScheme?: 'light' | 'dark' };

/** What anybody sees. */
const publicPictures: Picture[] = [
  { name: 'status-held', path: '/repos/acme/web/pulls/2', height: 1000 },
  { name: 'status-free', path: '/repos/acme/web/pulls/1', height: 620, colorScheme: 'dark' },
  { name: 'status-phone', path: '/repos/acme/web/pulls/2', width: 375, height: 900 },
  { name: 'api-reference', path: '/docs', height: 800 },
];
/** What an admin of the repository sees. */
const signedInPictures: Picture[] = [
  { name: 'repository-light', path: '/repos/acme/web', height: 800 },
  { name: 'repository-dark', path: '/owners/acme/calendar?repository=web', height: 760, colorScheme: 'dark' },
  { name: 'repository-phone', path: '/repos/acme/web', width: 375, height: 900 },
];
/** What the demo's two weeks of freezes leave, as an admin sees it. */
const demoPictures: Picture[] = [
  { name: 'owner-light', path: '/repos/acme', height: 900 },
  { name: 'pull-request', path: '/repos/acme/api/pulls/4', height: 800 },
  { name: 'calendar', path: '/owners/acme/calendar', height: 890 },
  { name: 'freeze-form', path: '/owners/acme/freeze', height: 900 },
];

const now = Temporal.Now.zonedDateTimeISO('UTC').round('hour');
const inHours = (hours: number): string => now.add({ hours }).toPlainDateTime().toString();
const freezes = [
  {
    reason: 'Release 4.2',
    start: null,
    end: inHours(30),
    timezone: 'UTC',
    matching_conditions: ['label=risky'],
  },
  {
    reason: 'Books of the quarter are closed',
    start: null,
    end: null,
    timezone: 'America/New_York',
    matching_conditions: [{ or: ['label=payments', 'files=src/refund.ts'] }],
    exclude_conditions: ['label=hotfix'],
  },
  { reason: 'Move to the new database', start: inHours(20), end: inHours(68), timezone: 'Europe/Paris' },
];

const folder = new URL('./pictures/', import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-pictures-'));
const github = await startSandbox({ app: null });
const { ada: adminToken } = seed(github);
/** What the service warned of: the code for its setup page is there. */
const logs: string[] = [];
// The App's manifest names the port, so it is known before.
const app = await start(await freePort());
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
try {
  const page = await open({ width: 1000, height: 760 });
  await setUp(page);
  requireStatus(github);
  await until(() => github.currentStatus('acme/web', 1) !== null);
  for (const freeze of freezes) await create(freeze);
  await until(() => [2, 3, 4, 6].every((number) => stateOf(number) === 'pending'));
  for (const picture of publicPictures) await take(await open(picture), picture);
  for (const picture of signedInPictures) await take(await signInHere(await open(picture)), picture);
  await takeDemo();
} finally {
  await browser.close();
  await app.close();
  await github.close();
  rmSync(dataDir, { recursive: true, force: true });
}

/** The pages of the demo, and the film. */
async function takeDemo(): Promise<void> {
  const child = spawn(process.execPath, ['demo/demo.ts', '--port', '0', '--github-port', '0'], {
    cwd: new URL('../', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const demo: Demo = { holdfast: '', github: '' };
    for await (const line of createInterface(child.stdout)) {
      demo.holdfast ||= /^Holdfast +(\S+)/.exec(line)?.[1] ?? '';
      demo.github ||= /^GitHub +(\S+)/.exec(line)?.[1] ?? '';
      if (line.startsWith('Press Ctrl-C')) break;
    }
    for (const { name, path, height } of demoPictures) {
      const page = await open({ width: 1280, height });
      await signIn(page, 'ada', demo);
      await page.goto(demo.holdfast + path);
      if (name === 'freeze-form') await fillIn(page);
      await page.screenshot({ path: join(folder, `${name}.png`) });
      await page.close();
    }
    await takeFilm(browser, demo, join(folder, 'blocked.gif'));
  } finally {
    child.kill('SIGINT');
  }
}

/** Types a reason, and waits for the preview of what it would freeze. */
async function fillIn(page: Page): Promise<void> {
  await page.getByLabel('Reason', { exact: true }).fill('INC-4711: payments fail');
  await page.getByRole('button', { name: /^Freeze \d/ }).waitFor();
  await page.locator('[data-fills-in]').waitFor({ state: 'detached' });
}

/** Without an App: the setup page makes one. */
function start(port: number): Promise<App> {
  return createApp(
    {
      port,
      host: '127.0.0.1',
      publicUrl: `http://127.0.0.1:${port}`,
      database: { dataDir },
      app: null,
      lock: null,
      secretKey: null,
      secretKeyPrevious: null,
      githubApiUrl: github.url,
      statusContext: 'holdfast/freeze',
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
    },
    { log: pino({ level: 'warn' }, { write: (line) => void logs.push(line) }) },
  );
}

async function setUp(page: Page): Promise<void> {
  github.signInToGitHub('ada');
  await page.goto(`${app.url}/setup`);
  await page.getByLabel('Code from the log').fill(/"code":"([^"]+)"/.exec(logs.join('\n'))![1]!);
  await page.getByRole('button').click();
  await page.getByLabel('Organization name on').fill('acme');
  await page.screenshot({ path: join(folder, 'setup.png') });
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Continue to' }).click();
  await page.getByRole('button', { name: 'Create GitHub App' }).click();
  await page.screenshot({ path: join(folder, 'setup-done.png') });
  await page.getByRole('link', { name: 'Install Holdfast' }).click();
  await page.getByRole('button', { name: 'Install on acme' }).click();
  await page.close();
}

async function signInHere(page: Page): Promise<Page> {
  await page.goto(`${app.url}/auth/sign-in?to=/repos/acme/web`);
  const authorize = page.getByRole('button', { name: 'Authorize Holdfast' });
  if (await authorize.isVisible()) await authorize.click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
}

async function open({
  width = 1000,
  height,
  colorScheme = 'light',
}: Omit<Picture, 'name' | 'path'>): Promise<Page> {
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme,
    timezoneId: 'Europe/Berlin',
  });
  // For small machines.
  page.setDefaultTimeout(120_000);
  return page;
}

async function take(page: Page, { name, path }: Picture): Promise<void> {
  await page.goto(app.url + path, { waitUntil: 'networkidle' });
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
}

function stateOf(number: number): string | undefined {
  return github.currentStatus('acme/web', number)?.state;
}

async function create(freeze: object): Promise<void> {
  const answer = await fetch(`${app.url}/v1/repos/acme/web/scheduled_freeze`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(freeze),
  });
  if (answer.status !== 201) throw new Error(`A freeze was refused: ${await answer.text()}`);
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('The statuses were not set within 60 s.');
    await delay(50);
  }
}
