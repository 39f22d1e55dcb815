import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { startHoldfast } from '../support/holdfast.ts';
import { shortenPatience } from '../support/patience.ts';
import { Visitor } from '../support/visitor.ts';

// Not everybody who can read a public repository sees its weak places and its people.

const acme = acmeForAll();
beforeAll(async () => {
  for (const login of ['mallory', 'wendy', 'rita']) acme.github.addUser(login);
});
afterEach(() => {
  vi.restoreAllMocks();
  acme.github.faults.clear();
  acme.github.comeBack();
});

const minute = 60_000;
const pass = (milliseconds: number) => acme.advanceTo(new Date(acme.clock.now() + milliseconds));
const hasInside = (text: string) => ['id="enforcement"', 'id="log"'].map((part) => text.includes(part));
/** The requests that only the look at enforcement sends. */
const looks = () => acme.github.requests.filter(({ path }) => path === '/app/hook/config').length;

async function pageFor(login: string | null, repository: string) {
  const visitor = new Visitor(acme);
  if (login) await visitor.signIn(login);
  const { status, text } = await visitor.open(`/repos/${repository}?zoom=week`);
  expect(status).toBe(200);
  return text;
}

test('of a public repository only people who can write to it see the inside', async () => {
  const web = await acme.repository('web', [{}], { roles: { wendy: 'write', rita: 'read' } });
  await acme.freeze(web, { reason: 'For all to see' });
  const before = looks();
  const nobodys = await pageFor(null, web);
  expect(hasInside(nobodys)).toEqual([false, false]);
  expect(nobodys).toContain('For all to see');
  expect(nobodys).toContain(
    `<a href="/auth/sign-in?to=${encodeURIComponent('/repos/acme/web?zoom=week')}">Sign in with GitHub</a>`,
  );
  expect(nobodys).not.toContain('admin key,</strong>');
  for (const login of ['mallory', 'rita']) {
    const outsiders = await pageFor(login, web);
    expect(hasInside(outsiders)).toEqual([false, false]);
    expect(outsiders).toContain('whether freezes are enforced.</p>');
  }
  expect(looks()).toBe(before);
  for (const login of ['wendy', 'ada']) expect(hasInside(await pageFor(login, web))).toEqual([true, true]);
});

test('of a private one everybody who can read it', async () => {
  const vault = await acme.repository('vault', [{}], { private: true, roles: { rita: 'read' } });
  expect(hasInside(await pageFor('rita', vault))).toEqual([true, true]);
});

test('nobody while GitHub does not say who can write', async () => {
  const web = await acme.repository('quiet', [], { roles: { wendy: 'write' } });
  const wendy = new Visitor(acme);
  await wendy.signIn('wendy');
  acme.github.goDown();
  const { status, text } = await wendy.open(`/repos/${web}`);
  expect(status).toBe(200);
  expect(hasInside(text)).toEqual([false, false]);
  expect(text).toContain('GitHub does not say whether you can');
});

test('if signing in is not set up, the page says what to set', async () => {
  const holdfast = await startHoldfast(
    (github) => {
      github.addOrganization('acme', { admins: ['ada'] });
      github.addRepository('acme/web');
      github.install('acme');
    },
    { app: { ...acme.github.app, oauth: null } },
  );
  try {
    await holdfast.quiet();
    const text = await (await fetch(`${holdfast.app.url}/repos/acme/web`)).text();
    expect(hasInside(text)).toEqual([false, false]);
    expect(text).toContain('CLIENT_ID and CLIENT_SECRET');
  } finally {
    await holdfast.close();
  }
});

test('says that nothing enforces a freeze and what to click; once it is required, that it holds', async () => {
  const web = await acme.repository('loose', [{}], { protect: {} });
  await acme.freeze(web);
  const before = await pageFor('ada', web);
  expect(before).toContain('<span class="badge leaking">Freezes are not enforced</span>');
  expect(before).toMatch(/<strong>Failed:<\/strong> main does not require holdfast\/freeze/);
  const rules = `${acme.github.url}/${web}/settings/rules/new?target=branch`;
  expect(before).toContain(`<a class="button" href="${rules}" rel="noreferrer">Fix it on GitHub</a>`);
  expect(before).toContain('created a freeze that is not enforced');
  acme.github.protect(web, 'main', {
    checks: [{ context: 'holdfast/freeze', app: acme.github.app.id }],
  });
  await pass(minute / 6);
  const page = await pageFor('ada', web);
  expect(page).toContain('<span class="badge free">Freezes are enforced</span>');
  expect(page).toMatch(/<summary>\d+ passed checks<\/summary>/);
});

test('however often it is loaded, GitHub is asked once a minute', async () => {
  const web = await acme.repository('busy');
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  const before = looks();
  const load = () => Promise.all(Array.from({ length: 10 }, () => ada.open(`/repos/${web}`)));
  await load();
  await load();
  expect(looks() - before).toBe(1);
  await pass(minute);
  await load();
  expect(looks() - before).toBe(2);
});

test('while GitHub is slow, the page still comes, and the next one has the answer', async () => {
  const web = await acme.repository('slow');
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  await ada.open(`/repos/${web}`);
  await pass(minute);
  shortenPatience();
  const slow = { kind: 'delay', ms: 60_000, match: { path: /^\/app\/hook\/config$/ } } as const;
  const fault = acme.github.faults.add(slow);
  expect((await ada.open(`/repos/${web}`)).text).toContain('Holdfast is still asking GitHub.');
  fault.remove();
  await expect.poll(async () => (await ada.open(`/repos/${web}`)).text).toContain('Freezes are enforced');
});

test('a branch that is named like markup is text', async () => {
  const web = await acme.repository('markup', [{}], { protect: {} });
  const branch = '<img/src=x>&"';
  await acme.freeze(web, { matching_conditions: [`base='${branch}'`] });
  const text = await pageFor('ada', web);
  expect(text).toContain('&lt;img/src=x&gt;');
  expect(text).not.toMatch(/<img/);
});
