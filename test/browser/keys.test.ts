import { beforeAll, expect, test } from 'vitest';
import {
  acmeWithUrl,
  browserForAll,
  expectAccessible,
  expectNoScroll,
  loaded,
  phone,
  screenshot,
  signedInPage,
} from './browser.ts';

// Fast hands: keys that find, search, freeze and list themselves; and a form that is not left by accident.

const acme = acmeWithUrl();
const browser = browserForAll();

beforeAll(async () => {
  await acme.repository('web', [{ title: 'Refunds reach the card again' }]);
  await acme.repository('api', [{}]);
});

const page = (login: string, to: string) => signedInPage(browser, acme, login, to);

test('what is found is a page, too, also on a phone', async () => {
  const ada = await signedInPage(browser, acme, 'ada', '/find?q=web', phone);
  await ada.locator('#found').getByText('acme/web').first().waitFor();
  await expectAccessible(ada);
  await expectNoScroll(ada);
  await screenshot(ada, 'look-find-375');
});

test('keys find, search, freeze and list themselves, and can be switched off', async () => {
  const ada = await page('ada', '/repos/acme/web');
  await ada.keyboard.press('Control+k');
  const field = ada.locator('dialog input[type=search]');
  await field.fill('refund');
  await ada.locator('dialog #found').getByText('#1 Refunds').waitFor();
  await screenshot(ada, 'look-palette');
  await expectAccessible(ada);
  await ada.keyboard.press('ArrowDown');
  expect(await ada.locator(':focus').textContent()).toContain('Refunds');
  await ada.keyboard.press('Enter');
  await ada.waitForURL('**/repos/acme/web/pulls/1');
  await ada.keyboard.press('?');
  await ada.locator('dialog #keys').waitFor();
  await screenshot(ada, 'look-keys');
  await expectAccessible(ada);
  await ada.getByLabel('Use the keys').uncheck();
  await ada.keyboard.press('Escape');
  await ada.keyboard.press('f');
  expect(ada.url()).toContain('/pulls/1');
  await ada.keyboard.press('Control+k');
  await ada.locator('dialog[open]').waitFor();
  await ada.evaluate(`localStorage.removeItem('keys')`);
  await ada.goto(`${acme.app.url}/repos/acme`);
  await ada.keyboard.press('/');
  expect(await ada.locator(':focus').getAttribute('name')).toBe('q');
  // What one types into a field is text.
  await ada.keyboard.type('f?');
  expect(await ada.inputValue('main [name=q]')).toBe('f?');
  await ada.locator('h1').click();
  await ada.keyboard.press('f');
  await ada.waitForURL('**/owners/acme/freeze?*');
  expect(ada.problems).toEqual([]);
});

test('a form that somebody filled in is not left without a question', async () => {
  const ada = await page('ada', '/owners/acme/freeze');
  await loaded(ada);
  const asked: string[] = [];
  ada.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  await ada.getByRole('link', { name: 'Holdfast' }).click();
  await ada.waitForURL(`${acme.app.url}/`);
  expect(asked).toEqual([]);
  await ada.goto(`${acme.app.url}/owners/acme/freeze`);
  await ada.locator('[name=reason]').pressSequentially('INC-4711');
  await ada.getByRole('link', { name: 'Holdfast' }).click();
  await ada.waitForURL(`${acme.app.url}/`);
  expect(asked).toEqual(['beforeunload']);
  // Whoever sends it leaves with it.
  await ada.goto(`${acme.app.url}/owners/acme/freeze`);
  await ada.locator('[name=reason]').pressSequentially('INC-4711');
  await ada.getByRole('button', { name: /^Freeze \d repositories$/ }).click();
  await ada.waitForURL('**/owners/acme/progress?*');
  expect(asked).toEqual(['beforeunload']);
});

test('the key f makes no freeze, also where the button for that stands', async () => {
  const ada = await page('ada', '/owners/acme/freeze?repository=web');
  await ada.locator('[name=reason]').fill('INC-4711');
  await ada.locator('button.freeze').waitFor();
  const before = await acme.app.deps.db.freeze.count();
  ada.on('dialog', (dialog) => void dialog.dismiss());
  await ada.locator('h1').click();
  await ada.keyboard.press('f');
  await ada.keyboard.press('?');
  await ada.locator('dialog #keys').waitFor();
  expect(ada.url()).toContain('/owners/acme/freeze?repository=web');
  expect(await acme.app.deps.db.freeze.count()).toBe(before);
});
