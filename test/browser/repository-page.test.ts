import { mkdirSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Acme, startAcme } from '../support/acme.ts';
import { expectAccessible, openBrowser, openPage, phone } from './browser.ts';

let acme: Acme;
let browser: Browser;
let web: string;

beforeAll(async () => {
  [acme, browser] = await Promise.all([startAcme(), openBrowser()]);
  web = await acme.repository('web', [{ labels: ['risky'] }, { labels: ['risky'] }, {}]);
  await acme.freeze(web, {
    reason: 'Release 4.2',
    end: '2026-03-03T18:00:00',
    timezone: 'Europe/Paris',
    matching_conditions: [
      'label=risky',
      { or: ['base=main', { and: ['scope=payments', { not: 'author=dependabot[bot]' }] }] },
    ],
    exclude_conditions: ['label=hotfix'],
  });
  await acme.freeze(web, { reason: 'Tax office audits us', timezone: 'America/New_York' });
  await acme.freeze(web, {
    reason: 'Easter holidays',
    start: '2026-03-05T00:00:00',
    end: '2026-03-09T00:00:00',
  });
  const wrong = await acme.freeze(web, { reason: 'Made by mistake', end: '2026-03-20T00:00:00' });
  await acme.freeze(web, { reason: 'Database migration', end: '2026-03-01T15:00:00' });
  await acme.advanceTo('2026-03-02T11:30:00Z');
  await acme.remove(web, wrong.id);
});
afterAll(async () => {
  await browser.close();
  await acme.close();
});

const pictures = process.env['PICTURES'];
async function picture(page: Awaited<ReturnType<typeof openPage>>, name: string): Promise<void> {
  if (!pictures) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
}

test.each(['light', 'dark'] as const)('the page of a repository in %s', async (colorScheme) => {
  for (const zoom of ['week', 'month', 'quarter']) {
    const page = await openPage(browser, { colorScheme });
    await page.goto(`${acme.app.url}/repos/acme/web?zoom=${zoom}`);
    await picture(page, `repository-${zoom}-${colorScheme}`);
    await expectAccessible(page);
    expect(page.problems).toEqual([]);
  }
});

test.each(['light', 'dark'] as const)(
  'on a phone in %s only the drawing scrolls to the side',
  async (colorScheme) => {
    const page = await openPage(browser, { ...phone, colorScheme });
    await page.goto(`${acme.app.url}/repos/acme/web?zoom=week`);
    await picture(page, `repository-phone-${colorScheme}`);
    await expectAccessible(page);
    const widths = await page.evaluate<[number, number]>(
      '[document.documentElement.scrollWidth, document.querySelector(".timeline").scrollWidth]',
    );
    expect(widths[0]).toBe(375);
    expect(widths[1]).toBeGreaterThanOrEqual(900);
    expect(page.problems).toEqual([]);
  },
);
