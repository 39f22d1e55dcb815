import { writeFileSync } from 'node:fs';
import { encode } from 'modern-gif';
import type { Browser, Page } from 'playwright-core';
import { PNG } from 'pngjs';

const size = { width: 800, height: 520 };
const shownFor = 3000;

/** The addresses of the demo. */
export type Demo = { holdfast: string; github: string };

/**
 * Takes the moving picture of the README: a freeze blocks a merge until the pull request is exempt.
 * @param path the GIF to write.
 */
export async function takeFilm(browser: Browser, { holdfast, github }: Demo, path: string): Promise<void> {
  const open = (login: string) => openAs(browser, login, { holdfast, github });
  const [bob, ada] = [await open('bob'), await open('ada')];
  const frames: Buffer[] = [];
  const take = async (page: Page, caption: string, top = 'header') => {
    await showCaption(page, `${frames.length + 1}. ${caption}`, top);
    frames.push(await page.screenshot());
  };
  const button = (page: Page, name: string | RegExp) =>
    page.getByRole('button', { name, exact: true, disabled: false });

  await bob.goto(`${github}/acme/web/pull/2`);
  await button(bob, 'Merge pull request').waitFor();
  await take(bob, 'On GitHub, bob can merge his pull request.');

  await ada.goto(`${holdfast}/repos/acme/web`);
  await ada.getByRole('link', { name: 'Freeze now' }).click();
  await ada.getByLabel('Reason', { exact: true }).fill('INC-4711: payments fail');
  await button(ada, 'Freeze 1 repository').waitFor();
  await take(ada, 'On Holdfast, ada freezes the repository.', 'h1');
  await take(ada, 'The preview shows what the freeze blocks.', '.preview');

  await button(ada, 'Freeze 1 repository').click();
  await bob.getByText('Merging is blocked').waitFor();
  await take(bob, 'GitHub blocks the merge.');

  await ada.goto(`${holdfast}/repos/acme/web/pulls/2`);
  await ada.getByText('Exempt…').click();
  await ada.getByLabel('Reason', { exact: true }).fill('This is the fix');
  await take(ada, 'This one is the fix, so ada exempts it.', 'h1');
  await button(ada, 'Exempt pull request').click();
  await button(bob, 'Merge pull request').waitFor();
  await take(bob, 'bob can merge it. All others stay blocked.');
  writeFileSync(path, await gifOf(frames));
}

/** A page of somebody who is signed in to GitHub and to Holdfast. */
async function openAs(browser: Browser, login: string, { holdfast, github }: Demo): Promise<Page> {
  const context = await browser.newContext({ viewport: size, timezoneId: 'Europe/Berlin' });
  const page = await context.newPage();
  // For small machines.
  page.setDefaultTimeout(120_000);
  await signIn(page, login, { holdfast, github });
  return page;
}

/** Signs in to the demo. */
export async function signIn(page: Page, login: string, { holdfast, github }: Demo): Promise<void> {
  await page.context().addCookies([{ name: 'sandbox_login', value: login, url: github }]);
  await page.goto(`${holdfast}/auth/sign-in?to=/`);
  const choice = page.getByRole('button', { name: new RegExp(`^${login} `) });
  const authorize = page.getByRole('button', { name: 'Authorize Holdfast' });
  const done = page.getByRole('button', { name: 'Sign out' });
  for (const next of [choice, authorize]) {
    await next.or(done).waitFor();
    if (await next.isVisible()) await next.click();
  }
  await done.waitFor();
}

/** Scrolls an element to the top of the window, and shows a caption at its bottom. */
async function showCaption(page: Page, caption: string, top: string): Promise<void> {
  await page
    .locator(top)
    .last()
    .evaluate((element) => element.scrollIntoView());
  await page.locator('body').evaluate((body, text) => {
    const bar = body.ownerDocument.createElement('div');
    bar.textContent = text;
    bar.style.cssText =
      'position: fixed; inset: auto 0 0 0; padding: 14px 16px; background: #1f2328; color: #fff; font: 600 18px sans-serif;';
    body.append(bar);
  }, caption);
}

async function gifOf(frames: Buffer[]): Promise<Uint8Array> {
  const gif = await encode({
    ...size,
    frames: frames.map((frame) => ({
      data: new Uint8ClampedArray(PNG.sync.read(frame).data),
      delay: shownFor,
    })),
  });
  return new Uint8Array(gif);
}
