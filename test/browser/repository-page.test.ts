import { beforeAll, expect, test } from 'vitest';
import {
  acmeWithUrl,
  browserForAll,
  expectAccessible,
  expectNoScroll,
  openPage,
  phone,
  screenshot,
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
async function adasPage(
  options: Parameters<typeof openPage>[1],
): Promise<Awaited<ReturnType<typeof openPage>>> {
  const page = await openPage(browser, options);
  acme.github.signInToGitHub('ada');
  await page.goto(`${acme.app.url}/auth/sign-in?to=/repos/acme/web`);
  const authorize = page.getByRole('button', { name: 'Authorize Holdfast' });
  if (await authorize.isVisible()) await authorize.click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
}

test.each(['light', 'dark'] as const)('the page of a repository in %s', async (colorScheme) => {
  for (const zoom of ['week', 'month', 'quarter']) {
    const page = await adasPage({ colorScheme });
    await page.goto(`${acme.app.url}/repos/acme/web?zoom=${zoom}`);
    expect(await page.textContent('#enforcement')).toContain('Freezes are not enforced');
    await screenshot(page, `repository-${zoom}-${colorScheme}`);
    await expectAccessible(page);
    expect(page.problems).toEqual([]);
  }
});

test.each(['light', 'dark'] as const)(
  'on a phone in %s only the drawing scrolls to the side',
  async (colorScheme) => {
    const page = await adasPage({ ...phone, colorScheme });
    await page.goto(`${acme.app.url}/repos/acme/web?zoom=week`);
    await screenshot(page, `repository-phone-${colorScheme}`);
    // What is frozen, until when, whether that is real, and what to do: without scrolling.
    for (const name of ['Frozen', 'without an end', 'Not enforced', 'Freeze now', 'Easter holidays']) {
      const box = (await page.getByText(name).first().boundingBox())!;
      expect(box.y + box.height, name).toBeLessThan(740);
    }
    await expectAccessible(page);
    const widths = await page.evaluate<[number, number]>(
      '[document.documentElement.scrollWidth, document.querySelector(".timeline").scrollWidth]',
    );
    expect(widths[0]).toBe(375);
    expect(widths[1]).toBeGreaterThanOrEqual(900);
    expect(page.problems).toEqual([]);
  },
);

test('the zone of the browser is shown, also in the days of the timeline of later pages', async () => {
  const page = await openPage(browser, { timezoneId: 'Asia/Tokyo' });
  await page.goto(`${acme.app.url}/repos/acme/web`);
  expect(await page.textContent('#ongoing-freezes')).toContain('Sun 1 Mar, 18:00');
  await page.reload();
  expect(await page.textContent('#ongoing-freezes')).toContain('Sun 1 Mar, 18:00');
  expect(await page.textContent('#timeline')).toContain('Days in Asia/Tokyo.');
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
  expect(await page.textContent('#ongoing-freezes')).toContain('Sun 1 Mar, 10:00');
  expect(page.problems).toEqual([]);
});

test('without scripts everything is there, and a bar leads to its row', async () => {
  const page = await openPage(browser, { javaScriptEnabled: false });
  await page.goto(`${acme.app.url}/repos/acme/web`);
  await page
    .getByRole('link', { name: /^Made by mistake/ })
    .locator('rect')
    .click();
  const id = new URL(page.url()).hash;
  expect(id).toMatch(/^#freeze-/);
  expect(await page.textContent(`${id} h3`)).toBe('Made by mistake');
  await page.getByRole('link', { name: 'Week', exact: true }).click();
  expect(await page.textContent('#timeline h3')).toBe('2 March 2026 to 8 March 2026');
});

test('overlapping bars lie below one another and are reached by the keyboard', async () => {
  const page = await openPage(browser);
  await page.goto(`${acme.app.url}/repos/acme/web`);
  const boxOf = async (name: RegExp) =>
    (await page.getByRole('link', { name }).locator('rect').boundingBox())!;
  const [audit, release] = [await boxOf(/^Tax office/), await boxOf(/^Release 4.2/)];
  expect(audit.x).toBeLessThan(release.x + release.width);
  expect(Math.abs(audit.y - release.y)).toBeGreaterThanOrEqual(audit.height);
  await page.focus('.timeline');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toMatch(/^Tax office/);
});

test('texts with HTML in them run nothing', async () => {
  const vault = await acme.repository('vault');
  const hostile = '</title></svg><img src=x onerror="document.title=1"><script>document.title=2</script>';
  await acme.freeze(vault, { reason: hostile });
  const page = await openPage(browser);
  await page.goto(`${acme.app.url}/repos/acme/vault`);
  expect(await page.title()).toBe('acme/vault · Holdfast');
  expect(await page.textContent('.freeze h3')).toBe(hostile);
  expect(await page.locator('img').count()).toBe(0);
  expect(page.problems).toEqual([]);
});

test('on a phone the timeline begins with the days around now', async () => {
  const page = await openPage(browser, phone);
  await page.goto(`${acme.app.url}/repos/acme/web?zoom=quarter`);
  const { x } = (await page.locator('.now line').boundingBox())!;
  expect(x).toBeGreaterThan(0);
  expect(x).toBeLessThan(375);
});
