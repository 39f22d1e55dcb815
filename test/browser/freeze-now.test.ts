import { beforeAll, expect, test } from 'vitest';
import type { openPage } from './browser.ts';
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

// An incident, from the first page to the last: with the mouse, on a phone, by the keyboard and without scripts.

const acme = acmeWithUrl();
const browser = browserForAll();
const names = ['api', 'billing', 'docs', 'infra', 'mobile', 'web'];

beforeAll(async () => {
  for (const name of names) await acme.repository(name, [{}, {}], name === 'infra' ? { protect: {} } : {});
  await acme.repository('vault', [{}], { private: true });
  await acme.freeze('acme/docs', {
    reason: 'Easter',
    start: '2026-03-05T00:00:00',
    end: '2026-03-09T00:00:00',
  });
});

const adasPage = (to: string, options?: Parameters<typeof openPage>[1]) =>
  signedInPage(browser, acme, 'ada', to, options);

const looks = (['light', 'dark'] as const).flatMap((colorScheme) => [
  [`${colorScheme} on a desktop`, { colorScheme }] as const,
  [`${colorScheme} on a phone`, { colorScheme, ...phone }] as const,
]);

test('a preview of which GitHub has said little yet fills itself in', async () => {
  const slow = acme.github.faults.add({
    match: { path: /\/repos\/acme\/web\// },
    kind: 'delay',
    ms: 600_000,
  });
  const page = await adasPage('/owners/acme/freeze', phone);
  await page.fill('[name=reason]', 'INC-4711');
  await page.getByText('repositories so far').waitFor();
  await screenshot(page, 'preview-while-it-looks');
  await expectNoScroll(page);
  await expectAccessible(page);
  slow.remove();
  await page.getByText('repositories so far').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Freeze 7 repositories' }).waitFor();
  expect(page.problems).toEqual([]);
  await page.context().close();
});

test.each(looks)('every page in %s', async (name, options) => {
  const page = await adasPage('/', options);
  const look = async (path: string, called: string) => {
    if (path) await page.goto(acme.app.url + path);
    await screenshot(page, `${called} ${name}`.replaceAll(' ', '-'));
    await expectNoScroll(page);
    await expectAccessible(page);
  };
  await look('', 'home');
  await look('/repos/acme', 'owner');
  await look('/owners/acme/freeze?repository=web&repository=api', 'freeze');
  await look('/owners/acme/plans/new', 'plan-form');
  await page.fill('[name=name]', 'Year end');
  await page.fill('[name=reason]', 'Books are closed');
  await page.fill('[name=start]', '2026-12-24T18:00');
  await page.fill('[name=end]', '2027-01-02T08:00');
  await page.fill('[name=zone]', 'Europe/Paris');
  await page.getByRole('radio', { name: 'Repeats' }).check();
  await expectNoScroll(page);
  await page.getByRole('radio', { name: 'months' }).check();
  await page.getByText('On its weekday').waitFor();
  await look('', 'plan-form-repeats');
  await page.getByRole('radio', { name: 'years' }).check();
  await page.locator('.sentence', { hasText: 'every year' }).waitFor();
  await look('', 'plan-preview');
  await page.getByRole('button', { name: 'Create plan' }).click();
  await page.getByRole('link', { name: 'Edit' }).waitFor();
  await look('', 'plan');
  await page.getByText('Delete plan…', { exact: true }).click();
  await look('', 'plan-delete');
  await page.fill('[name=delete_reason]', 'Only looked at');
  await page.getByRole('button', { name: 'Delete plan' }).click();
  await page.getByText('The plan has ended.').waitFor();
  expect(page.problems).toEqual([]);
});

test('an incident on a phone: three taps and a reason, and it moves by itself', async () => {
  const page = await adasPage('/repos/acme', { ...phone, hasTouch: true, colorScheme: 'dark' });
  let taps = 0;
  const tap = async (place: ReturnType<typeof page.getByRole>) => {
    taps += 1;
    await place.tap();
  };
  await tap(page.getByRole('button', { name: 'Freeze now' }));
  await tap(page.getByLabel('Reason', { exact: true }));
  await page.keyboard.type('INC-4711');
  await page.locator('.sentence').waitFor();
  await screenshot(page, 'freeze-preview-phone');
  await expectNoScroll(page);
  await expectAccessible(page);
  // A preview counts what GitHub answers within seconds. About the rest it asks again after a minute.
  const whole = /11 pull requests\s+in\s+6 repositories\s+would be\s+blocked\.\s+2 would not/;
  const isWhole = async () => whole.test((await page.textContent('.preview'))!);
  for (let minute = 0; minute < 20 && !(await isWhole()); minute += 1) {
    await acme.advanceTo(new Date(acme.clock.now() + 61_000));
    const answered = page.waitForResponse((response) => response.url().includes('live='));
    await page.getByRole('radio', { name: minute % 2 ? '2 hours' : '1 hour' }).check({ force: true });
    await answered;
  }
  expect(await page.textContent('.preview')).toMatch(whole);
  await tap(page.getByRole('button', { name: 'Freeze 7 repositories' }));
  expect(taps).toBe(3);
  await page.locator('.progress-line strong', { hasText: /^\s*(11 of )?13 pull requests/ }).waitFor();
  // So does the page of the progress, which asks again after a minute.
  const isTold = async () => /Not enforced:\s+infra/.test((await page.textContent('main'))!);
  for (let minute = 0; minute < 5 && !(await isTold()); minute++) {
    await acme.advanceTo(new Date(acme.clock.now() + 61_000));
    await page.reload();
  }
  expect(await isTold()).toBe(true);
  await screenshot(page, 'progress-phone');
  await expectAccessible(page);
  for (const name of names) expect(acme.frozen(`acme/${name}`)).toEqual([1, 2]);

  await page.getByRole('link', { name: 'All repositories' }).click();
  await screenshot(page, 'owner-frozen-phone');
  await expectNoScroll(page);
  await page.getByRole('button', { name: 'Unfreeze' }).click();
  await screenshot(page, 'unfreeze-phone');
  await expectAccessible(page);
  await expectNoScroll(page);
  await page.fill('[name=delete_reason]', 'Solved');
  await page.getByRole('button', { name: 'End 1 freeze in 7 repositories' }).click();
  await page.getByText('can merge within seconds').waitFor();
  await acme.quiet();
  for (const name of names) expect(acme.frozen(`acme/${name}`)).toEqual([]);
  expect(page.problems).toEqual([]);
});

test('every second Friday except Christmas: six fields, and no rule', async () => {
  const page = await adasPage('/owners/acme/plans/new', { javaScriptEnabled: false });
  const field = (name: string) => page.getByLabel(name, { exact: true });
  const steps = [
    () => field('Reason').fill('Release'),
    () => field('Start').fill('2026-11-27T18:00'),
    () => field('End').fill('2026-11-30T08:00'),
    () => page.getByRole('radio', { name: 'Repeats' }).check(),
    () => field('Every').fill('2'),
    () => field('Skipped dates').fill('2026-12-25'),
  ];
  expect(await field('Every').isVisible()).toBe(false);
  for (const step of steps) await step();
  await screenshot(page, 'plan-every-second-friday');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('Repeats: Every 2 weeks, except on 2026-12-25').waitFor();
  await loaded(page);
  const times = await page.locator('.occurrences tbody tr td:first-child').allTextContents();
  expect(times.slice(0, 3).map((time) => time.trim().split(',')[0])).toEqual([
    'Fri 27 Nov',
    'Fri 11 Dec',
    'Fri 8 Jan 2027',
  ]);
});

test('without scripts, by the keyboard alone', async () => {
  const page = await adasPage('/repos/acme', { javaScriptEnabled: false });
  await page.getByRole('checkbox', { name: 'api' }).focus();
  await page.keyboard.press('Space');
  await page.getByRole('checkbox', { name: 'web' }).focus();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Freeze now' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Reason', { exact: true }).focus();
  await page.keyboard.type('By hand');
  await page.getByRole('radio', { name: '1 hour' }).focus();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Preview' }).focus();
  await page.keyboard.press('Enter');
  // The button has the focus, where the preview is.
  await page.locator('button:focus', { hasText: 'Freeze 2 repositories' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Freezing acme|(is|are) frozen/ }).waitFor();
  await acme.quiet();
  // The page loads itself again.
  await page.locator('main', { hasText: /4 pull requests\s+blocked on GitHub/ }).waitFor();
  expect(acme.frozen('acme/api')).toEqual([1, 2]);
  await page.goto(`${acme.app.url}/owners/acme/unfreeze`);
  await page.getByLabel('Reason', { exact: true }).focus();
  await page.keyboard.type('Done');
  await page.getByRole('button', { name: 'End 1 freeze in 2 repositories' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('can merge within seconds').waitFor();
});

test.each(['freeze', 'plans/new'])('the form of %s begins with the zone of the browser', async (form) => {
  const page = await adasPage(`/owners/acme/${form}`, { timezoneId: 'Asia/Tokyo' });
  expect(await page.inputValue('[name=zone]')).toBe('Asia/Tokyo');
});

test('a form of somebody who was signed out meanwhile is there again after signing in, filled in', async () => {
  const page = await adasPage('/owners/acme/freeze?repository=web');
  await page.fill('[name=reason]', 'INC-4712');
  await page.locator('label:has([name=duration][value="1h"])').click();
  const cookies = await page.context().cookies();
  await page.getByRole('button', { name: 'Freeze 1 repository' }).waitFor();
  await page.context().clearCookies({ name: cookies.find(({ name }) => name.endsWith('session'))!.name });
  await page.getByRole('button', { name: 'Freeze 1 repository' }).click();
  await page.getByRole('heading', { name: 'What you typed' }).waitFor();
  await page.getByRole('link', { name: 'Sign in with GitHub' }).last().click();
  await page.getByText('The form has what you typed.').waitFor();
  expect(await page.inputValue('[name=reason]')).toBe('INC-4712');
  expect(await page.isChecked('[name=duration][value="1h"]')).toBe(true);
  expect(await page.isChecked('[name=repository][value=web]')).toBe(true);
  await page.reload();
  expect(await page.inputValue('[name=reason]')).toBe('');
});

test('Unfreeze: nothing is ticked until one says what, the button counts, and Undo takes it back', async () => {
  for (const name of ['api', 'web']) await acme.freeze(`acme/${name}`, { reason: `Release of ${name}` });
  await acme.freeze('acme/api', { reason: `${'Unbroken'.repeat(12)}`, holds: ['deployments'] });
  const page = await adasPage('/owners/acme/unfreeze', { viewport: { width: 375, height: 800 } });
  const button = page.locator('button[data-ends]');
  expect(await page.locator('[name=ongoing]:checked').count()).toBe(0);
  expect(await button.textContent()).toContain('End the selected freezes');
  await page.getByLabel('Release of api').check();
  expect(await button.textContent()).toBe('End 1 freeze in 1 repository');
  await page.getByLabel('Select all freezes of merges').check();
  expect(await button.textContent()).toBe('End 2 freezes in 2 repositories');
  expect(await page.locator('[name=ongoing]:checked').count()).toBe(2);
  await expectNoScroll(page);
  await expectAccessible(page);
  await screenshot(page, 'unfreeze-chosen-phone');
  await page.fill('[name=delete_reason]', 'Over');
  await button.click();
  await page.getByText('can merge within seconds').waitFor();
  await acme.quiet();
  expect(acme.frozen('acme/api')).toEqual([]);
  await screenshot(page, 'undo-phone');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('The freezes are as they were').waitFor();
  await acme.quiet();
  expect(acme.frozen('acme/api')).toEqual([1, 2]);
  const left = await acme.app.deps.db.freeze.findMany({
    where: { deletedAt: null },
    include: { repository: true },
  });
  for (const { id, repository } of left) await acme.remove(`acme/${repository.name}`, id);
  expect(page.problems).toEqual([]);
});

test.each(['/owners/acme/freeze', '/owners/acme/plans/new'])(
  '%s: whoever unticks one repository of all does not freeze it, and no box moves below the finger',
  async (path) => {
    const page = await adasPage(path, phone);
    const chosen = page.getByRole('radio', { name: 'Selected repositories' });
    const boxes = page.locator('.ticks input');
    expect(await chosen.isChecked()).toBe(false);
    await page.locator('.chooser > summary').click();
    await page.getByLabel('Select all that are listed').check();
    expect(await chosen.isChecked()).toBe(true);
    const order = () =>
      boxes.evaluateAll((all) => all.map((box) => (box as unknown as { value: string }).value));
    const before = await order();
    const answered = page.waitForResponse(/[?&]live=/);
    await page.locator('.ticks input[value=billing]').uncheck();
    await answered;
    await page
      .getByText(/^Freeze 6 repositories$|6 repositories/)
      .first()
      .waitFor();
    expect(await order()).toEqual(before);
    expect(await page.locator('.ticks input:checked').count()).toBe(before.length - 1);
    expect(await page.locator('.ticks input[value=billing]').isChecked()).toBe(false);
    await page.getByText(/^All \d+$/).click();
    expect(await page.locator('.chooser input:checked').count()).toBe(0);
    expect(page.problems).toEqual([]);
    await page.context().close();
  },
);

test('an answer to what was chosen before takes back no later choice', async () => {
  const page = await adasPage('/owners/acme/freeze');
  await page.getByRole('button', { name: /^Freeze \d+ repositories$/ }).waitFor();
  const held = Promise.withResolvers<undefined>();
  let asked = 0;
  await page.route(/[?&]live=/, async (route) => {
    if (++asked === 1) await held.promise;
    await route.continue().catch(() => {});
  });
  await page.locator('.chooser > summary').click();
  const first = page.waitForRequest(/[?&]live=/);
  await page.getByLabel('Select all that are listed').check();
  const isOver = Promise.race([
    page.waitForEvent('requestfinished', (request) => /[?&]live=/.test(request.url())),
    page.waitForEvent('requestfailed', (request) => /[?&]live=/.test(request.url())),
  ]);
  await first;
  // In one turn of the page: nothing is asked anew before the answer is let go.
  await page
    .locator('.ticks input[value=billing]')
    .evaluate((box) => (box as unknown as { click(): void }).click());
  held.resolve(undefined);
  await isOver;
  await page.getByRole('button', { name: 'Freeze 6 repositories' }).waitFor();
  expect(await page.locator('.ticks input[value=billing]').isChecked()).toBe(false);
  expect(page.problems).toEqual([]);
  await page.context().close();
});
