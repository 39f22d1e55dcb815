import { beforeAll, expect, test } from 'vitest';
import {
  acmeWithUrl,
  browserForAll,
  expectAccessible,
  expectNoScroll,
  openPage,
  phone,
  screenshot,
  signedInPage,
} from './browser.ts';

const acme = acmeWithUrl();
const browser = browserForAll();
const owners = Array.from({ length: 10 }, (_, index) => `owner-${index}`);

beforeAll(async () => {
  for (let index = 0; index < 12; index++) await acme.repository(`service-${index}`, [{}, {}]);
  await acme.repository('web', [{}], { protect: {} });
  await acme.repository('billing', [{}], { roles: { bob: 'write' } });
  for (const login of owners) {
    acme.github.addOrganization(login, { admins: ['ada'] });
    acme.github.addRepository(`${login}/site`);
    acme.github.install(login);
  }
  await acme.quiet();
  const plan = {
    name: 'Year end',
    reason:
      'The books of the year are closed, and so are all services until the auditors have looked at them',
    repositories: { include: ['service-*'] },
    timezone: 'Europe/Paris',
  };
  const path = '/v1/freeze_plans/acme';
  const now = { ...plan, start: '2026-02-27T12:00:00', end: '2026-03-01T18:00:00' };
  const fridays = {
    ...plan,
    ...{ name: 'Fridays', reason: 'No merges on Fridays', start: '2026-03-06T12:00:00' },
    ...{ end: '2026-03-06T23:00:00', recurrence: { rule: 'FREQ=WEEKLY' } },
  };
  for (const body of [now, fridays]) await acme.call('POST', path, { as: acme.admin, body });
  await acme.freeze('acme/web', { reason: 'تجميد نهاية السنة (2026)' });
  await acme.freeze('acme/billing', { reason: 'INC-4711', end: '2026-03-01T11:00:00' });
  const body = { reason: 'Totals are wrong by a cent' };
  await acme.call('POST', '/v1/repos/acme/billing/pulls/1/exemptions', {
    as: acme.github.addToken('bob'),
    body,
  });
  await acme.quiet();
});

test.each(['light', 'dark'] as const)('the home page of strangers in %s', async (colorScheme) => {
  const page = await openPage(browser, { ...phone, colorScheme });
  await page.goto(acme.app.url);
  expect(await page.textContent('h1')).toContain('Merge freezes');
  await expectAccessible(page);
  expect(page.problems).toEqual([]);
});

const wide = { viewport: { width: 1280, height: 900 } };

test.each([
  ['dark', wide],
  ['light', phone],
] as const)('the overviews in %s', async (colorScheme, screen) => {
  const page = await openPage(browser, { ...screen, colorScheme });
  acme.github.signInToGitHub('ada');
  await page.goto(acme.app.url);
  await page.getByRole('link', { name: 'Sign in with GitHub' }).click();
  await page.getByRole('button', { name: /Authorize Holdfast|Sign out/ }).waitFor();
  if (await page.getByRole('button', { name: 'Authorize Holdfast' }).isVisible())
    await page.getByRole('button', { name: 'Authorize Holdfast' }).click();
  await page.getByRole('heading', { name: 'Frozen now' }).waitFor();
  const name = `overview-${colorScheme}-${screen.viewport.width}`;
  await screenshot(page, `${name}-home`);
  await expectAccessible(page);
  await expectNoScroll(page);
  // A menu of the owners, at the top.
  await page.getByText('Freeze now', { exact: true }).click();
  await page.getByRole('link', { name: 'owner-9' }).first().waitFor();
  await screenshot(page, `${name}-menu`);
  await expectAccessible(page);
  await expectNoScroll(page);
  await page.goto(`${acme.app.url}/acme`);
  await page.getByRole('link', { name: '12 repositories' }).first().waitFor();
  await screenshot(page, `${name}-owner`);
  await expectAccessible(page);
  await expectNoScroll(page);
  await page.locator('.menu.owner summary').click();
  await screenshot(page, `${name}-owners`);
  await expectNoScroll(page);
  await page.getByRole('link', { name: 'owner-3' }).click();
  await page.getByRole('heading', { name: 'owner-3' }).waitFor();
  expect(page.problems).toEqual([]);
});

test('on a phone, the home page of several owners has the tabs of one, which ask for the owner', async () => {
  const page = await signedInPage(browser, acme, 'ada', '/', phone);
  const tabs = page.getByRole('navigation', { name: 'All owners' });
  const names = await tabs.locator(':scope > a, summary').allInnerTexts();
  expect(names.map((each) => each.trim())).toEqual(['Now', 'Calendar', 'Requests', 'More']);
  for (const [name, path] of [
    ['Calendar', '/owners/owner-9/calendar'],
    ['Requests', '/owners/owner-9/exemptions'],
  ] as const) {
    await tabs.getByText(name).click();
    await screenshot(page, `home-tabs-${name}`);
    await expectAccessible(page);
    await expectNoScroll(page);
    await tabs.getByRole('link', { name: 'owner-9' }).click();
    await page.waitForURL(acme.app.url + path);
    await page.goto(acme.app.url);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  expect(await tabs.isVisible()).toBe(false);
  expect(page.problems).toEqual([]);
});
