import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

const acme = acmeForAll();
let ada: Visitor;

beforeAll(async () => {
  await acme.repository('web', [{}]);
  ada = new Visitor(acme);
  await ada.signIn('ada');
});

test.each([
  ['/acme', '/repos/acme'],
  ['/acme/web', '/repos/acme/web'],
  ['/acme/web/pull/1', '/repos/acme/web/pulls/1'],
  ['/acme/web/pull/1/files', '/repos/acme/web/pulls/1'],
])('%s, as at GitHub, leads to the page', async (address, page) => {
  const { status, location } = await ada.open(address);
  expect([status, location]).toEqual([302, page]);
  expect((await ada.open(location)).status).toBe(200);
});

test.each(['/nobody', '/acme/nothing', '/acme/web/pull/999', '/globex/secret/pull/1'])(
  '%s, which is not there, is told apart by the page only',
  async (address) => {
    const { status, location } = await ada.open(address);
    expect(status).toBe(302);
    const page = await ada.open(location);
    expect([page.status, page.text.includes('<h1>Page not found</h1>')]).toEqual([404, true]);
  },
);

test.each(['/v1/nothing', '/auth/nothing', '/docs/nothing', '/owners', '/help/nothing', '/assets/nothing'])(
  '%s, which begins like an address of Holdfast, leads nowhere',
  async (address) => {
    expect((await ada.open(address)).status).toBe(404);
  },
);

test.each(['/docs', '/help', '/healthz', '/favicon.ico', '/v1/openapi.json'])('%s stays', async (address) => {
  expect((await ada.open(address)).status).toBe(200);
});

test.each(['/a.b', '/acme/a%20b', '/acme/web/pull/x', '/acme/web/pull/1e3', '/%2F%2Fevil.example', '/a/b/c'])(
  '%s is no address of GitHub that we know',
  async (address) => {
    expect((await ada.open(address)).status).toBe(404);
  },
);

test('a program that asks for such an address gets a 404 in JSON', async () => {
  const answer = await ada.open('/acme/web', { headers: { Accept: '*/*' } });
  expect([answer.status, JSON.parse(answer.text)]).toEqual([404, { detail: expect.any(String) }]);
});

test('/login leads to the sign-in, and then to the page that it names', async () => {
  const stranger = new Visitor(acme);
  const begun = await stranger.open('/login?to=%2Frepos%2Facme%2Fweb%3Fzone%3DAsia%2FTokyo');
  const asked = await stranger.open(begun.location);
  const back = await stranger.open(await stranger.authorize(asked.location, 'ada'));
  expect(back.location).toBe('/repos/acme/web?zone=Asia/Tokyo');
  expect((await stranger.open('/login')).location).toBe('/auth/sign-in');
});
