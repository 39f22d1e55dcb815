import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import {
  acmeWithUrl,
  browserForAll,
  expectAccessible,
  expectNoScroll,
  loaded,
  openPage,
  phone,
  screenshot,
  signedInPage,
} from './browser.ts';

// The changes of admins on the pages of a freeze and of a pull request, in a real browser.

const acme = acmeWithUrl();
const browser = browserForAll();
const web = 'acme/web';

beforeAll(async () => {
  acme.github.addUser('wendy');
  await acme.repository('web', [{ title: 'New checkout', labels: ['risky'] }, { title: 'The fix' }], {
    roles: { wendy: 'write' },
  });
});

const freezeNow = (reason: string) =>
  acme.freeze(web, { reason, end: '2026-12-02T12:00:00', timezone: 'Europe/Paris' });

const pageOf = (login: string, path: string, options?: Parameters<typeof openPage>[1]) =>
  signedInPage(browser, acme, login, path, options);

/** Nothing is wider than the screen, and axe finds nothing. */
async function expectSound(page: Page & { problems: string[] }): Promise<void> {
  await expectNoScroll(page);
  await expectAccessible(page);
  expect(page.problems).toEqual([]);
}

const sizes = { desktop: {}, phone } as const;
test.each(
  (['light', 'dark'] as const).flatMap((scheme) =>
    (['desktop', 'phone'] as const).map((size) => [scheme, size] as const),
  ),
)('a freeze with its forms closed and open, %s, %s', async (colorScheme, size) => {
  const { id } = await freezeNow('Release 4.2');
  const page = await pageOf('ada', `/repos/${web}/freezes/${id}`, { ...sizes[size], colorScheme });
  await screenshot(page, `freeze-${colorScheme}-${size}`);
  await expectSound(page);
  for (const name of ['Set end…', 'End now…', 'Delete…', 'Edit…']) await page.getByText(name).click();
  await screenshot(page, `freeze-forms-${colorScheme}-${size}`);
  await expectSound(page);
  await page.context().close();
  await acme.remove(web, id);
});

test('by the keyboard alone: longer, edited, deleted', async () => {
  const { id } = await freezeNow('Release 4.2');
  const page = await pageOf('ada', `/repos/${web}/freezes/${id}`);
  const press = async (name: string) => {
    await loaded(page);
    for (let tabs = 0; tabs < 60; tabs++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.textContent.trim()')) === name) break;
    }
    expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe(name);
    await page.keyboard.press('Enter');
  };
  await press('+1 hour');
  await page.getByText('The freeze was extended.').waitFor();
  await loaded(page);
  expect(await page.textContent('.state-line')).toContain('Wed 2 Dec, 07:00 (13:00 Paris');
  await press('Edit…');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('Release 4.3');
  await press('Save changes');
  await page.getByText('The freeze was changed.').waitFor();
  expect(await page.textContent('h1')).toBe('Release 4.3');
  await press('Delete…');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Released');
  await page.keyboard.press('Enter');
  await page.getByText('The freeze was deleted.').waitFor();
  await loaded(page);
  expect(await page.textContent('main')).toContain('Released');
  await acme.quiet();
  expect(acme.frozen(web)).toEqual([]);
  await expectSound(page);
  await page.context().close();
});

test('an error is beside its field', async () => {
  const { id } = await freezeNow('Release 4.2');
  const page = await pageOf('ada', `/repos/${web}/freezes/${id}`, phone);
  await page.getByText('Edit…').click();
  await page.getByLabel('Block pull requests that match').fill('lable=risky');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByLabel('Block pull requests that match').getAttribute('aria-invalid')).toBe('true');
  expect(await page.textContent('#matching_conditions-problem')).toContain('lable');
  await screenshot(page, 'freeze-problem');
  // The answer to a form that is refused is a 422, which the browser tells of.
  page.problems.length = 0;
  await expectSound(page);
  await page.context().close();
  await acme.remove(web, id);
});

test('on a phone, a writer requests an exemption, and an admin approves it', async () => {
  const { id } = await freezeNow('Incident 4711');
  const path = `/repos/${web}/pulls/2`;
  const wendys = await pageOf('wendy', path, phone);
  await wendys.getByText('Request exemption…').click();
  await wendys.getByLabel('Reason', { exact: true }).fill('It mends the incident');
  await screenshot(wendys, 'ask-phone');
  await expectSound(wendys);
  await wendys.getByRole('button', { name: 'Request exemption', exact: true }).click();
  await wendys.getByText('Requested', { exact: true }).waitFor();
  await expectSound(wendys);
  const adas = await pageOf('ada', path, { ...phone, colorScheme: 'dark' });
  await screenshot(adas, 'request-phone-dark');
  await expectSound(adas);
  await adas.getByRole('button', { name: 'Approve' }).click();
  await adas.getByText('approved by ada').first().waitFor();
  await acme.quiet();
  expect(acme.frozen(web)).toEqual([1]);
  await adas.reload();
  await screenshot(adas, 'let-through-phone-dark');
  expect(await adas.textContent('.badge')).toBe('Exempt');
  await expectSound(adas);
  await acme.remove(web, id);
  await Promise.all([wendys, adas].map((page) => page.context().close()));
});

test.each(['light', 'dark'] as const)('the first steps on a phone in %s', async (colorScheme) => {
  await acme.repository(`bare-${colorScheme}`, [], { protect: {} });
  const page = await pageOf('ada', '/owners/acme/first-steps', { ...phone, colorScheme });
  for (const fold of await page.locator('summary').all()) await fold.click();
  await screenshot(page, `first-steps-${colorScheme}`);
  expect(await page.textContent('main')).toContain('Freezes are not enforced');
  await expectSound(page);
  await page.context().close();
});

test('a missing page leads home', async () => {
  const page = await openPage(browser, { ...phone, colorScheme: 'dark' });
  await page.goto(`${acme.app.url}/nothing/here`);
  await screenshot(page, 'not-found');
  page.problems.length = 0;
  await expectSound(page);
  await page.getByRole('link', { name: 'Go to the home page' }).click();
  expect(new URL(page.url()).pathname).toBe('/');
  await page.context().close();
});
