import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { type Acme, startAcme } from '../support/acme.ts';
import { freePort } from '../support/free-port.ts';
import { forAll } from '../support/for-all.ts';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Milliseconds for a navigation or for something to appear: for small machines. */
const patience = 120_000;

/** Debian's chromium; CHROMIUM names another. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    timeout: patience,
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });

export const browserForAll = (): Browser => forAll(openBrowser);

/** A world whose links a browser can follow. */
export const acmeWithUrl = (): Acme =>
  forAll(async () => {
    const port = await freePort();
    return startAcme({ port, publicUrl: `http://127.0.0.1:${port}` });
  });

/** A page that fails on errors of its scripts and on what its content security policy refuses. */
export async function openPage(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Page & { problems: string[] }> {
  const context = await browser.newContext({ timezoneId: 'America/New_York', ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  return Object.assign(page, { problems });
}

/** A page of somebody who is signed in. @param path where they begin. */
export async function signedInPage(
  browser: Browser,
  { app, github }: Pick<Acme, 'app' | 'github'>,
  login: string,
  path: string,
  options: Parameters<typeof openPage>[1] = {},
): Promise<Page & { problems: string[] }> {
  const page = await openPage(browser, options);
  github.signInToGitHub(login);
  await page.goto(`${app.url}/auth/sign-in?to=${encodeURIComponent(path)}`);
  const authorize = page.getByRole('button', { name: 'Authorize Holdfast' });
  if (await authorize.isVisible()) await authorize.click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await loaded(page);
  return page;
}

type Violation = { id: string; help: string; nodes: { html: string }[] };

/**
 * Holds where axe finds nothing to complain about, in the page as it stands.
 * @param except rules that are broken by markup which is not ours.
 */
export async function expectAccessible(page: Page, except: string[] = []): Promise<void> {
  await loaded(page);
  await page.evaluate(axe);
  const violations = await page.evaluate<Violation[]>(
    'axe.run(document).then((result) => result.violations)',
  );
  const ours = violations.filter(({ id }) => !except.includes(id));
  expect(ours.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`)).toEqual([]);
}

/** Holds if the page is not wider than its screen. */
export async function expectNoScroll(page: Page): Promise<void> {
  await loaded(page);
  const widths = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]';
  const [content, screen] = await page.evaluate<[number, number]>(widths);
  expect(content).toBe(screen);
}

/**
 * A click waits until the next page has begun, and a tap or a key for nothing: what waits for words of that page may see
 * them before the rest is there, and before its scripts run.
 */
export const loaded = (page: Page) => page.waitForLoadState();

/** Where SCREENSHOTS names a folder, keeps a picture there to look at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (!folder) return;
  await loaded(page);
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

export const phone = { viewport: { width: 375, height: 740 } };
