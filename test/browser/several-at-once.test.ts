import { beforeAll, expect, test } from 'vitest';
import { exemptionsOf } from '../support/exemptions.ts';
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

// Boxes on rows, and the bar that counts what its button does.

const acme = acmeWithUrl();
const browser = browserForAll();
const wide = { viewport: { width: 1280, height: 900 } };

beforeAll(async () => {
  await acme.repository('web', [{}, {}, {}], { roles: { bob: 'write' } });
  const long =
    'A reason that is longer than a phone is wide, because somebody explains what is going on there';
  for (const reason of [long, 'INC-4711', 'INC-4712']) await acme.freeze('acme/web', { reason });
  const later = { start: '2027-04-01T08:00:00', end: '2027-04-02T08:00:00' };
  for (const reason of ['Spring', 'Easter']) await acme.freeze('acme/web', { reason, ...later });
  const bob = acme.github.addToken('bob');
  for (const number of [1, 2, 3]) await exemptionsOf(acme).request('acme/web', number, {}, bob);
  for (const name of ['One', 'Two']) {
    const body = { ...later, name, reason: name, timezone: 'UTC', repositories: { include: ['web'] } };
    await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
  }
  await acme.quiet();
});

test.each([
  ['light', wide],
  ['dark', phone],
] as const)('the bars of lists count, in %s', async (colorScheme, screen) => {
  const page = await signedInPage(browser, acme, 'ada', '/repos/acme/web', { ...screen, colorScheme });
  const name = `several-${colorScheme}`;
  const bar = page.locator('#bulk');
  expect(await bar.isVisible()).toBe(false);
  await page.getByRole('checkbox', { name: 'Select INC-4711' }).check();
  await page.getByText('End 1 freeze', { exact: true }).first().waitFor();
  await page.getByRole('checkbox', { name: 'Select INC-4712' }).check();
  await page.getByRole('checkbox', { name: 'Select Spring' }).check();
  await bar.locator('summary').click();
  expect(await bar.getByRole('button').textContent()).toBe('End 2 freezes and delete 1 scheduled freeze');
  await screenshot(page, `${name}-freezes`);
  await expectAccessible(page);
  await expectNoScroll(page);
  await page.goto(`${acme.app.url}/owners/acme/plans`);
  await page.getByRole('checkbox', { name: 'Select One' }).check();
  await page.getByText('Delete 1 plan', { exact: true }).first().waitFor();
  await screenshot(page, `${name}-plans`);
  await expectAccessible(page);
  await expectNoScroll(page);
  await page.goto(`${acme.app.url}/owners/acme/exemptions`);
  for (const box of await page.getByRole('checkbox', { name: /Select acme\/web/ }).all()) await box.check();
  await page.getByRole('button', { name: 'Approve 3 requests' }).waitFor();
  await screenshot(page, `${name}-requests`);
  await expectAccessible(page);
  await expectNoScroll(page);
  expect(page.problems).toEqual([]);
  await page.context().close();
});

test('two freezes end with one press, and come back with Undo', async () => {
  const page = await signedInPage(browser, acme, 'ada', '/repos/acme/web', phone);
  for (const name of ['INC-4711', 'Easter'])
    await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  await page.locator('#bulk summary').click();
  await page.getByRole('textbox', { name: 'Reason' }).fill('Over');
  await page.getByRole('button', { name: 'End 1 freeze and delete 1 scheduled freeze' }).click();
  await page.getByText('Unfrozen.').waitFor();
  await loaded(page);
  expect(await page.getByRole('checkbox', { name: 'Select INC-4711' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Restored.').waitFor();
  await loaded(page);
  // A page that updates itself may put another bar in the place of this one.
  await page.evaluate(`{
    const now = document.querySelector('#bulk');
    now.replaceWith(now.cloneNode(true));
  }`);
  await page.getByRole('checkbox', { name: 'Select INC-4711' }).check();
  await page.getByText('End 1 freeze', { exact: true }).first().waitFor();
  expect(page.problems).toEqual([]);
});

test('without scripts the bar is always there', async () => {
  const options = { ...phone, javaScriptEnabled: false };
  const page = await signedInPage(browser, acme, 'ada', '/owners/acme/exemptions', options);
  await page.getByRole('checkbox', { name: 'Select acme/web #3' }).check();
  await page.getByRole('button', { name: 'Approve the selected requests' }).click();
  await page.getByText('Approved.').waitFor();
  await expectNoScroll(page);
});

test('all freezes but one end with three taps from the home page', async () => {
  const { call, admin } = acme;
  const plan = { name: 'All', reason: 'A plan', repositories: { include: ['*'] } };
  const body = { ...plan, start: null, timezone: 'UTC' };
  expect((await call('POST', '/v1/freeze_plans/acme', { as: admin, body })).status).toBe(201);
  for (let at = 1; at <= 4; at++) await acme.freeze('acme/web', { reason: `INC-${at}` });
  await acme.quiet();
  const page = await signedInPage(browser, acme, 'ada', '/', { ...phone, hasTouch: true });
  const all = await page.getByRole('checkbox', { name: /^Select (?!all)/ }).count();
  expect(all).toBe(8);
  // Nothing is selected before somebody does it.
  expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
  expect(await page.locator('#bulk').isVisible()).toBe(false);
  let taps = 0;
  const tap = async (role: 'checkbox' | 'button', name: string) => {
    taps++;
    await page.getByRole(role, { name, exact: true }).tap();
  };
  await tap('checkbox', 'Select all');
  await page.getByRole('button', { name: 'End 8 freezes' }).waitFor();
  await tap('checkbox', 'Select INC-3');
  await page.getByRole('textbox', { name: 'Reason' }).fill('Over');
  await screenshot(page, 'several-home');
  await expectAccessible(page);
  await expectNoScroll(page);
  await tap('button', 'End 7 freezes');
  await page.getByText('Unfrozen.').waitFor();
  await loaded(page);
  expect(taps).toBe(3);
  expect(await page.getByRole('heading', { level: 3, name: 'INC-3' }).count()).toBe(1);
  expect(await page.getByRole('checkbox', { name: /^Select/ }).count()).toBe(1);
  await screenshot(page, 'several-home-after');
  expect(page.problems).toEqual([]);
});
