import { expect, test } from 'vitest';
import { endpoints } from '../../src/api/endpoints.ts';
import { acmeForAll } from '../support/acme.ts';
import { browserForAll, expectAccessible, openPage, phone } from './browser.ts';

const acme = acmeForAll();
const browser = browserForAll();

/** The rules that Scalar's own markup breaks. */
const ofScalar = ['button-name', 'landmark-unique', 'scrollable-region-focusable'];

/** The page once it is drawn, and what the browser asked for on the way. */
async function openReference(options: Parameters<typeof openPage>[1], url = acme.app.url) {
  const page = await openPage(browser, options);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(`${url}/docs`);
  await page.getByRole('heading', { name: 'Schedule a freeze' }).first().waitFor();
  return { page, requests };
}

test.each(['light', 'dark'] as const)(
  'every operation is named, without other hosts, in %s',
  async (colorScheme) => {
    const { page, requests } = await openReference({ colorScheme });
    const unnamed = async () => {
      const menu = await page.getByRole('complementary').innerText();
      return endpoints.map(({ summary }) => summary).filter((summary) => !menu.includes(summary));
    };
    await expect.poll(unnamed).toEqual([]);
    expect(await page.evaluate('document.body.className')).toContain(`${colorScheme}-mode`);
    // Drawn as it comes into sight.
    await page.getByRole('link', { name: 'Set the scopes of a pull request HTTP' }).click();
    await page.getByRole('heading', { name: 'Set the scopes of a pull request' }).first().waitFor();
    await page.waitForLoadState('networkidle');
    expect(requests.length).toBeGreaterThanOrEqual(3);
    expect(requests.filter((request) => new URL(request).origin !== acme.app.url)).toEqual([]);
    await expectAccessible(page, ofScalar);
    expect(page.problems).toEqual([]);
  },
);

test('on a phone nothing is wider than the screen', async () => {
  const { page } = await openReference(phone);
  const [width, screen] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
  expect(width).toBeLessThanOrEqual(screen!);
  await expectAccessible(page, ofScalar);
  expect(page.problems).toEqual([]);
});

test('the script of the page can send nothing anywhere, not even to the API', async () => {
  const { page } = await openReference({});
  const tries = ['/v1/openapi.json', 'https://proxy.scalar.com/'].map((url) => `fetch('${url}')`);
  for (const attempt of tries) await expect(page.evaluate(attempt)).rejects.toThrow('Failed to fetch');
  expect(page.problems.join()).toContain('Content Security Policy');
});
