import { beforeAll, expect, test } from 'vitest';
import { acmeWithUrl, browserForAll, loaded, signedInPage } from './browser.ts';

// Chromium asks whether to send a form again where a page is the answer to a form. After each form of ours, Reload and
// Back send nothing but a GET.

const acme = acmeWithUrl();
const browser = browserForAll();
beforeAll(async () => {
  for (const name of ['api', 'web']) await acme.repository(name, [{}]);
});

const adasPage = async (path: string) => {
  const page = await signedInPage(browser, acme, 'ada', path);
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  return { page, sent };
};

test('a preview and a freeze: Reload and Back, and a second press freezes nothing more', async () => {
  const { page, sent } = await adasPage('/owners/acme/freeze');
  await page.fill('[name=reason]', 'INC-4711');
  const freeze = page.getByRole('button', { name: 'Freeze 2 repositories' });
  await freeze.waitFor();
  expect(sent).toEqual([]);

  await freeze.click();
  await page.getByRole('heading', { name: /^Freezing acme|(is|are) frozen/ }).waitFor();
  const progress = page.url();
  expect(sent.splice(0)).toEqual(['POST /owners/acme/freeze']);
  await page.reload();
  await page.goBack();
  await freeze.waitFor();
  expect(await page.inputValue('[name=reason]')).toBe('INC-4711');
  expect(sent).toEqual([]);
  await freeze.click();
  await page.getByRole('heading', { name: /^Freezing acme|(is|are) frozen/ }).waitFor();
  expect(page.url()).toBe(progress);
  expect(await acme.app.deps.db.freezePlan.count()).toBe(1);
  expect(page.problems).toEqual([]);
  await page.context().close();
});

test('a refused form and a new key', async () => {
  const { page, sent } = await adasPage('/owners/acme/settings/roles');
  await page.getByLabel('Freezers').fill('nobody-of-this-name');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByRole('alert').waitFor();
  sent.splice(0);
  await page.reload();
  expect(await page.getByLabel('Freezers').inputValue()).toBe('nobody-of-this-name');
  expect(sent).toEqual([]);

  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByText('New key').click();
  await page.locator('[name=key_name]').fill('ci');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await page.locator('pre.written').textContent();
  sent.splice(0);
  await page.reload();
  expect(await page.locator('pre.written').textContent()).toBe(key);
  await page.getByRole('link', { name: 'Back to the settings' }).click();
  await loaded(page);
  await page.goBack();
  expect(await page.locator('pre.written').textContent()).toBe(key);
  expect(sent).toEqual([]);
  expect(await acme.app.deps.db.applicationKey.count({ where: { name: 'ci' } })).toBe(1);
  await page.context().close();
});
