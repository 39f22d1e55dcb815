import { afterEach, expect, test } from 'vitest';
import { type FirstRun, startFirstRun } from '../support/first-run.ts';
import { browserForAll, expectAccessible, expectNoScroll, openPage, phone, screenshot } from './browser.ts';

let run: FirstRun;
const browser = browserForAll();
afterEach(() => run.close());

test.each([
  ['light', {}],
  ['dark', phone],
] as const)('setting up in a browser, %s', async (colorScheme, size) => {
  run = await startFirstRun();
  const page = await openPage(browser, { ...size, colorScheme });
  const shoot = async (name: string) => {
    await expectAccessible(page);
    await expectNoScroll(page);
    await screenshot(page, `${name}-${colorScheme}`);
  };
  await page.goto(run.app.url);
  expect(page.url()).toBe(`${run.app.url}/setup`);
  await page.getByLabel('Code from the log').fill(run.code());
  await page.getByRole('button').click();
  await shoot('setup');

  const box = page.getByLabel('Let people use commands in comments');
  expect(await box.isChecked()).toBe(false);
  await box.check();
  await page.getByRole('button', { name: 'Continue' }).click();
  expect(await page.getByRole('alert').textContent()).toContain('organization name');
  await shoot('setup-problem');
  expect(page.problems.splice(0)).toEqual([expect.stringContaining('422')]);

  expect(await box.isChecked()).toBe(true);
  await page.getByLabel('Organization name on').fill('acme');
  await page.getByLabel('GitHub App name').fill('Holdfast <b>acme</b>');
  await page.getByRole('button', { name: 'Continue' }).click();
  await shoot('setup-review');
  await page.getByRole('button', { name: 'Continue to' }).click();

  expect(page.url()).toContain(`${run.github.url}/organizations/acme/settings/apps/new?state=`);
  await page.getByRole('button', { name: 'Create GitHub App' }).click();
  expect(page.url()).toContain(`${run.app.url}/setup/callback?code=`);
  expect(await page.textContent('h1')).toBe('Holdfast <b>acme</b> is connected');
  expect(run.github.app.events).toContain('issue_comment');
  await shoot('setup-done');

  await page.getByRole('button', { name: 'Continue to' }).click();
  await page.getByRole('button', { name: 'Create GitHub App' }).click();
  await page.getByText('Holdfast lock acme is connected.').waitFor();
  const install = (name: string) => page.getByRole('link', { name: `Install ${name}`, exact: true });
  await shoot('setup-second-app');
  await page.reload();
  for (const name of ['Holdfast <b>acme</b>', 'Holdfast lock acme'])
    expect(await install(name).isVisible()).toBe(true);

  // After installing, GitHub leads back, to sign in and to go on.
  run.github.addRepository('acme/web');
  run.github.signInToGitHub('ada');
  await install('Holdfast <b>acme</b>').click();
  await page.getByRole('button', { name: 'Install on acme' }).click();
  await page.getByRole('button', { name: 'Authorize' }).click();
  await run.quiet();
  await page.reload();
  expect(await page.textContent('h1')).toBe('Holdfast is installed on acme');
  await shoot('setup-first-installed');
  await install('Holdfast lock acme').click();
  await page.getByRole('button', { name: 'Install on acme' }).click();
  await page.getByText('It is installed on acme.').waitFor();
  expect(await install('Holdfast lock acme').count()).toBe(0);
  await shoot('setup-both-installed');
  await page.getByRole('link', { name: 'Go on with the first steps' }).click();
  expect(new URL(page.url()).pathname).toBe('/owners/acme/first-steps');
  expect(page.problems).toEqual([]);
  expect((await fetch(`${run.app.url}/setup`)).status).toBe(404);

  await page.goto(`${run.app.url}/owners/acme/settings/instant-hold`);
  await page.getByText('Forget…').click();
  await shoot('settings-second-app');
  await page.getByRole('button', { name: 'Forget Holdfast lock acme' }).click();
  await page.getByRole('button', { name: 'Create the second App' }).click();
  await shoot('settings-create-second-app');
  await page.getByRole('button', { name: 'Continue to' }).click();
  await page.getByLabel('GitHub App name').fill('Another lock');
  await page.getByRole('button', { name: 'Create GitHub App' }).click();
  expect(page.url()).toBe(`${run.app.url}/owners/acme/settings/instant-hold?said=saved`);
  await shoot('settings-another-second-app');
  expect(page.problems).toEqual([]);
});

test.each(['light', 'dark'] as const)('the code is asked for in %s', async (colorScheme) => {
  run = await startFirstRun();
  const page = await openPage(browser, { ...phone, colorScheme });
  await page.goto(`${run.app.url}/setup`);
  await expectAccessible(page);
  await screenshot(page, `setup-code-${colorScheme}`);
  await page.getByLabel('Code from the log').fill(run.code().toLowerCase());
  await page.getByRole('button').click();
  expect(await page.getByLabel('GitHub App name').inputValue()).toBe('Holdfast');
  expect(page.problems).toEqual([]);
});

test.each(['light', 'dark'] as const)(
  'it warns about an address that GitHub cannot reach in %s',
  async (colorScheme) => {
    run = await startFirstRun({ githubApiUrl: 'https://api.github.com' });
    const page = await openPage(browser, { ...phone, colorScheme });
    await page.goto(`${run.app.url}/setup`);
    await page.getByLabel('Code from the log').fill(run.code());
    await page.getByRole('button').click();
    expect(await page.locator('.notice').textContent()).toContain('github.com cannot reach http://127.0.0.1');
    await expectAccessible(page);
    await screenshot(page, `setup-warning-${colorScheme}`);
    expect(page.problems).toEqual([]);
  },
);
