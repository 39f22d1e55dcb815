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

const acme = acmeWithUrl();
const browser = browserForAll();
const roles = '/owners/acme/settings/roles';
const wide = { viewport: { width: 1280, height: 900 } };
const rolesOfAcme = async () => (await acme.call('GET', '/v1/settings/acme', { as: acme.admin })).body;

beforeAll(async () => {
  for (const login of ['grace', 'gracious']) acme.github.addUser(login, { name: `Grace of ${login}` });
  acme.github.addUser('a-login-that-is-as-long-as-logins-can-be1', {
    name: 'Grace \u062a\u062c\u0645\u064a\u062f',
  });
  await acme.repository('web', [{}], { roles: { grace: 'read' } });
  acme.github.addTeam('acme', 'grants-and-releases');
});

test.each([
  ['light', wide],
  ['dark', phone],
] as const)('people and teams are found, chosen and removed, in %s', async (colorScheme, screen) => {
  const page = await signedInPage(browser, acme, 'ada', roles, { ...screen, colorScheme });
  const freezers = page.locator('[data-people=freezers]');
  const chosen = freezers.getByRole('list', { name: 'Chosen' });
  await page.getByLabel('Freezers').pressSequentially('gra');
  await freezers.getByRole('checkbox', { name: /gracious/ }).waitFor();
  // The pictures are there, from the place that the policy names.
  const sizes = () =>
    page.evaluate<number[]>(
      `Promise.all([...document.querySelectorAll('.people img')].map((each) => each.decode().then(() => each.naturalWidth)))`,
    );
  expect(await sizes()).toEqual([48, 48, 48, 48]);
  await screenshot(page, `people-found-${colorScheme}`);
  await expectAccessible(page);
  await expectNoScroll(page);
  await freezers.getByRole('checkbox', { name: /@acme\/grants/ }).click();
  await page.getByLabel('Freezers').fill('gra');
  await page.getByLabel('Freezers').press('Enter');
  await freezers.getByRole('checkbox', { name: /a-login-that-is/ }).click();
  await page.getByLabel('Freezers').fill('grace');
  await freezers.getByRole('checkbox', { name: /^grace/ }).click();
  await freezers.getByRole('button', { name: 'Remove grace' }).click();
  expect(await chosen.getByRole('listitem').count()).toBe(2);
  await screenshot(page, `people-chosen-${colorScheme}`);
  await expectAccessible(page);
  await expectNoScroll(page);
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Saved.').waitFor();
  await loaded(page);
  expect((await rolesOfAcme()).freezers).toEqual([
    '@acme/grants-and-releases',
    'a-login-that-is-as-long-as-logins-can-be1',
  ]);
  expect(await sizes()).toEqual([48, 48]);
  for (const name of ['Remove @acme/grants-and-releases', 'Remove a-login-that-is-as-long-as-logins-can-be1'])
    await page.getByRole('button', { name }).click();
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Saved.').waitFor();
  expect((await rolesOfAcme()).freezers).toEqual([]);
  expect(page.problems).toEqual([]);
  await page.context().close();
});

test('while one types, GitHub is asked one question, whoever is chosen in the other list', async () => {
  const settings = { freezers: [], approvers: ['bob', 'grace'] };
  await acme.call('PATCH', '/v1/settings/acme', { as: acme.admin, body: settings });
  const page = await signedInPage(browser, acme, 'ada', roles, wide);
  await acme.quiet();
  const asked = () => acme.github.requests.filter(({ path }) => path.includes('graphql')).length;
  const before = asked();
  await page.getByLabel('Freezers').fill('gracious');
  await page
    .locator('[data-people=freezers]')
    .getByRole('checkbox', { name: /gracious/ })
    .waitFor();
  expect(asked() - before).toBe(1);
  // Those of the other list stay.
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Saved.').waitFor();
  expect(await rolesOfAcme()).toMatchObject({ freezers: ['gracious'], approvers: ['bob', 'grace'] });
  await acme.call('PATCH', '/v1/settings/acme', { as: acme.admin, body: { freezers: [], approvers: [] } });
  await page.context().close();
});

test('whoever has chosen gets no answer to what was typed before', async () => {
  const page = await signedInPage(browser, acme, 'ada', roles, wide);
  const found = page.locator('[data-people=freezers]').getByRole('checkbox', { name: /gracious/ });
  await page.getByLabel('Freezers').fill('grac');
  await found.waitFor();
  // Nobody answers this one.
  const isLate = /freezers_typed=graci(?:&|$)/;
  await page.route(isLate, () => {});
  const asked = page.waitForRequest(isLate);
  await page.getByLabel('Freezers').fill('graci');
  await asked;
  const givenUp = page.waitForEvent('requestfailed', (request) => isLate.test(request.url()));
  await found.click();
  await givenUp;
  expect(await page.locator('[data-people=freezers] .matches li').count()).toBe(0);
  await page.context().close();
});

test('without scripts, buttons search, choose and remove', async () => {
  const page = await signedInPage(browser, acme, 'ada', roles, { ...phone, javaScriptEnabled: false });
  await page.getByLabel('Approvers').fill('hopp');
  await page.getByLabel('Approvers').press('Enter');
  await page.getByText('GitHub finds nobody else for \u201chopp\u201d.').waitFor();
  await page.getByLabel('Approvers').fill('grac');
  await page.getByRole('button', { name: 'Search' }).last().click();
  await page.getByRole('checkbox', { name: /^grace/ }).check();
  await page.getByRole('checkbox', { name: /^gracious/ }).check();
  await page.getByRole('button', { name: 'Search' }).last().click();
  await page.getByRole('button', { name: 'Remove grace', exact: true }).click();
  await screenshot(page, 'people-without-scripts');
  await page.getByLabel('Approvers').fill('bob');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Saved.').waitFor();
  expect((await rolesOfAcme()).approvers).toEqual(['gracious', 'bob']);
  expect(page.problems).toEqual([]);
  await page.context().close();
});
