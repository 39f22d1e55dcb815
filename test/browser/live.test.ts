import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { acmeWithUrl, browserForAll, expectAccessible, signedInPage } from './browser.ts';

// What only a browser shows: a page that is open shows what has changed, without a reload and without disturbing its reader.

const acme = acmeWithUrl();
const browser = browserForAll();
let page: Page & { problems: string[] };

beforeAll(async () => {
  for (const name of ['api', 'web', 'zoo']) await acme.repository(name, [{ title: `Change of ${name}` }]);
  page = await signedInPage(browser, acme, 'ada', '/repos/acme');
});

/** Asks the page for something that a reload would forget. */
const mark = () => page.evaluate('window.isSamePage = true');
const expectSamePage = async () => expect(await page.evaluate('window.isSamePage')).toBe(true);
const row = (name: string) =>
  page.locator('table.repositories tr').filter({ has: page.getByRole('link', { name }) });
const icon = async () => (await page.getAttribute('link[rel="icon"]', 'href'))!.replace(acme.app.url, '');

test('the overview shows a freeze that begins and ends elsewhere, in its tab too', async () => {
  expect(await page.title()).toBe('acme · Holdfast');
  const plain = await icon();
  await mark();
  await row('zoo').getByRole('checkbox').check();
  const { id } = await acme.freeze('acme/web', { reason: 'Made elsewhere' });
  await row('web').getByText('Frozen', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Made elsewhere' }).first().waitFor();
  await row('web').locator('.of-held').getByText('1', { exact: true }).waitFor();
  expect(await page.title()).toBe('Frozen · acme · Holdfast');
  expect(await icon()).toContain('icon-frozen');
  // The frozen one comes first now; the tick is where it was put.
  expect(await row('zoo').getByRole('checkbox').isChecked()).toBe(true);
  expect(await page.locator('input[name="repository"]:checked').count()).toBe(1);
  await expectAccessible(page);
  await acme.remove('acme/web', id);
  await row('web').getByText('Free', { exact: true }).waitFor();
  await expect.poll(() => page.title()).toBe('acme · Holdfast');
  expect(await icon()).toBe(plain);
  await expectSamePage();
});

test('a pull request shows the end of its exemption, while somebody fills in a form of the page', async () => {
  const { id } = await acme.freeze('acme/api', { reason: 'Incident' });
  const as = acme.github.addToken('ada');
  const path = '/v1/repos/acme/api/pulls/1/exemptions';
  expect((await acme.call('POST', path, { as, body: { reason: 'The fix' } })).status).toBe(201);
  await acme.quiet();
  await page.goto(`${acme.app.url}/repos/acme/api/pulls/1`);
  await page.locator('.state-line').getByText('Exempt', { exact: true }).waitFor();
  expect(await page.title()).toBe('acme/api #1 · Holdfast');
  await mark();
  const sha = acme.github.push('acme/api', 1);
  // What is posted on the new commit is heard of, too.
  await page.waitForRequest((request) => request.url().includes(`about=${sha}`));
  await page.locator('.state-line').getByText('Blocked', { exact: true }).waitFor();
  expect(await page.title()).toBe('Blocked · acme/api #1 · Holdfast');
  await page.getByText('Exempt…', { exact: true }).click();
  await page.getByLabel('Reason').fill('Half of a sentence');
  await acme.remove('acme/api', id);
  await page.locator('.state-line').getByText('Free', { exact: true }).waitFor();
  const reasons = page.getByRole('textbox', { name: 'Reason' });
  expect(
    await reasons.evaluateAll((all) => all.map((each) => (each as unknown as { value: string }).value)),
  ).toEqual(['Half of a sentence']);
  await expectSamePage();
});

test('a page in the background has no connection, and shows what it missed when it is looked at again', async () => {
  await page.goto(`${acme.app.url}/repos/acme`);
  await mark();
  const hide = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState',
      { configurable: true, get: () => '${isHidden ? 'hidden' : 'visible'}' });
      document.dispatchEvent(new Event('visibilitychange'))`);
  const closed = page.waitForEvent('requestfailed', (request) => request.url().includes('/live?'));
  await hide(true);
  await closed;
  const { id } = await acme.freeze('acme/zoo', { reason: 'In the background' });
  await hide(false);
  await row('zoo').getByText('Frozen', { exact: true }).waitFor();
  await acme.remove('acme/zoo', id);
  await row('zoo').getByText('Free', { exact: true }).waitFor();
  await expectSamePage();
});

test('who signs out in another tab sees nothing more', async () => {
  await acme.github.setRole('acme/web', 'bob', 'write');
  const bob = await signedInPage(browser, acme, 'bob', '/repos/acme/web');
  const cookies = await bob.context().cookies();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  await fetch(`${acme.app.url}/auth/sign-out`, {
    method: 'POST',
    headers: { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' },
  });
  await acme.freeze('acme/web', { reason: 'After the sign-out' });
  await bob.getByRole('link', { name: 'Sign in', exact: true }).waitFor();
  expect(page.problems).toEqual([]);
});
