import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { Visitor } from './support/visitor.ts';

// Pages of private repositories are for people who can read them at GitHub; those of public ones for everybody.

const acme = acmeForAll();
let visitor: Visitor;
const vaultPage = '/repos/acme/vault/pulls/1';
const webPage = '/repos/acme/web/pulls/1';

beforeAll(async () => {
  acme.github.addUser('mallory');
  await acme.repository('web', [{ title: 'New checkout' }]);
  await acme.repository('vault', [{ title: 'Rotate keys' }], { private: true, roles: { bob: 'read' } });
});
beforeEach(() => {
  visitor = new Visitor(acme);
});

const later = (seconds: number) => acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));

test('a public repository needs no sign-in', async () => {
  const { status, text } = await visitor.open(webPage);
  expect(status).toBe(200);
  expect(text).toContain('New checkout');
});

test('a private one asks for a sign-in, and then shows the page', async () => {
  const asked = await visitor.open(`${vaultPage}?from=github`);
  expect([asked.status, asked.location]).toEqual([
    302,
    `/auth/sign-in?to=${encodeURIComponent(`${vaultPage}?from=github`)}`,
  ]);
  const begun = await visitor.open(asked.location);
  const back = await visitor.open(await visitor.authorize(begun.location, 'bob'));
  expect([back.status, back.location]).toEqual([303, `${vaultPage}?from=github`]);
  const page = await visitor.open(back.location);
  expect(page.status).toBe(200);
  expect(page.text).toContain('Rotate keys');
  expect(page.text).toContain('<span>bob</span>');
  expect(page.headers.get('cache-control')).toBe('private, no-store');
});

test('the documentation shows who is signed in, also while the database does not answer', async () => {
  for (const path of ['/help', '/help/search?q=back+up', '/help/nothing'])
    expect((await visitor.open(path)).text).toContain('href="/auth/sign-in"');
  await visitor.signIn('bob');
  const { text, headers } = await visitor.open('/help');
  expect(text).toContain('<span>bob</span>');
  expect(headers.get('cache-control')).toBe('private, no-cache');
  const asked = vi.spyOn(acme.app.deps.db, '$queryRaw').mockRejectedValue(new Error('down'));
  try {
    const { status, text } = await visitor.open('/help');
    expect([status, text.includes('<span>bob</span>'), asked.mock.calls.length]).toEqual([200, false, 1]);
    await new Visitor(acme).open('/help');
    expect(asked).toHaveBeenCalledTimes(1);
  } finally {
    asked.mockRestore();
  }
});

test('neither scripts nor other sites get the cookie, and no token of GitHub is saved', async () => {
  const begun = await visitor.open('/auth/sign-in');
  const back = await visitor.open(await visitor.authorize(begun.location, 'bob'));
  const session = back.headers.getSetCookie().find((line) => line.startsWith('__Host-holdfast-session='))!;
  for (const attribute of ['HttpOnly', 'Secure', 'SameSite=Lax', 'Path=/', `Max-Age=${12 * 3600}`])
    expect(session).toContain(attribute);
  const rows = await acme.app.deps.db.session.findMany();
  const id = decodeURIComponent(visitor.cookies.get('__Host-holdfast-session')!).split('.')[0]!;
  expect(rows.map(({ idHash }) => idHash)).not.toContain(id);
  expect(rows.length).toBeGreaterThan(0);
  // Beside the one that he has always had.
  expect(acme.github.userToServerTokens('bob')).toHaveLength(1);
  expect(acme.logs.join('')).not.toMatch(/ghu_|ghr_|code_verifier|sandbox-client-secret/);
});

test('the request has a challenge, and the code is useless without its verifier', async () => {
  const begun = await visitor.open('/auth/sign-in');
  const asked = new URL(begun.location);
  expect(asked.searchParams.get('code_challenge_method')).toBe('S256');
  expect(asked.searchParams.get('redirect_uri')).toBe('https://holdfast.example/auth/callback');
  const code = new URL(await visitor.authorize(begun.location, 'bob')).searchParams.get('code')!;
  const stolen = await fetch(`${acme.github.url}/login/oauth/access_token`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: new URLSearchParams({
      client_id: acme.github.app.clientId,
      client_secret: acme.github.app.clientSecret,
      code,
      code_verifier: 'guessed',
    }),
  });
  expect(await stolen.json()).toMatchObject({ error: 'bad_verification_code' });
});

test('a code works once', async () => {
  const begun = await visitor.open('/auth/sign-in');
  const attempt = new Map(visitor.cookies);
  const callback = await visitor.authorize(begun.location, 'bob');
  expect((await visitor.open(callback)).status).toBe(303);
  // The attempt is over: reloading says so.
  const reloaded = await visitor.open(callback);
  expect([reloaded.status, reloaded.text]).toEqual([400, expect.stringContaining('is already complete')]);
  // And with its cookie brought back, GitHub takes the code no more.
  const thief = new Visitor(acme);
  for (const [name, value] of attempt) thief.cookies.set(name, value);
  const replayed = await thief.open(callback);
  expect([replayed.status, replayed.text]).toEqual([400, expect.stringContaining('then sign in again')]);
  expect(thief.cookies.has('__Host-holdfast-session')).toBe(false);
});

test.each([
  ['forged', (url: URL) => url.searchParams.set('state', 'forged')],
  [
    'altered at its end',
    (url: URL) => url.searchParams.set('state', `${url.searchParams.get('state')!.slice(0, -8)}AAAAAAAA`),
  ],
  ['missing', (url: URL) => url.searchParams.delete('state')],
])('a state that is %s signs nobody in', async (_how, change) => {
  const begun = await visitor.open('/auth/sign-in');
  const callback = new URL(await visitor.authorize(begun.location, 'mallory'));
  change(callback);
  const { status, text } = await visitor.open(callback.href);
  expect([status, text]).toEqual([400, expect.stringContaining('cannot be completed')]);
  expect(visitor.cookies.has('__Host-holdfast-session')).toBe(false);
});

test("somebody else's code, brought into a browser that did not ask for it, signs nobody in", async () => {
  const mallory = new Visitor(acme);
  const begun = await mallory.open('/auth/sign-in');
  const callback = await mallory.authorize(begun.location, 'mallory');
  expect((await visitor.open(callback)).status).toBe(400);
});

test('a sign-in of more than ten minutes ago is over', async () => {
  const begun = await visitor.open('/auth/sign-in');
  const callback = await visitor.authorize(begun.location, 'bob');
  await later(601);
  const { status, text } = await visitor.open(callback);
  expect([status, text]).toEqual([400, expect.stringContaining('more than ten minutes old')]);
});

test('tabs that sign in at the same time do not disturb each other', async () => {
  const tabs = ['/repos/acme/vault/pulls/1', '/repos/acme/vault'];
  const begun = await Promise.all(tabs.map((to) => visitor.open(`/auth/sign-in?to=${to}`)));
  for (const [index, { location }] of begun.entries()) {
    const back = await visitor.open(await visitor.authorize(location, 'bob'));
    expect([back.status, back.location]).toEqual([303, tabs[index]]);
  }
  expect([...visitor.cookies.keys()]).toEqual(['__Host-holdfast-session']);
});

test('of sign-ins that are never completed a browser keeps the latest few', async () => {
  let latest = '';
  for (let begun = 0; begun < 12; begun++) latest = (await visitor.open('/auth/sign-in')).location;
  expect(visitor.cookies.size).toBe(5);
  expect((await visitor.open(await visitor.authorize(latest, 'bob'))).status).toBe(303);
});

test('a sign-in that is completed elsewhere signs in nobody here, even during another one', async () => {
  const mallory = new Visitor(acme);
  await visitor.open('/auth/sign-in');
  const begun = await mallory.open('/auth/sign-in');
  const callback = await mallory.authorize(begun.location, 'mallory');
  expect((await visitor.open(callback)).status).toBe(400);
  expect(visitor.cookies.has('__Host-holdfast-session')).toBe(false);
});

test('a session is new each time, even if the browser already has one', async () => {
  await visitor.signIn('bob');
  const first = visitor.cookies.get('__Host-holdfast-session');
  await visitor.signIn('bob');
  expect(visitor.cookies.get('__Host-holdfast-session')).not.toBe(first);
});

test('nobody can fill the table of sessions', async () => {
  const { session } = acme.app.deps.db;
  acme.github.addUser('dora');
  for (let again = 0; again < 22; again++) await visitor.signIn('dora');
  expect(await session.count({ where: { login: 'dora' } })).toBe(20);
  expect((await visitor.open('/')).text).toContain('<span>dora</span>');
});

test('the first page says who is signed in', async () => {
  expect((await visitor.open('/')).text).not.toContain('Sign out');
  await visitor.signIn('bob');
  expect((await visitor.open('/')).text).toContain('<span>bob</span>');
});

test('a person who does not authorize learns what it is for, and can try again', async () => {
  acme.github.revokeAuthorization('mallory');
  const begun = await visitor.open(`/auth/sign-in?to=${vaultPage}`);
  const callback = await visitor.authorize(begun.location, 'mallory', '0');
  const { status, text } = await visitor.open(callback);
  expect([status, text]).toEqual([403, expect.stringContaining('/auth/sign-in?to=%2Frepos%2Facme%2Fvault')]);
});

test.each(['error=application_suspended', 'error=x%0ay&code=stolen', 'code=', ''])(
  'an answer of GitHub with %j signs in nobody, and the person can try again',
  async (answer) => {
    const begun = await visitor.open(`/auth/sign-in?to=${vaultPage}`);
    const state = new URL(begun.location).searchParams.get('state')!;
    const { status, text } = await visitor.open(`/auth/callback?state=${state}&${answer}`);
    expect([status, text]).toEqual([400, expect.stringContaining('GitHub did not complete the sign-in')]);
    expect(text).toContain('/auth/sign-in?to=%2Frepos%2Facme%2Fvault');
    expect([...visitor.cookies.keys()]).toEqual([]);
  },
);

test.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example',
  '/.//evil.example',
  'javascript:alert(1)',
  '',
])('signing in never leads to %j', async (to) => {
  expect((await visitor.signIn('bob', to)).location).toBe('/');
});

test('a changed cookie signs in nobody', async () => {
  await visitor.signIn('bob');
  const value = decodeURIComponent(visitor.cookies.get('__Host-holdfast-session')!);
  const [id, signature] = value.split('.') as [string, string];
  const swapped = id.startsWith('a') ? `b${id.slice(1)}` : `a${id.slice(1)}`;
  for (const forged of [`${swapped}.${signature}`, `${id}.${'A'.repeat(43)}=`, id, `.${signature}`, 'x']) {
    visitor.cookies.set('__Host-holdfast-session', encodeURIComponent(forged));
    expect((await visitor.open(vaultPage)).status, forged).toBe(302);
  }
  visitor.cookies.set('__Host-holdfast-session', encodeURIComponent(value));
  expect((await visitor.open(vaultPage)).status).toBe(200);
});

test('an ended session signs in nobody, even before it is deleted', async () => {
  await visitor.signIn('bob');
  await acme.app.deps.db.session.updateMany({ data: { expiresAt: new Date(acme.clock.now()) } });
  expect((await visitor.open(vaultPage)).status).toBe(302);
});

test('signing out ends the session everywhere, even with a copy of the cookie', async () => {
  const phone = new Visitor(acme);
  await visitor.signIn('bob');
  await phone.signIn('bob');
  const kept = new Map(visitor.cookies);
  expect((await visitor.signOut()).text).toContain('You are signed out');
  expect(visitor.cookies.has('__Host-holdfast-session')).toBe(false);
  for (const [name, value] of kept) visitor.cookies.set(name, value);
  expect((await visitor.open(vaultPage)).status).toBe(302);
  expect((await phone.open(vaultPage)).status).toBe(302);
});

test('another site cannot sign out anybody', async () => {
  await visitor.signIn('bob');
  for (const headers of [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    {},
  ] as Record<string, string>[])
    expect((await visitor.signOut(headers)).status).toBe(403);
  expect((await visitor.open(vaultPage)).status).toBe(200);
  expect((await visitor.signOut({ Origin: 'https://holdfast.example' })).status).toBe(200);
});

test('a session lasts twelve hours, and is then deleted', async () => {
  await visitor.signIn('bob');
  await later(12 * 3600 - 1);
  expect((await visitor.open(vaultPage)).status).toBe(200);
  await later(61);
  expect((await visitor.open(vaultPage)).status).toBe(302);
  expect(await acme.app.deps.db.session.count()).toBe(0);
});

test('within a minute, a person who lost access sees what a stranger sees', async () => {
  await visitor.signIn('bob');
  expect((await visitor.open(vaultPage)).status).toBe(200);
  acme.github.setRole('acme/vault', 'bob', null);
  await later(61);
  const lost = await visitor.open(vaultPage);
  expect([lost.status, lost.text]).toEqual([404, expect.stringContaining('ask an admin of the repository')]);
  acme.github.setRole('acme/vault', 'bob', 'read');
  await later(11);
  expect((await visitor.open(vaultPage)).status).toBe(200);
});

test('a login that now belongs to somebody else reads nothing', async () => {
  acme.github.addUser('carol');
  acme.github.setRole('acme/vault', 'carol', 'read');
  await visitor.signIn('carol');
  expect((await visitor.open(vaultPage)).status).toBe(200);
  acme.github.renameUser('carol', 'caroline');
  acme.github.addUser('carol');
  acme.github.setRole('acme/vault', 'carol', 'read');
  await later(61);
  // She is still the same person, who can read it.
  expect((await visitor.open(vaultPage)).status).toBe(200);
  acme.github.setRole('acme/vault', 'caroline', null);
  await later(61);
  expect((await visitor.open(vaultPage)).status).toBe(404);
});

test('while GitHub does not answer, nobody gets in', async () => {
  await visitor.signIn('bob');
  const begun = await new Visitor(acme).open('/auth/sign-in');
  const callback = await visitor.authorize(begun.location, 'bob');
  acme.github.goDown();
  try {
    const page = await visitor.open(vaultPage);
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '10']);
    // Both look like a missing page.
    expect((await visitor.open('/repos/acme/nothing/pulls/1')).text).toBe(page.text);
    const second = new Visitor(acme);
    const again = await second.open('/auth/sign-in');
    const state = new URL(again.location).searchParams.get('state')!;
    const answer = await second.open(callback.replace(/state=[^&]+/, `state=${state}`));
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('Sign in again in a moment')]);
  } finally {
    acme.github.comeBack();
  }
});

test('a token that cannot be revoked stops nobody, and no log has it', async () => {
  const fault = acme.github.faults.add({ kind: 'status', status: 502, match: { path: /applications/ } });
  expect((await visitor.signIn('bob')).status).toBe(303);
  fault.remove();
  expect(acme.logs.join('')).toContain('could not revoke a sign-in token');
  expect(acme.logs.join('')).not.toContain('ghu_');
});

test('only forms sign out or change anything', async () => {
  await visitor.signIn('bob');
  for (const path of ['/', vaultPage, '/auth/sign-in', '/auth/callback'])
    expect((await visitor.open(path, { method: 'POST' })).status, path).toBe(405);
  expect((await visitor.open('/auth/sign-out')).status).toBe(405);
  expect((await visitor.open(vaultPage)).status).toBe(200);
});

test('a login is always shown as text', async () => {
  await visitor.signIn('bob');
  await acme.app.deps.db.session.updateMany({ data: { login: `<img src=x onerror=alert(1)>"'&` } });
  const { text } = await visitor.open(webPage);
  expect(text).not.toContain('<img');
  expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;');
});

test('a person who revokes the authorization at GitHub is signed out everywhere, and nobody else is', async () => {
  const other = new Visitor(acme);
  for (const [who, login] of [
    [visitor, 'bob'],
    [other, 'ada'],
  ] as const) {
    const begun = await who.open('/auth/sign-in');
    await who.open(await who.authorize(begun.location, login));
    expect((await who.open(vaultPage)).status).toBe(200);
  }
  acme.github.revokeAuthorization('bob');
  await acme.quiet();
  expect((await visitor.open(vaultPage)).status).not.toBe(200);
  expect((await other.open(vaultPage)).status).toBe(200);
});
