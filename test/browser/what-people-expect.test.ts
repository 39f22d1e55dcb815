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

// What pages do everywhere else: menus close, the first field has the focus, buttons show that they work, and so on.

const acme = acmeWithUrl();
const browser = browserForAll();
const ids = { arabic: '', noon: '' };

beforeAll(async () => {
  acme.github.addOrganization('globex', { admins: ['ada'] });
  acme.github.addRepository('globex/site');
  acme.github.install('globex');
  await acme.repository('web', [{}]);
  await acme.repository('api', [{}]);
  ids.arabic = (await acme.freeze('acme/web', { reason: 'تجميد نهاية السنة (2026)' })).id;
  // In New York it is still the day before.
  const end = { end: '2026-03-05T20:00:00', timezone: 'America/New_York' };
  ids.noon = (await acme.freeze('acme/api', { reason: 'Release', ...end })).id;
});

const adasPage = (to: string, options?: Parameters<typeof openPage>[1]) =>
  signedInPage(browser, acme, 'ada', to, options);

const openMenus = (page: Page) => page.locator('details.menu[open]').count();
const focused = (page: Page) => page.locator(':focus');

test('menus close with Escape and by a click elsewhere, and one is open at a time', async () => {
  const page = await adasPage('/');
  const [freeze, zone] = [page.getByText('Freeze now', { exact: true }), page.locator('.zone summary')];
  await freeze.click();
  expect(await openMenus(page)).toBe(1);
  await zone.click();
  expect(await page.locator('details.menu[open]').getAttribute('class')).toBe('menu zone');
  await page.keyboard.press('Escape');
  expect(await openMenus(page)).toBe(0);
  // Where one was when it opened.
  expect(await focused(page).getAttribute('title')).toMatch(/^Time zone/);
  await freeze.click();
  await page.getByRole('link', { name: 'globex' }).first().waitFor();
  await page.getByRole('heading', { level: 1 }).click();
  expect(await openMenus(page)).toBe(0);
  // Whoever goes on by the keyboard leaves it, too.
  await freeze.focus();
  await page.keyboard.press('Enter');
  expect(await openMenus(page)).toBe(1);
  for (let tab = 0; tab < 3; tab++) await page.keyboard.press('Tab');
  expect(await openMenus(page)).toBe(0);
  expect(page.problems).toEqual([]);
});

test('the first Tab skips to the content', async () => {
  const page = await adasPage('/repos/acme', phone);
  await page.keyboard.press('Tab');
  expect(await focused(page).textContent()).toBe('Skip to the content');
  await screenshot(page, 'skip-link');
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await focused(page).textContent()).toBe('Freeze now');
  expect(page.problems).toEqual([]);
});

test.each([
  ['/owners/acme/freeze', 'reason'],
  ['/owners/acme/plans/new', 'holds'],
  ['/owners/acme/unfreeze', 'ongoing'],
  ['/owners/acme/unfreeze?repository=web', 'delete_reason'],
  ['/owners/acme/calendar/subscribe', 'repositories'],
  ['/repos/acme/web/pulls/1?exempt=yes', 'reason'],
  ['/help/search', 'q'],
])('on %s the field %s has the focus', async (path, field) => {
  const page = await adasPage(path);
  await loaded(page);
  expect(await focused(page).getAttribute('name')).toBe(field);
});

test('the errors of a refused form have the focus, and its preview comes back when they are mended', async () => {
  const page = await adasPage('/owners/acme/freeze');
  await page.fill('[name=reason]', 'INC-4711');
  await page.getByRole('radio', { name: 'Until…' }).check({ force: true });
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('Nothing was changed.').waitFor();
  expect(await focused(page).getAttribute('role')).toBe('alert');
  await screenshot(page, 'refused-has-focus');
  await expectAccessible(page);
  await page.getByRole('radio', { name: '1 hour' }).check({ force: true });
  await page.getByRole('button', { name: 'Freeze 2 repositories' }).waitFor();
});

test('a button shows that its form was sent, until the answer is there', async () => {
  const page = await adasPage('/owners/acme/freeze');
  // The next page can only say what the last one looked like.
  await page.evaluate(`addEventListener('submit', ({ submitter }) => setTimeout(() => {
    const { width } = getComputedStyle(submitter, '::after');
    localStorage.setItem('seen', [submitter.textContent.trim(), submitter.getAttribute('aria-busy'), width].join());
  }))`);
  await page.fill('[name=reason]', 'INC-4711');
  await page.getByRole('button', { name: 'Freeze 2 repositories' }).click();
  await page.getByRole('heading', { name: /^Freezing acme|(is|are) frozen/ }).waitFor();
  expect(await page.evaluate(`localStorage.getItem('seen')`)).toBe('Freeze 2 repositories,true,10.5px');
  expect(await page.locator('[aria-busy]').count()).toBe(0);
  expect(page.problems).toEqual([]);
});

test('a press counts, also if the preview changes before it ends', async () => {
  const page = await adasPage('/owners/acme/freeze');
  await page.fill('[name=reason]', 'INC-4711');
  const button = page.getByRole('button', { name: 'Freeze 2 repositories' });
  await button.waitFor();
  const held = Promise.withResolvers<undefined>();
  await page.route(/[?&]live=/, (route) => held.promise.then(() => route.continue()).catch(() => {}));
  const asked = page.waitForRequest(/[?&]live=/);
  // It is asked for again, and comes out the same.
  await page.locator('[name=zone]').dispatchEvent('input');
  await asked;
  await button.hover();
  await page.mouse.down();
  await page.evaluate(`{
    const { parseFromString } = DOMParser.prototype;
    DOMParser.prototype.parseFromString = function (...given) {
      setTimeout(() => (window.isRead = true));
      return parseFromString.apply(this, given);
    };
  }`);
  held.resolve(undefined);
  await expect.poll(() => page.evaluate('window.isRead')).toBe(true);
  await page.mouse.up();
  await page.getByRole('heading', { name: /^Freezing acme|(is|are) frozen/ }).waitFor();
  expect(page.problems).toEqual([]);
});

test.each(['/owners/acme/calendar', '/repos/acme', '/repos/acme/web'])(
  '%s prints what is read',
  async (path) => {
    const page = await adasPage(path);
    await page.emulateMedia({ media: 'print' });
    await screenshot(page, `print${path.replaceAll('/', '-')}`);
    const led = page.locator('nav, form:not(:has(h1)), button, .button, .skip, header, footer');
    for (const each of await led.all()) expect(await each.isVisible(), await each.innerHTML()).toBe(false);
    expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(true);
  },
);

/** Where the words of an element are, and the element. */
const rectsOf = `(element) => {
  const words = document.createRange();
  words.selectNodeContents(element);
  const [inner, outer] = [words.getBoundingClientRect(), element.getBoundingClientRect()];
  return { left: inner.left, height: outer.height, above: inner.top - outer.top, below: outer.bottom - inner.bottom };
}`;
type Rects = { left: number; height: number; above: number; below: number };

test('a heading that is written from right to left begins where the others do', async () => {
  const page = await adasPage(`/repos/acme/web/freezes/${ids.arabic}`, {
    viewport: { width: 1280, height: 900 },
  });
  const heading = page.getByRole('heading', { level: 1 });
  expect(await heading.textContent()).toContain('تجميد');
  const { left } = await page.evaluate<Rects>(`(${rectsOf})(document.querySelector('h1'))`);
  expect(left).toBeLessThan(150);
  await screenshot(page, 'right-to-left');
});

test('on a phone the words of a button are in its middle, whatever element it is', async () => {
  const page = await adasPage('/', phone);
  let seen = 0;
  for (const path of ['/', '/repos/acme', '/owners/acme/freeze', `/repos/acme/web/freezes/${ids.arabic}`]) {
    await page.goto(acme.app.url + path);
    const rects = await page.evaluate<Rects[]>(
      `[...document.querySelectorAll('main :is(button, .button)')].filter((each) => each.offsetHeight > 0).map(${rectsOf})`,
    );
    seen += rects.length;
    for (const { height, above, below } of rects) {
      expect(height).toBeGreaterThanOrEqual(40);
      expect(Math.abs(above - below)).toBeLessThan(4);
    }
  }
  expect(seen).toBeGreaterThan(8);
});

test('a repository shows its own lists only where it has some', async () => {
  const page = await adasPage('/repos/acme/web/settings');
  const list = page.getByLabel('Freezers: own list');
  expect(await list.isVisible()).toBe(false);
  await page
    .getByRole('group', { name: 'Freezers' })
    .getByRole('radio', { name: 'Its own list' })
    .check({ force: true });
  expect(await list.isVisible()).toBe(true);
  expect(await page.getByLabel('Approvers: own list').isVisible()).toBe(false);
});

test('a new key and the secret of a webhook have a button that copies them', async () => {
  const options = { permissions: ['clipboard-read', 'clipboard-write'], ...phone };
  const page = await adasPage('/owners/acme/settings/keys', options);
  await page.getByText('New key', { exact: true }).click();
  await page.fill('[name=key_name]', 'CI');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.locator('pre').textContent())!;
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
  await expectNoScroll(page);
  await expectAccessible(page);
  await screenshot(page, 'new-key');
  expect(page.problems).toEqual([]);
  // Without scripts the text stands there, without a button that would do nothing.
  const plain = await adasPage('/owners/acme/settings/webhooks', { javaScriptEnabled: false });
  await plain.getByText('New webhook', { exact: true }).click();
  await plain.getByText('Your own service', { exact: true }).click();
  await plain.locator('#url').fill('http://127.0.0.1:1025/hook');
  await plain.getByRole('button', { name: 'Create webhook' }).click();
  expect(await plain.locator('pre').textContent()).toMatch(/^whsec_/);
  expect(await plain.getByRole('button', { name: 'Copy' }).count()).toBe(0);
});

test.each([
  // The freeze ends at 20:00 in New York, which is the next day in UTC.
  ['America/New_York', 'Thu 5 Mar, 20:00', null],
  ['America/Toronto', 'Thu 5 Mar, 20:00', null],
  ['America/Los_Angeles', 'Thu 5 Mar, 17:00', '(20:00 New York)'],
  ['Asia/Tokyo', 'Fri 6 Mar, 10:00', '(Thu 5 Mar, 20:00 New York)'],
])('on the very first page, in %s, the end is %s, beside it %s', async (timezoneId, own, beside) => {
  const page = await openPage(browser, { timezoneId });
  await page.goto(`${acme.app.url}/repos/acme/api/freezes/${ids.noon}`);
  await page.locator('time', { hasText: own }).first().waitFor();
  const text = await page.evaluate<string>(
    `document.querySelector('time[datetime="2026-03-06T01:00:00.000Z"]').parentElement.innerText`,
  );
  if (beside === null) expect(text).not.toContain('New York');
  else expect(text).toContain(beside);
});

test.each(['/owners/acme/freeze', '/owners/acme/plans/new'])(
  'the templates stand apart from the form that they fill in: %s',
  async (path) => {
    for (const screen of [phone, { viewport: { width: 1280, height: 900 } }]) {
      const page = await adasPage(path, screen);
      const templates = (await page.getByRole('navigation', { name: 'Templates' }).boundingBox())!;
      const first = (await page.getByText('Blocks', { exact: true }).boundingBox())!;
      expect(first.y - (templates.y + templates.height)).toBeGreaterThanOrEqual(16);
      await page.context().close();
    }
  },
);
