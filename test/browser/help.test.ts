import { expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { browserForAll, expectAccessible, openPage, phone, screenshot } from './browser.ts';

const acme = acmeForAll();
const browser = browserForAll();

const looks = [
  { name: 'light', options: { colorScheme: 'light', viewport: { width: 1200, height: 900 } } },
  { name: 'dark', options: { colorScheme: 'dark', viewport: { width: 1200, height: 900 } } },
  { name: 'phone', options: { colorScheme: 'light', ...phone } },
] as const;

test.each(looks)('the documentation in $name', async ({ name, options }) => {
  const page = await openPage(browser, options);
  for (const path of ['', '/freeze', '/settings', '/search?q=whole+organization', '/nothing']) {
    await page.goto(`${acme.app.url}/help${path}`);
    await expectAccessible(page);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect([path, width]).toEqual([path, options.viewport.width]);
    await screenshot(page, `help-${name}${path.replace(/\W+/g, '-')}`);
  }
  // The browser itself says that the last one is not there.
  expect(page.problems.filter((problem) => !problem.includes('404'))).toEqual([]);
});

test('from the first page to the answer: three steps', async () => {
  const page = await openPage(browser, phone);
  await page.goto(acme.app.url);
  await page.getByRole('link', { name: 'Documentation' }).click();
  await page.getByRole('searchbox').fill('what if Holdfast is down');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Results for/ }).waitFor();
  await page.getByRole('link', { name: 'What if Holdfast is down' }).first().click();
  expect(await page.textContent('h1')).toBe('What if Holdfast is down');
  expect(page.problems).toEqual([]);
});
