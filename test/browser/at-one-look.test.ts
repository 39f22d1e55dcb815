import { beforeAll, expect, test } from 'vitest';
import {
  acmeWithUrl,
  browserForAll,
  expectAccessible,
  expectNoScroll,
  type openPage,
  phone,
  screenshot,
  signedInPage,
} from './browser.ts';

// What one sees first, on each screen and by the keyboard.

const acme = acmeWithUrl();
const browser = browserForAll();

beforeAll(async () => {
  const roles = { bob: 'write' } as const;
  const small = { files: [{ path: 'src/pay.ts', additions: 12 }] };
  await acme.repository('web', [{ title: 'Refunds reach the card again', author: 'bob', ...small }, {}, {}], {
    roles,
  });
  await acme.repository('api', [{ title: 'Totals', author: 'bob' }], { roles });
  await acme.repository('billing', [{}], { roles, protect: {} });
  for (const name of ['docs', 'infra', 'mobile']) await acme.repository(name, [{}], { roles });
  await acme.freeze('acme/web', { reason: 'Checkout moves to another region', end: '2026-03-02T12:00:00' });
  await acme.freeze('acme/billing', { reason: 'Books are closed' });
  const nights = {
    ...{
      name: 'Nights',
      reason: 'Nobody is here at night',
      repositories: { include: ['api', 'docs', 'infra', 'mobile'] },
    },
    ...{
      timezone: 'UTC',
      start: '2026-03-01T22:00:00',
      end: '2026-03-02T06:00:00',
      recurrence: { rule: 'FREQ=DAILY' },
    },
  };
  await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body: nights });
  await acme.call('POST', '/v1/repos/acme/web/pulls/1/exemptions', {
    as: acme.github.addToken('bob'),
    body: { reason: 'INC-4711: refunds fail since this morning' },
  });
  await acme.quiet();
});

const page = (login: string, to: string, options?: Parameters<typeof openPage>[1]) =>
  signedInPage(browser, acme, login, to, options);

const screens = [375, 768, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => [width, scheme] as const),
);
const paths = ['/repos/acme', '/repos/acme/web', '/repos/acme/web/pulls/1'];

test.each(screens)(
  '%i pixels wide in %s: nothing is wider than the screen, and axe is content',
  async (width, colorScheme) => {
    const ada = await page('ada', '/', { viewport: { width, height: 800 }, colorScheme });
    for (const path of paths) {
      await ada.goto(acme.app.url + path);
      await screenshot(ada, `look-${path.replace(/\W+/g, '-')}-${width}-${colorScheme}`);
      await expectAccessible(ada);
      await expectNoScroll(ada);
    }
    expect(ada.problems).toEqual([]);
  },
);

test('on a phone four tabs stand at the bottom, and a freeze of everything is three taps away', async () => {
  const ada = await page('ada', '/repos/acme', phone);
  const tabs = ada.locator('nav.tabs > a:visible, nav.tabs > details:visible');
  expect((await tabs.allInnerTexts()).map((text) => text.trim())).toEqual([
    'Now',
    'Calendar',
    'Requests',
    'More',
  ]);
  for (const each of await tabs.all()) expect((await each.boundingBox())!.y).toBeGreaterThan(660);
  await ada.getByText('More', { exact: true }).click();
  await ada.locator('.more').getByRole('link', { name: 'Settings' }).waitFor();
  await screenshot(ada, 'look-more-375');
  await expectAccessible(ada);
  await expectNoScroll(ada);
  await ada.keyboard.press('Escape');
  await ada.getByRole('button', { name: 'Freeze now' }).click();
  await ada.fill('[name=reason]', 'INC-1');
  await ada.getByRole('button', { name: /^Freeze \d repositories$/ }).waitFor();
});

test('one tap approves from home, and one tap shows which of mine is blocked', async () => {
  const bob = await page('bob', '/', phone);
  await bob.locator('#yours').waitFor();
  await screenshot(bob, 'look-developer-375');
  const ada = await page('ada', '/', phone);
  await ada.getByRole('button', { name: 'Approve' }).click();
  await ada.getByText('Approved.').waitFor();
  await bob.goto(`${acme.app.url}/repos/acme/web/pulls/1`);
  await bob.getByText('Exempt until').first().waitFor();
  await screenshot(bob, 'look-exempt-375');
});

test.each(['month=2026-03', 'show=week&day=2026-03-12'])(
  'in the calendar of %s, a bar that is dropped on another day opens its form, and moves when that is confirmed',
  async (query) => {
    const body = { name: query, reason: query, repositories: { include: ['mobile'] }, timezone: 'UTC' };
    const friday = { start: '2026-03-13T14:00:00', end: '2026-03-13T18:00:00' };
    const weekly = { ...body, ...friday, recurrence: { rule: 'FREQ=WEEKLY' } };
    const plan = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body: weekly });
    const ada = await page('ada', `/owners/acme/calendar?${query}`);
    const bar = ada.locator('.stay', { has: ada.locator(`a[href*="${plan.body.id}"]`) }).first();
    const [top, number] = [{ sourcePosition: { x: 12, y: 8 } }, { targetPosition: { x: 60, y: 14 } }];
    await bar.dragTo(ada.locator('[data-day="2026-03-11"]'), { ...top, ...number });
    await ada.waitForURL(/occurrences\/2026-03-13T14:00:00\?days=-2$/);
    expect(await ada.getByLabel('Start').inputValue()).toBe('2026-03-11T14:00');
    expect(await ada.getByLabel('End', { exact: true }).inputValue()).toBe('2026-03-11T18:00');
    // The browser gives it the focus when it draws the page.
    await ada.locator('button:focus', { hasText: 'Move' }).waitFor();
    await ada.getByRole('button', { name: 'Move' }).click();
    await ada.waitForURL(/occurrences\/2026-03-11T14:00:00\?said=saved$/);
    expect(ada.problems).toEqual([]);
  },
);
