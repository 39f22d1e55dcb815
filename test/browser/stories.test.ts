import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { acmeWithUrl, browserForAll, openPage, phone, screenshot } from './browser.ts';

// The common tasks of people, from signing in to the end, on a phone. They count each tap, and not the typing.

const acme = acmeWithUrl();
const browser = browserForAll();
const names = ['api', 'billing', 'docs', 'mobile', 'search', 'web'];

beforeAll(async () => {
  acme.github.addUser('grace');
  acme.github.addUser('wendy');
  for (const name of names)
    await acme.repository(name, [{ title: 'The fix' }, {}], { roles: { grace: 'admin', wendy: 'write' } });
});

type Phone = Page & {
  problems: string[];
  taps: number;
  tap(role: 'button' | 'link', name: string): Promise<void>;
};

/** A phone of somebody who is signed in to GitHub. @param isNew GitHub asks once whether Holdfast may know who one is. */
async function phoneOf(login: string, isNew = true): Promise<Phone> {
  const page = Object.assign(await openPage(browser, { ...phone, hasTouch: true }), {
    taps: 0,
    async tap(role: 'button' | 'link', name: string) {
      page.taps++;
      await page.getByRole(role, { name, exact: true }).first().tap();
    },
  });
  acme.github.signInToGitHub(login);
  await page.goto(`${acme.app.url}/`);
  await page.tap('link', 'Sign in with GitHub');
  if (isNew) await page.tap('button', 'Authorize Holdfast');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
}

const unfold = async (page: Phone, words: string) => {
  page.taps++;
  await page.getByText(words, { exact: true }).tap();
};

test('an incident: freeze six repositories, see them held, exempt one pull request, unfreeze', async () => {
  const ada = await phoneOf('ada');
  await ada.tap('link', 'Freeze now');
  await ada.fill('[name=reason]', 'INC-4711');
  await ada.tap('button', 'Freeze 6 repositories');
  await ada.locator('.progress-line strong', { hasText: /^\s*12 pull requests/ }).waitFor();
  await screenshot(ada, 'story-held');
  expect(ada.taps).toBe(4);
  for (const name of names) expect(acme.frozen(`acme/${name}`)).toEqual([1, 2]);

  // From the link of the check on GitHub.
  await ada.goto(`${acme.app.url}/repos/acme/web/pulls/1`);
  await unfold(ada, 'Exempt…');
  await ada.getByLabel('Reason', { exact: true }).fill('It mends the incident');
  await ada.tap('button', 'Exempt pull request');
  await ada.getByText('approved by ada').first().waitFor();
  await acme.quiet();
  expect(acme.frozen('acme/web')).toEqual([2]);
  expect(ada.taps).toBe(6);

  await ada.goto(`${acme.app.url}/`);
  await ada.tap('link', 'Unfreeze');
  await ada.fill('[name=delete_reason]', 'Solved');
  await ada.tap('button', 'End 1 freeze in 6 repositories');
  await ada.getByText('can merge within seconds').waitFor();
  await acme.quiet();
  for (const name of names) expect(acme.frozen(`acme/${name}`)).toEqual([]);
  expect(ada.taps).toBe(8);
  expect(ada.problems).toEqual([]);
});

test('the year end: a plan with its preview, extended, and a second person exempts a pull request', async () => {
  const ada = await phoneOf('ada', false);
  await ada.tap('link', 'All repositories');
  await ada.tap('button', 'New plan');
  await ada.fill('[name=name]', 'Year end');
  await ada.fill('[name=reason]', 'Books are closed');
  await ada.fill('[name=start]', '2026-12-24T18:00');
  await ada.fill('[name=end]', '2027-01-02T08:00');
  await ada.fill('[name=zone]', 'Europe/Paris');
  await ada.locator('.sentence', { hasText: 'to Sat 2 Jan 2027, 08:00' }).waitFor();
  await screenshot(ada, 'story-plan-preview');
  await ada.tap('button', 'Create plan');
  await ada.getByRole('link', { name: 'Edit' }).waitFor();
  expect(ada.taps).toBe(4);

  await ada.tap('button', '+1 day');
  await ada.getByText('Sun 3 Jan 2027, 02:00').first().waitFor();
  expect(ada.taps).toBe(5);

  await acme.advanceTo(new Date('2026-12-24T17:00:01Z'));
  for (const name of names) expect(acme.frozen(`acme/${name}`)).toEqual([1, 2]);

  const wendy = await phoneOf('wendy');
  await wendy.goto(`${acme.app.url}/repos/acme/billing/pulls/1`);
  await unfold(wendy, 'Request exemption…');
  await wendy.getByLabel('Reason', { exact: true }).fill('Totals are wrong by a cent');
  await wendy.tap('button', 'Request exemption');
  await wendy.getByText('Requested', { exact: true }).waitFor();
  expect(wendy.taps).toBe(4);

  // Signed out, from the link of the status: two taps, and one more the first time, to authorize Holdfast.
  const later = await openPage(browser, { ...phone, hasTouch: true });
  acme.github.signInToGitHub('wendy');
  await later.goto(`${acme.app.url}/repos/acme/api/pulls/1`);
  await later.getByRole('link', { name: 'Request exemption' }).tap();
  await later.getByLabel('Reason', { exact: true }).fill('The API is down');
  await later.getByRole('button', { name: 'Request exemption', exact: true }).tap();
  await later.getByText('Requested', { exact: true }).waitFor();
  await screenshot(later, 'story-requested');

  const grace = await phoneOf('grace');
  await grace.getByRole('heading', { name: 'Waiting for your decision' }).waitFor();
  await grace.tap('link', 'acme/billing #1');
  await grace.tap('button', 'Approve');
  await grace.getByText('approved by grace').first().waitFor();
  await acme.quiet();
  expect(acme.frozen('acme/billing')).toEqual([2]);
  expect(grace.taps).toBe(4);

  // It would have ended on the 2nd.
  await acme.advanceTo(new Date('2027-01-02T12:00:00Z'));
  expect(acme.frozen('acme/web')).toEqual([1, 2]);
  await acme.advanceTo(new Date('2027-01-03T07:00:01Z'));
  for (const name of names) expect(acme.frozen(`acme/${name}`)).toEqual([]);
  for (const person of [ada, wendy, grace]) expect(person.problems).toEqual([]);
});
