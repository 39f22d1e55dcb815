import { expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { browserForAll, expectAccessible, openPage, phone } from './browser.ts';

const acme = acmeForAll();
const browser = browserForAll();

test.each(['light', 'dark'] as const)('the home page in %s', async (colorScheme) => {
  const page = await openPage(browser, { ...phone, colorScheme });
  await page.goto(acme.app.url);
  expect(await page.textContent('h1')).toContain('let go');
  await expectAccessible(page);
  expect(page.problems).toEqual([]);
});
