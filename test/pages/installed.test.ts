import { beforeAll, beforeEach, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { signedIn, Visitor, words } from '../support/visitor.ts';

// After the installation: what is done, the links for the rest until that is done too, and the way to the first steps.

const acme = acmeForAll();
const install = (slug: string) => `href="${acme.github.url}/apps/${slug}/installations/new"`;
let lock: string;

beforeAll(async () => {
  acme.github.ownApp('acme');
  acme.github.addUser('nina');
  acme.github.addOrganization('globex', { admins: ['nina'] });
  await acme.repository('web');
  await acme.quiet();
});
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 61_000).toISOString()));

const open = async (visitor: Visitor, query = '') => {
  const page = await visitor.open(`/installed${query}`);
  return { ...page, words: words(page) };
};

test('who can see no repository gets the link to install the App', async () => {
  const { text } = await (await signedIn(acme, 'nina')).open('/');
  expect(text).toContain('No repositories yet');
  expect(text).toContain(install(acme.github.app.slug));
  const page = await open(await signedIn(acme, 'nina'));
  expect(page.words).toContain(`To do ${acme.github.app.name}`);
  expect(page.text).toContain(install(acme.github.app.slug));
});

test('GitHub sends people back to a page that says what worked, after they sign in again', async () => {
  const nina = await signedIn(acme, 'nina');
  const { id } = acme.github.install('globex');
  await acme.quiet();
  const back = `/installed?installation_id=${id}&setup_action=install`;
  const asked = await nina.open(back);
  expect(asked.location).toMatch(/^\/auth\/sign-in\?to=/);
  const begun = await nina.open(asked.location);
  const done = await nina.open(await nina.authorize(begun.location, 'nina'));
  const page = await nina.open(done.location);
  expect(words(page)).toContain('Holdfast is installed on globex');
  expect(words(page)).toContain('GitHub installs a private App only on the account that owns it.');
  expect(page.text).toContain('href="/owners/globex/first-steps"');
  // Not for somebody who made the number up.
  const ada = await signedIn(acme, 'ada');
  expect((await ada.open(`${back}&signed=yes`)).text).not.toContain('globex');
  // An App that an earlier version made sends people to the first page.
  expect((await nina.open(`/?installation_id=${id}&setup_action=install`)).location).toBe(
    `/installed?installation_id=${id}&setup_action=install`,
  );
});

test('the second App stands there until it is installed too', async () => {
  const ada = await signedIn(acme, 'ada');
  expect((await open(ada)).words).not.toContain('lock');
  const form = (await ada.send('/owners/acme/settings', { do: 'create-lock-app' })).text;
  const unescaped = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  const action = unescaped(/<form method="post" action="(http[^"]+)"/.exec(form)![1]!);
  const manifest = unescaped(/name="manifest" value="([^"]+)"/.exec(form)![1]!);
  const body = new URLSearchParams({ manifest, as: 'ada', name: 'Lock' });
  const made = await fetch(action, { method: 'POST', body, redirect: 'manual' });
  await ada.open(made.headers.get('location')!);
  lock = 'lock';

  const before = await open(ada);
  expect(before.words).toContain('To do Lock');
  expect(before.text).toContain(install(lock));
  acme.github.install('acme', { second: true });
  await acme.advanceTo(new Date(acme.clock.now() + 61_000).toISOString());
  const after = await open(ada);
  expect(after.words).toContain('Done Lock It is installed on acme.');
  expect(after.text).not.toContain(install(lock));
});

test('without signing in, both links stand there, and nothing of who installed them', async () => {
  const { text, words: shown } = await open(new Visitor(acme));
  for (const slug of [acme.github.app.slug, lock]) expect(text).toContain(install(slug));
  expect(shown).toContain('sign in with GitHub');
  for (const owner of ['acme', 'globex']) expect(text).not.toContain(`/owners/${owner}`);
});

test('the overview has the first steps until they are done, with what is wrong first', async () => {
  const card = async (login: string, owner: string) => {
    const { text } = await (await signedIn(acme, login)).open(`/repos/${owner}`);
    const found = /<section class="card" aria-labelledby="first-steps">(.*?)<\/section>/s.exec(text);
    return found && words({ text: found[1]! }).trim();
  };
  expect(await card('nina', 'globex')).toMatch(/^First steps : 0 of 4 To do Holdfast sees your repositories/);
  acme.github.addRepository('globex/site', { protect: {} });
  await acme.quiet();
  const wrong = /^First steps : 1 of 4 Not enforced GitHub requires the check holdfast\/freeze To do Scripts/;
  await expect.poll(() => card('nina', 'globex')).toMatch(wrong);
  acme.github.protect('globex/site', 'main', ['holdfast/freeze']);
  await acme.quiet();
  await acme.advanceTo(new Date(acme.clock.now() + 6 * 60_000).toISOString());
  await expect.poll(() => card('nina', 'globex')).toMatch(/^First steps : 2 of 4 To do Scripts have/);
  expect(await card('ada', 'globex')).toBeNull();

  const as = acme.github.addToken('nina', { kind: 'classic', scopes: ['repo', 'admin:org'] });
  await acme.call('POST', '/v1/applications/globex', { as, body: { name: 'ci', scope: 'ci' } });
  const body = { reason: 'First', start: null, timezone: 'UTC' };
  const frozen = await acme.call('POST', '/v1/repos/globex/site/scheduled_freeze', { as, body });
  expect(frozen.status, frozen.text).toBe(201);
  await acme.quiet();
  await expect.poll(() => card('nina', 'globex')).toBeNull();
});
