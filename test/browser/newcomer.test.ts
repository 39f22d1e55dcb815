import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DemoProcess, startDemo } from '../support/demo.ts';
import { expectAccessible, expectNoScroll, openBrowser, openPage, phone, screenshot } from './browser.ts';

// Somebody new: `npm run demo`, then the printed addresses and the mouse.

let temporary: string;
let demo: DemoProcess;
let browser: Browser;
let pages: string[];
let startedAt: number;
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'holdfast-newcomer-'));
  startedAt = performance.now();
  demo = startDemo(temporary, '--port', '0', '--github-port', '0');
  const text = await demo.printed();
  pages = [...text.matchAll(/^ {2}\S.* {2}(http:\S+)$/gm)].map((match) => match[1]!);
  expect((await fetch(pages[0]!)).status).toBe(200);
  console.log(`The first page answers ${Math.round(performance.now() - startedAt)} ms after the start.`);
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  demo.child.kill('SIGINT');
  await demo.ended;
  await rm(temporary, { recursive: true, force: true });
});

/** GitHub asks each person once whether Holdfast may know who they are; afterwards they are signed in at once. */
const authorizing = (page: Page) =>
  page.getByRole('button', { name: 'Authorize Holdfast' }).or(page.getByRole('button', { name: 'Sign out' }));

const looks = (['light', 'dark'] as const).flatMap((colorScheme) => [
  [`${colorScheme} on a desktop`, { colorScheme }] as const,
  [`${colorScheme} on a phone`, { colorScheme, ...phone }] as const,
]);

test.each(looks)('what is printed, in %s', async (name, options) => {
  const page = await openPage(browser, options);
  const look = async (called: string) => {
    await screenshot(page, `demo-${called} ${name}`.replaceAll(' ', '-'));
    await expectNoScroll(page);
    await expectAccessible(page);
  };
  const [onGitHub, onHoldfast, owner] = pages as [string, string, string];
  await page.goto(onGitHub);
  await look('github');
  await page.getByRole('link', { name: 'All pull requests' }).click();
  await look('github-list');
  await page.goto(onHoldfast);
  await look('why');
  await page.goto(owner);
  await look('owner');
  await page.getByText('Sign in').click();
  await look('people');
  await page.getByRole('button', { name: /^grace/ }).click();
  await authorizing(page).waitFor();
  const authorize = page.getByRole('button', { name: 'Authorize Holdfast' });
  if (await authorize.isVisible()) await authorize.click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await look('owner-admin');
  await page.goto(new URL('/', owner).href);
  await look('home-admin');
  await page.goto(onHoldfast);
  await look('why-admin');
  await page.goto(onGitHub);
  await page.getByText('Bypass rules and merge').waitFor();
  await look('github-admin');
  expect(page.problems).toEqual([]);
});

test('sees a freeze hold, exempts the pull request, and merges it: seven clicks', async () => {
  const page = await openPage(browser);
  let clicks = 0;
  const press = async (role: 'link' | 'button', name: string | RegExp) => {
    await page.getByRole(role, { name, disabled: false }).click();
    clicks += 1;
  };
  const merge = page.getByRole('button', { name: 'Merge pull request' });

  await page.goto(pages[0]!);
  expect(await merge.isDisabled()).toBe(true);
  const box = page.getByRole('region', { name: 'Merge' });
  expect(await box.textContent()).toMatch(/Frozen until .+ Europe\/Paris: Checkout moves to another region/);
  expect(await box.textContent()).toContain('Required status check "holdfast/freeze" is pending.');
  expect(await box.getByText('Sign in').isVisible()).toBe(true);

  await press('link', 'Details');
  await page.getByRole('heading', { name: 'Refunds reach the card again' }).waitFor();
  expect(page.url()).toBe(pages[1]!);
  await press('link', 'Sign in');
  await press('button', /^ada.*administers acme/);
  await press('button', 'Authorize Holdfast');
  await page
    .getByRole('region', { name: 'Exemption request' })
    .getByText('INC-4711: refunds fail since this morning')
    .waitFor();
  expect(page.url()).toBe(pages[1]!);

  // GitHub's page is open beside it, and moves by itself.
  const beside = await page.context().newPage();
  await beside.goto(pages[0]!);
  const mergeBeside = beside.getByRole('button', { name: 'Merge pull request' });
  expect(await mergeBeside.isDisabled()).toBe(true);
  await press('button', 'Approve');
  await page.getByText('Exempt until').first().waitFor();
  await beside.getByRole('button', { name: 'Merge pull request', disabled: false }).waitFor();
  expect(await beside.getByText(/Exempt until/).count()).toBe(1);
  await screenshot(beside, 'demo-github-let-through');

  await press('link', '#4 on GitHub');
  await press('button', 'Merge pull request');
  await page.getByText('Pull request successfully merged and closed').waitFor();
  await beside.getByText('Pull request successfully merged and closed').waitFor();
  await screenshot(page, 'demo-github-merged');
  console.log(`${clicks} clicks`);
  expect(clicks).toBe(7);
});

test('without scripts GitHub’s page reloads itself', async () => {
  const page = await openPage(browser, { javaScriptEnabled: false });
  await page.goto(pages[0]!);
  expect(await page.locator('noscript meta[http-equiv=refresh]').count()).toBe(1);
});
