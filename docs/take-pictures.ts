// `npm run docs:pictures`: takes the pictures of docs/pages.md anew, of the demo's GitHub with some freezes, on this
// machine alone. It wants Debian's chromium, or CHROMIUM.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { chromium } from 'playwright-core';
import { Temporal } from 'temporal-polyfill';
import { createApp } from '../src/app.ts';
import { requireStatus, seed } from '../sandbox/demo-seed.ts';
import { startSandbox } from '../sandbox/github.ts';

/** One picture: what is in it from the top on, of a page that is so wide. */
type Picture = { name: string; path: string; width: number; height: number; colorScheme: 'light' | 'dark' };

const pictures: Picture[] = [
  {
    name: 'repository-light',
    path: '/repos/acme/web?zoom=week',
    width: 1000,
    height: 900,
    colorScheme: 'light',
  },
  { name: 'repository-dark', path: '/repos/acme/web', width: 1000, height: 900, colorScheme: 'dark' },
  {
    name: 'repository-phone',
    path: '/repos/acme/web?zoom=week',
    width: 375,
    height: 900,
    colorScheme: 'light',
  },
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

const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-pictures-'));
const github = await startSandbox();
const { adminToken } = seed(github);
github.install('acme');
requireStatus(github);
const app = await createApp(
  {
    port: 0,
    host: '127.0.0.1',
    publicUrl: 'http://127.0.0.1',
    database: { dataDir },
    app: { ...github.app, oauth: null },
    secretKey: null,
    githubApiUrl: github.url,
    statusContext: 'holdfast/freeze',
    statusWritesPerMinute: 6000,
    role: 'all',
    logLevel: 'warn',
    logFormat: 'json',
  },
  { log: pino({ level: 'warn' }) },
);
try {
  github.deliverTo(`${app.url}/api/github/webhooks`);
  await until(() => github.currentStatus('acme/web', 1) !== null);
  for (const freeze of freezes) await create(freeze);
  await until(() => [2, 3, 4, 6].every((number) => stateOf(number) === 'pending'));
  await takeAll();
} finally {
  await app.close();
  await github.close();
  rmSync(dataDir, { recursive: true, force: true });
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

async function takeAll(): Promise<void> {
  const folder = new URL('./pictures/', import.meta.url).pathname;
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  try {
    for (const { name, path, width, height, colorScheme } of pictures) {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme, timezoneId: 'UTC' });
      await page.goto(app.url + path);
      await page.screenshot({ path: join(folder, `${name}.png`) });
      await page.close();
    }
  } finally {
    await browser.close();
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('The statuses were not set within 60 s.');
    await delay(50);
  }
}
