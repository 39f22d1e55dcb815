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
let web: string;

beforeAll(async () => {
  web = await acme.repository('web', [{ labels: ['risky'] }, { labels: ['risky'] }, {}], {
    protect: {},
  });
  await acme.freeze(web, {
    reason: 'Release 4.2',
    end: '2026-03-03T18:00:00',
    timezone: 'Europe/Paris',
    matching_conditions: [
      'label=risky',
      { or: ['base=main', { and: ['scope=payments', { not: 'author=dependabot[bot]' }] }] },
    ],
    exclude_conditions: ['label=hotfix'],
  });
  await acme.freeze(web, { reason: 'Tax office audits us', timezone: 'America/New_York' });
  await acme.freeze(web, {
    reason: 'Easter holidays',
    start: '2026-03-05T00:00:00',
    end: '2026-03-09T00:00:00',
  });
  const wrong = await acme.freeze(web, { reason: 'Made by mistake', end: '2026-03-20T00:00:00' });
  await acme.freeze(web, { reason: 'Database migration', end: '2026-03-01T15:00:00' });
  await acme.advanceTo('2026-03-02T11:30:00Z');
  await acme.remove(web, wrong.id);
});

/** A page of somebody who is signed in as the repository's admin. */
const adasPage = (options: Parameters<typeof openPage>[1]) =>
  signedInPage(browser, acme, 'ada', '/repos/acme/web', options);

test.each(['light', 'dark'] as const)('the page of a repository in %s', async (colorScheme) => {
  const page = await adasPage({ colorScheme });
  await page.goto(`${acme.app.url}/repos/acme/web`);
  expect(await page.textContent('#enforcement')).toContain('Freezes are not enforced');
  await screenshot(page, `repository-${colorScheme}`);
  await expectAccessible(page);
  for (const fold of await page.locator('.fold > summary').all()) await fold.click();
  await expectAccessible(page);
  expect(page.problems).toEqual([]);
});

test.each(['light', 'dark'] as const)('on a phone in %s nothing scrolls to the side', async (colorScheme) => {
  const page = await adasPage({ ...phone, colorScheme });
  await page.goto(`${acme.app.url}/repos/acme/web`);
  await screenshot(page, `repository-phone-${colorScheme}`);
  // What is frozen, until when, whether that is real, and what to do: without scrolling.
  for (const name of ['Frozen', 'without an end', 'Not enforced', 'Freeze now', 'Easter holidays']) {
    const box = (await page.getByText(name).first().boundingBox())!;
    expect(box.y + box.height, name).toBeLessThan(740);
  }
  await expectAccessible(page);
  await expectNoScroll(page);
  expect(page.problems).toEqual([]);
});

test('the zone of the browser is shown, also on the first page', async () => {
  const page = await openPage(browser, { timezoneId: 'Asia/Tokyo' });
  await page.goto(`${acme.app.url}/repos/acme/web`);
  expect(await page.textContent('#freezes')).toContain('Wed 4 Mar, 02:00');
  await page.reload();
  expect(await page.textContent('#freezes')).toContain('Wed 4 Mar, 02:00');
  expect(page.problems).toEqual([]);
});

test('the zone that the reader chose in the header stays, on a phone', async () => {
  const page = await openPage(browser, { ...phone, timezoneId: 'Asia/Tokyo' });
  await page.goto(`${acme.app.url}/acme/web`);
  await page.locator('.zone summary').click();
  await page.fill('#own-zone', 'Berlin');
  await expectNoScroll(page);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Change time zone' }).click();
  await page.locator('.zone strong', { hasText: 'Berlin' }).waitFor();
  await page.reload();
  expect(await page.textContent('.zone strong')).toBe('Berlin');
  expect(await page.textContent('#freezes')).toContain('Tue 3 Mar, 18:00');
  expect(page.problems).toEqual([]);
});

test('without scripts everything is there, and the calendar of the repository has its past', async () => {
  const page = await openPage(browser, { javaScriptEnabled: false });
  await page.goto(`${acme.app.url}/repos/acme/web`);
  await page.getByText('Past freezes').click();
  expect(await page.locator('#past-freezes').textContent()).toContain('Made by mistake');
  await page.getByRole('link', { name: 'Calendar' }).last().click();
  expect(new URL(page.url()).search).toBe('?repository=web');
  expect(await page.textContent('#list')).toContain('Made by mistake');
});

test('with eight plans the page is under two screens', async () => {
  const plenty = await acme.repository('plenty', [{}, {}]);
  for (let count = 1; count <= 8; count++) {
    const body = {
      name: `Plan ${count}`,
      reason: `Weekend of team ${count}`,
      repositories: { include: ['plenty'] },
      start: `2026-03-0${count}T09:00:00`,
      end: `2026-03-1${count}T09:00:00`,
      timezone: 'Europe/Berlin',
      matching_conditions: [`label=team-${count}`, { or: ['base=main', 'base=next'] }],
    };
    const answer = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
    expect(answer.status, answer.text).toBe(201);
  }
  await acme.quiet();
  const page = await adasPage({ viewport: { width: 1200, height: 900 } });
  await page.goto(`${acme.app.url}/repos/${plenty}`);
  await screenshot(page, 'repository-plenty');
  expect(await page.locator('.freezes tr').count()).toBe(8);
  expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThan(1800);
});

test('texts with HTML in them run nothing', async () => {
  const vault = await acme.repository('vault');
  const hostile = '</title></svg><img src=x onerror="document.title=1"><script>document.title=2</script>';
  await acme.freeze(vault, { reason: hostile });
  const page = await openPage(browser);
  await page.goto(`${acme.app.url}/repos/acme/vault`);
  expect(await page.title()).toBe('Frozen · acme/vault · Holdfast');
  expect(await page.textContent('.freezes th a')).toBe(hostile);
  expect(await page.locator('img').count()).toBe(0);
  expect(page.problems).toEqual([]);
});
