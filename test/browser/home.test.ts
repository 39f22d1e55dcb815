import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Acme, startAcme } from '../support/acme.ts';
import { expectAccessible, openBrowser, openPage, phone } from './browser.ts';

let acme: Acme;
let browser: Browser;
beforeAll(async () => {
  [acme, browser] = await Promise.all([startAcme(), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await acme.close();
});

test.each(['light', 'dark'] as const)('the home page in %s', async (colorScheme) => {
  const page = await openPage(browser, { ...phone, colorScheme });
  await page.goto(acme.app.url);
  expect(await page.textContent('h1')).toContain('let go');
  await expectAccessible(page);
  expect(page.problems).toEqual([]);
});
