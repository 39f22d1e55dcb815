import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';

// GitHub's web application flow, as its documentation tells it.

let github: Sandbox;
let now = Date.parse('2026-03-01T09:00:00Z');
const callback = 'https://holdfast.example/auth/callback';
const verifier = 'v'.repeat(43);

beforeAll(async () => {
  github = await startSandbox({ app: { callbackUrls: [callback] }, now: () => new Date(now) });
  github.addUser('ada');
  github.addUser('bob');
  github.signInToGitHub('ada');
});
afterAll(async () => {
  await github.close();
  github.assertNoUnknownRoutes();
});

const authorizeUrl = (more: Record<string, string> = {}) => {
  const url = new URL('/login/oauth/authorize', github.url);
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  const { clientId: client_id } = github.app;
  const pkce = { code_challenge, code_challenge_method: 'S256' };
  url.search = new URLSearchParams({
    client_id,
    redirect_uri: callback,
    state: 's',
    ...pkce,
    ...more,
  }).toString();
  return url;
};
const ask = (more?: Record<string, string>) => fetch(authorizeUrl(more), { redirect: 'manual' });
const locationOf = (response: Response) => new URL(response.headers.get('location')!);

async function press(authorize: '0' | '1'): Promise<URL> {
  const body = new URLSearchParams(authorizeUrl().search);
  body.set('authorize', authorize);
  const url = new URL('/login/oauth/authorize', github.url);
  return locationOf(await fetch(url, { method: 'POST', body, redirect: 'manual' }));
}

const newCode = async () => (await press('1')).searchParams.get('code')!;

async function exchange(code: string, more: Record<string, string> = {}) {
  const { clientId: client_id, clientSecret: client_secret } = github.app;
  const response = await fetch(`${github.url}/login/oauth/access_token`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: new URLSearchParams({ client_id, client_secret, code, code_verifier: verifier, ...more }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { access_token?: string; error?: string };
}

test('asks a person once, and sends a code and the state back', async () => {
  expect(await (await ask()).text()).toContain('Authorize Holdfast</button>');
  const back = await press('1');
  expect([back.origin + back.pathname, back.searchParams.get('state')]).toEqual([callback, 's']);
  expect(locationOf(await ask()).searchParams.get('code')).toBeTruthy();
  github.revokeAuthorization('ada');
  expect((await ask()).status).toBe(200);
});

test('a person who cancels returns without a code', async () => {
  const { searchParams } = await press('0');
  expect([searchParams.get('error'), searchParams.get('state'), searchParams.get('code')]).toEqual([
    'access_denied',
    's',
    null,
  ]);
});

test.each(['https://evil.example/', `${callback}/x`, `${callback}?x=1`, 'https://holdfast.example'])(
  'never sends anybody to %s',
  async (redirect_uri) => {
    const back = locationOf(await ask({ redirect_uri }));
    expect([back.origin + back.pathname, back.searchParams.get('error')]).toEqual([
      callback,
      'redirect_uri_mismatch',
    ]);
  },
);

test('another client id is not found, and another challenge than S256 is refused', async () => {
  expect((await ask({ client_id: 'Iv23somebody' })).status).toBe(404);
  const back = locationOf(await ask({ code_challenge_method: 'plain' }));
  expect(back.searchParams.get('error')).toBe('invalid_request');
});

test('a code gives a token for the person, once', async () => {
  const code = await newCode();
  const { access_token: token } = await exchange(code);
  expect(token).toMatch(/^ghu_/);
  const headers = { Authorization: `Bearer ${token}` };
  expect(await (await fetch(`${github.url}/user`, { headers })).json()).toMatchObject({ login: 'ada' });
  expect(await exchange(code)).toMatchObject({ error: 'bad_verification_code' });
});

test('a code is refused for every mistake', async () => {
  expect(await exchange('unknown')).toMatchObject({ error: 'bad_verification_code' });
  expect(await exchange(await newCode(), { code_verifier: 'wrong' })).toMatchObject({
    error: 'bad_verification_code',
  });
  expect(await exchange(await newCode(), { client_secret: 'wrong' })).toMatchObject({
    error: 'incorrect_client_credentials',
  });
  expect(await exchange(await newCode(), { redirect_uri: 'https://evil.example' })).toMatchObject({
    error: 'redirect_uri_mismatch',
  });
  const code = await newCode();
  now += 10 * 60_000;
  expect(await exchange(code)).toMatchObject({ error: 'bad_verification_code' });
});

test('without Accept the answer is a form', async () => {
  const response = await fetch(`${github.url}/login/oauth/access_token`, { method: 'POST' });
  expect(response.headers.get('content-type')).toContain('application/x-www-form-urlencoded');
  expect(new URLSearchParams(await response.text()).get('error')).toBe('incorrect_client_credentials');
});

test('the App revokes a token only with its own credentials', async () => {
  const { access_token } = await exchange(await newCode());
  const { clientId, clientSecret } = github.app;
  const giveBack = (secret: string) =>
    fetch(`${github.url}/applications/${clientId}/token`, {
      method: 'DELETE',
      headers: { Authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` },
      body: JSON.stringify({ access_token }),
    });
  expect((await giveBack('wrong')).status).toBe(401);
  expect((await giveBack(clientSecret)).status).toBe(204);
  expect(
    (await fetch(`${github.url}/user`, { headers: { Authorization: `Bearer ${access_token}` } })).status,
  ).toBe(401);
  expect((await giveBack(clientSecret)).status).toBe(404);
});

test('without a signed-in person it asks who you are, remembers that, and asks again the next time', async () => {
  github.signInToGitHub(null);
  github.revokeAuthorization('ada');
  const asked = await (await ask()).text();
  expect(asked).toMatch(/value="bob"/);
  const { pathname, search } = authorizeUrl();
  const choose = async (login: string) => {
    const body = new URLSearchParams({ login, return_to: pathname + search });
    const chosen = await fetch(`${github.url}/login`, { method: 'POST', body, redirect: 'manual' });
    const cookie = chosen.headers.getSetCookie()[0]!.split(';')[0]!;
    return { location: chosen.headers.get('location')!, headers: { Cookie: cookie } };
  };
  const bob = await choose('bob');
  expect(await (await fetch(bob.location, bob)).text()).toContain('identity of bob');
  // The choice was about this sign-in: the next one may be somebody else's.
  const again = await (await fetch(authorizeUrl(), bob)).text();
  expect(again).toMatch(/bob<\/strong> \(as before\)/);
  const ada = await choose('ada');
  expect(await (await fetch(ada.location, ada)).text()).toContain('identity of ada');
  // A link that names an account signs nobody in.
  expect(await (await fetch(ada.location, bob)).text()).toContain('Who are you?');
});
