import { beforeAll, expect, test } from 'vitest';
import { queuedIn } from '../support/queued.ts';
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

beforeAll(async () => {
  const repository = await acme.repository('web', [
    { title: 'New checkout', labels: ['risky', 'payments'], files: ['src/checkout.ts', 'src/cart.ts'] },
    { title: 'Fix a typo', labels: ['docs'], files: ['README.md'] },
  ]);
  await acme.freeze(repository, {
    reason: 'Quarter end: the books are closed.\nAsk #finance if in doubt.',
    end: '2026-04-01T09:00:00',
    timezone: 'Europe/Paris',
    matching_conditions: ['base=main', { or: ['label=risky', 'files~=^db/migrations/'] }],
    exclude_conditions: ['label=hotfix'],
  });
  await acme.freeze(repository, { reason: 'Incident 4711', matching_conditions: ['label=payments'] });
  await acme.repository('vault', [{ title: 'Rotate keys' }], { private: true, roles: { bob: 'read' } });
});

const sizes = { desktop: {}, phone } as const;
test.each(
  (['light', 'dark'] as const).flatMap((scheme) =>
    (['desktop', 'phone'] as const).flatMap((size) =>
      ([1, 2] as const).map((number) => [number === 1 ? 'blocked' : 'free', scheme, size, number] as const),
    ),
  ),
)('%s, %s, %s', async (verdict, colorScheme, size, number) => {
  const page = await openPage(browser, { ...sizes[size], colorScheme });
  await page.goto(`${acme.app.url}/repos/acme/web/pulls/${number}`);
  await screenshot(page, `${verdict}-${colorScheme}-${size}`);
  expect((await page.textContent('.badge'))?.toLowerCase()).toBe(verdict);
  await expectNoScroll(page);
  await expectAccessible(page);
  expect(page.problems).toEqual([]);
  await page.context().close();
});

const turned = '\u202Edetrevni';
const longBranch = `feature/${'x'.repeat(248)}`;

test.each(['light', 'dark'] as const)(
  'long and turned texts and fifty freezes on a phone in %s',
  async (colorScheme) => {
    const name = `long-${colorScheme}`;
    const labels = [`${turned} label`, 'l'.repeat(50)];
    const repository = await acme.repository(name, [
      {
        title: `${turned} ${'Title'.repeat(45)}`,
        head: longBranch,
        labels,
        files: [`src/${'y'.repeat(300)}.ts`],
      },
    ]);
    await acme.freeze(repository, {
      reason: `${turned} ${'z'.repeat(9000)}`,
      matching_conditions: [`head=${longBranch}`, `label=${turned} label`, 'files~=^src/'],
      exclude_conditions: [`label=${'m'.repeat(200)}`],
    });
    for (let count = 1; count < 50; count++)
      await acme.call('POST', `/v1/repos/${repository}/scheduled_freeze`, {
        as: acme.admin,
        body: { reason: `Freeze ${count}`, start: null, timezone: 'America/Argentina/ComodRivadavia' },
      });
    await acme.quiet();
    const page = await openPage(browser, { ...phone, colorScheme });
    await page.goto(`${acme.app.url}/repos/${repository}/pulls/1`);
    await screenshot(page, `long-${colorScheme}`);
    expect(await page.textContent('main')).toContain(
      '50 freezes hold this pull request, 50 of them without an end.',
    );
    await expectNoScroll(page);
    expect(await page.evaluate(readsLeftToRight('from this pull request.'))).toBe(true);
    await expectAccessible(page);
    expect(page.problems).toEqual([]);
    await page.context().close();
  },
);

/** Whether the letters of a text in the page follow each other from left to right. */
const readsLeftToRight = (text: string): string => `(() => {
  const text = ${JSON.stringify(text)};
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode.data.indexOf(text);
    if (at < 0) continue;
    const left = (index) => {
      const range = document.createRange();
      range.setStart(walker.currentNode, at + index);
      range.setEnd(walker.currentNode, at + index + 1);
      return range.getBoundingClientRect().left;
    };
    return left(0) < left(1);
  }
  throw new Error('The page has no such text.');
})()`;

test('times are shown in the zone of the browser, also on the first page', async () => {
  const page = await openPage(browser);
  await page.goto(`${acme.app.url}/repos/acme/web/pulls/1`);
  const end = page.locator('time[datetime="2026-04-01T07:00:00.000Z"]').first();
  expect(await end.textContent()).toBe('Wed 1 Apr, 03:00');
  expect(await end.locator('xpath=following-sibling::*[1]').textContent()).toBe(' (09:00 Paris)');
  await page.reload();
  expect(await end.textContent()).toBe('Wed 1 Apr, 03:00');
  await page.context().close();
  // Where the freeze's own clock is the same, it does not stand beside it.
  const inParis = await openPage(browser, { timezoneId: 'Europe/Paris' });
  await inParis.goto(`${acme.app.url}/repos/acme/web/pulls/1`);
  const there = inParis.locator('time[datetime="2026-04-01T07:00:00.000Z"]').first();
  expect(await there.textContent()).toBe('Wed 1 Apr, 09:00');
  expect(await there.locator('xpath=following-sibling::*[1]').textContent()).toBe(' ');
  await inParis.context().close();
});

test('a private page: to GitHub, authorize, back to the page, and out again', async () => {
  acme.github.signInToGitHub('bob');
  const page = await openPage(browser, phone);
  const url = `${acme.app.url}/repos/acme/vault/pulls/1`;
  await page.goto(url);
  await page.getByRole('button', { name: 'Authorize Holdfast' }).click();
  await page.waitForURL(url);
  expect(await page.textContent('h1')).toBe('Rotate keys');
  await expectAccessible(page);
  await screenshot(page, 'signed-in');
  await page.getByRole('button', { name: 'Sign out' }).click();
  expect(await page.textContent('h1')).toBe('You are signed out');
  await expectAccessible(page);
  expect(page.problems).toEqual([]);
  acme.github.signInToGitHub('ada');
  // Whoever else is signed in at GitHub on this device.
  await page.goto(url);
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await page.textContent('h1')).toBe('You did not authorize Holdfast');
  await screenshot(page, 'denied');
  await page.context().close();
});

test('what is not there', async () => {
  acme.github.signInToGitHub('bob');
  const page = await openPage(browser, { colorScheme: 'dark' });
  await page.goto(`${acme.app.url}/repos/acme/web/pulls/99`);
  expect(await page.textContent('h1')).toBe('Page not found');
  await expectAccessible(page);
  await screenshot(page, 'absent');
  await page.context().close();
});

test('a merge group, at a desk and on a phone', async () => {
  const repository = await queuedIn(acme, 'queued', [{}, { labels: ['risky'] }]);
  const end = new Date(acme.clock.now() + 10 * 60_000).toISOString().slice(0, 19);
  await acme.freeze(repository, { reason: 'Release 4.2', end, matching_conditions: ['label=risky'] });
  const group = acme.github.mergeGroups(repository).find(({ pullRequests }) => pullRequests.at(-1) === 2)!;
  for (const [colorScheme, size] of [
    ['light', 'desktop'],
    ['dark', 'phone'],
  ] as const) {
    const page = await openPage(browser, { ...sizes[size], colorScheme });
    await page.goto(`${acme.app.url}/repos/${repository}/merge-groups/${group.headSha}`);
    await screenshot(page, `group-${colorScheme}-${size}`);
    expect(await page.textContent('.badge')).toBe('Blocked');
    await expectNoScroll(page);
    await expectAccessible(page);
    expect(page.problems).toEqual([]);
    await page.context().close();
  }
});
