import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FirstRun, type Shown, startFirstRun, Visitor } from '../support/first-run.ts';

// Attacks and mistakes on the way from the setup page to GitHub and back, which must not work.

let run: FirstRun;
beforeAll(async () => {
  run = await startFirstRun();
});
beforeEach(() => run.begin());
afterAll(() => run.close());

const setupUrl = () => `${run.app.url}/setup`;
const isConfigured = async () => (await run.database.prisma.appCredentials.count()) > 0;
const forwarded = { 'X-Forwarded-For': '203.0.113.9' };

let names = 0;
async function toGitHub(visitor: Visitor, name = `Holdfast ${++names}`): Promise<Shown> {
  const review = await visitor.submit(await run.open(visitor), { organization: 'acme', name });
  return visitor.submit(review);
}

/** The address to which GitHub sends the browser back, without going there. */
async function wayBack(visitor: Visitor, name?: string): Promise<URL> {
  const create = await toGitHub(visitor, name);
  const form = new URLSearchParams({ as: 'ada' });
  for (const field of ['manifest', 'name']) {
    const [, value = ''] = new RegExp(`name="${field}"\\s+value="([^"]*)"`).exec(create.text)!;
    form.set(field, value.replaceAll('&quot;', '"'));
  }
  const made = await fetch(create.url, { method: 'POST', body: form, redirect: 'manual' });
  return new URL(made.headers.get('location')!);
}

async function expectRefused(shown: Shown, text: string, status = 403): Promise<void> {
  expect(shown.status, shown.text).toBe(status);
  expect(shown.text).toContain(text);
  expect(await isConfigured()).toBe(false);
}

/** A request with headers that fetch does not let one choose. */
function ask(path: string, headers: Record<string, string>, method = 'GET'): Promise<number> {
  const { port } = new URL(run.app.url);
  return new Promise((resolve, reject) =>
    request({ port, host: '127.0.0.1', path, method, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode!);
    })
      .on('error', reject)
      .end(),
  );
}

test('a return without the cookie, or with another browser’s state, is refused', async () => {
  const victim = new Visitor();
  const back = await wayBack(victim);
  await expectRefused(await new Visitor().get(back.href), 'did not start in this browser');
  const attacker = new Visitor();
  await toGitHub(attacker, 'Another');
  await expectRefused(await attacker.get(back.href), 'did not start in this browser');
  const forged = new URL(back);
  forged.searchParams.set('state', 'forged');
  await expectRefused(await victim.get(forged.href), 'did not start in this browser');
  forged.searchParams.delete('state');
  await expectRefused(await victim.get(forged.href), 'did not start in this browser');
  for (const code of ['', '../../user', 'a b', 'x'.repeat(300)]) {
    const strange = new URL(back);
    strange.searchParams.set('code', code);
    await expectRefused(await victim.get(strange.href), 'did not start in this browser');
  }
  // The control: the right browser may.
  expect((await victim.get(back.href)).status).toBe(200);
});

test('a changed cookie, or one over an hour old, is refused', async () => {
  const visitor = new Visitor();
  const back = await wayBack(visitor);
  const [key, value] = [...visitor.cookies].find(([name]) => name.endsWith('holdfast_setup_state'))!;
  visitor.cookies.set(key, value.replace('database', 'env'));
  await expectRefused(await visitor.get(back.href), 'did not start in this browser');
  visitor.cookies.set(key, value);
  await run.clock.setTime(new Date(run.clock.now() + 3600_000));
  await expectRefused(await visitor.get(back.href), 'did not start in this browser');
});

test('a code that GitHub does not know uses up the state', async () => {
  const visitor = new Visitor();
  const back = await wayBack(visitor);
  const used = new URL(back);
  used.searchParams.set('code', '0'.repeat(40));
  await expectRefused(await visitor.get(used.href), 'GitHub does not know this code', 502);
  await expectRefused(await visitor.get(back.href), 'already used');
});

test('a code that somebody else converted is useless', async () => {
  const visitor = new Visitor();
  const back = await wayBack(visitor);
  const url = `${run.github.url}/app-manifests/${back.searchParams.get('code')}/conversions`;
  expect((await fetch(url, { method: 'POST' })).status).toBe(201);
  expect((await fetch(url, { method: 'POST' })).status).toBe(404);
  await expectRefused(await visitor.get(back.href), 'GitHub does not know this code', 502);
});

describe('a GitHub that answers', () => {
  const usable = {
    id: 1,
    slug: 'holdfast',
    name: 'Holdfast',
    html_url: 'https://github.com/apps/holdfast',
    client_id: 'Iv',
    client_secret: 's3cret-of-the-client',
    webhook_secret: 's3cret-of-webhooks',
  };

  test.each<[string, number, string, number, string]>([
    ['an error', 500, '{"message":"Server Error"}', 503, 'Reload this page'],
    [
      'that the code is over its time',
      404,
      '{"message":"Not Found","documentation_url":"https://docs.github.com/rest","status":"404"}',
      502,
      'delete it first',
    ],
    [
      'what is not GitHub',
      404,
      '{"error":"404 Not Found"}',
      502,
      'for GitHub Enterprise Server it ends in /api/v3',
    ],
    ['a page', 201, '<html>s3cret</html>', 502, 'answer cannot be used'],
    ['half of JSON', 201, '{"id": 1, "pem": "s3cret', 502, 'answer cannot be used'],
    ['nothing', 201, '{}', 502, 'answer cannot be used'],
    ['no key', 201, JSON.stringify({ ...usable, pem: 's3cret' }), 502, 'answer cannot be used'],
    [
      'a line too many',
      201,
      JSON.stringify({ ...usable, slug: 'a\nAPP_ID=1' }),
      502,
      'answer cannot be used',
    ],
  ])('%s is shown as such', async (_name, status, body, shown, text) => {
    const server = createServer((_, answer) => {
      answer.writeHead(status, { 'content-type': 'application/json' }).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { url } = await run.startAnother({ githubApiUrl: `http://127.0.0.1:${port}` });
    const visitor = new Visitor();
    const review = await visitor.submit(await run.open(visitor, url), { organization: 'acme' });
    const state = /state=([\w-]+)"/.exec(review.text)![1];
    await expectRefused(await visitor.get(`${url}/setup/callback?code=abc&state=${state}`), text, shown);
    server.close();
    expect(run.logs.join()).not.toContain('s3cret');
  });
});

test('while GitHub does not answer, the return waits, and works afterwards', async () => {
  const visitor = new Visitor();
  const back = await wayBack(visitor);
  run.github.goDown();
  await expectRefused(await visitor.get(back.href), 'Reload this page', 503);
  run.github.comeBack();
  expect((await visitor.get(back.href)).status).toBe(200);
});

test('credentials that could not be saved are not lost', async () => {
  const visitor = new Visitor();
  const back = await wayBack(visitor);
  const rename = (from: string, to: string) =>
    run.database.prisma.$executeRawUnsafe(`ALTER TABLE "${from}" RENAME TO "${to}"`);
  await rename('app_credentials', 'away');
  const failed = await visitor.get(back.href);
  expect([failed.status, failed.text]).toEqual([503, expect.stringContaining('could not be saved')]);
  await rename('away', 'app_credentials');
  expect((await visitor.get(back.href)).text).toContain('is connected');
  for (const secret of ['BEGIN', run.github.app.webhookSecret, run.github.app.clientSecret!])
    expect(run.logs.join()).not.toContain(secret);
});

test('of two people who return at once, one wins, and the other learns what to delete', async () => {
  const [one, two] = [new Visitor(), new Visitor()];
  const first = await wayBack(one, 'First');
  const second = await wayBack(two, 'Second');
  const answers = await Promise.all([one.get(first.href), two.get(second.href)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect(answers.find(({ status }) => status === 409)!.text).toMatch(/Delete the App (First|Second) at http/);
  expect(await run.database.prisma.appCredentials.count()).toBe(1);
});

test.each(['env', 'database'])(
  'if one process has saved an App, another does not save one in the %s',
  async (place) => {
    const replica = await run.startAnother();
    const late = new Visitor();
    const form = await run.open(late, replica.url);
    const create = await late.submit(
      await late.submit(form, { organization: 'acme', name: `Late ${place}`, place }),
    );
    const early = new Visitor();
    expect((await early.submit(await toGitHub(early), { as: 'ada' })).text).toContain('is connected');
    const refused = await late.submit(create, { as: 'ada' });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('Delete the App Late')]);
    await expect(access(run.envFile)).rejects.toThrow('ENOENT');
  },
);

test('the same return twice at once counts once', async () => {
  const visitor = new Visitor();
  const back = await wayBack(visitor);
  const statuses = await Promise.all([1, 2, 3].map(async () => (await visitor.get(back.href)).status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(await run.database.prisma.appCredentials.count()).toBe(1);
});

test('after the setup there is no setup page: it looks like an unknown page', async () => {
  const visitor = new Visitor();
  const back = await wayBack(visitor);
  await visitor.get(back.href);
  const unknown = await visitor.get(`${run.app.url}/no-such-page`);
  for (const url of [setupUrl(), `${setupUrl()}/code`]) {
    const { status, text } = await visitor.get(url);
    expect([status, text]).toEqual([404, unknown.text]);
  }
  // Reloading its last page leads to where it ended, which has nothing of a setup.
  expect((await visitor.get(back.href)).text).toContain('<title>Install Holdfast');
  expect((await visitor.post(setupUrl(), { owner: 'person', name: 'x' })).status).toBe(404);
});

test('under a name that is neither this machine’s nor PUBLIC_URL’s nothing is shown', async () => {
  for (const host of [
    'attacker.example',
    'attacker.example:80',
    '127.0.0.1.attacker.example',
    '10.0.0.7:3000',
  ]) {
    expect(await ask('/setup', { Host: host })).toBe(403);
    expect(await ask('/setup/callback?code=a&state=b', { Host: host })).toBe(403);
  }
  for (const host of ['localhost', 'localhost:8080', '[::1]:3000', '127.0.0.2'])
    expect(await ask('/setup', { Host: host })).toBe(200);
});

test('a form of another site is refused', async () => {
  const { host } = new URL(run.app.url);
  const form = { Host: host, 'Content-Type': 'application/x-www-form-urlencoded' };
  for (const origin of ['https://attacker.example', 'null', 'http://127.0.0.1:1'])
    for (const path of ['/setup', '/setup/code'])
      expect(await ask(path, { ...form, Origin: origin }, 'POST')).toBe(403);
  // The control: its own form.
  const visitor = new Visitor();
  await run.open(visitor);
  expect((await visitor.post(setupUrl(), {})).status).toBe(422);
});

test('the code is asked for from everywhere, compared, and works once', async () => {
  for (const headers of [{}, forwarded]) {
    const visitor = new Visitor(headers);
    const asked = await visitor.get(setupUrl());
    expect(asked.text).toContain('Code from the log');
    expect(asked.text).not.toContain('GitHub App name');
    expect((await visitor.post(setupUrl(), { owner: 'person', name: 'Mine' })).status).toBe(403);
  }
  const code = run.code();
  expect(code).toMatch(/^(?:[A-Z2-9]{4}-){3}[A-Z2-9]{4}$/);
  const visitor = new Visitor();
  const enter = (who: Visitor, text: string) => who.post(`${setupUrl()}/code`, { code: text });
  for (const wrong of ['', 'AAAA-AAAA-AAAA-AAAA', `${code}A`, code.slice(1), '%00'])
    expect((await enter(visitor, wrong)).status).toBe(403);
  expect((await enter(visitor, ` ${code.toLowerCase().replaceAll('-', ' ')} `)).text).toContain(
    'GitHub App name',
  );
  expect((await enter(new Visitor(), code)).text).toContain('Code from the log');
  expect(run.code()).not.toBe(code);
  const review = await visitor.submit(await visitor.get(setupUrl()), { organization: 'acme', name: 'Mine' });
  const done = await visitor.submit(await visitor.submit(review), { as: 'ada' });
  expect(done.text).toContain('Mine is connected');
});

test('wrong codes slow down their sender, and lock out nobody', async () => {
  const enter = (code: string) => new Visitor().post(`${setupUrl()}/code`, { code });
  for (let count = 0; count < 5; count++) expect((await enter('AAAA')).status).toBe(403);
  const slowed = await enter('AAAA');
  expect([slowed.status, slowed.headers.get('retry-after')]).toEqual([429, '60']);
  // Who shares that address, as behind a proxy, still gets in.
  expect((await enter(run.code())).text).toContain('GitHub App name');
  await run.clock.setTime(new Date(run.clock.now() + 60_000));
  expect((await enter('AAAA')).status).toBe(403);
});

test('a cookie for one purpose does not work for another, and a forged one for none', async () => {
  const local = new Visitor();
  await toGitHub(local);
  const { host } = new URL(run.app.url);
  const remote = new Visitor(forwarded);
  const begun = local.cookies.get(`${host} holdfast_setup_state`)!;
  for (const value of [begun, 'admitted', '9999999999~admitted~.c2lnbmF0dXJl']) {
    remote.cookies.set(`${host} holdfast_setup`, value);
    expect((await remote.get(setupUrl())).text).toContain('Code from the log');
  }
});

test('the pages of the later service lead to the setup page', async () => {
  for (const path of ['/', '/docs', '/repos/acme/web', '/repos/acme/web/pulls/1'])
    expect((await new Visitor().get(run.app.url + path)).url).toBe(setupUrl());
});

test('until there is an App, everything else says where to go', async () => {
  const answer = async (method: string, path: string) => {
    const response = await fetch(`${run.app.url}${path}`, { method });
    return { status: response.status, text: await response.text() };
  };
  expect(await answer('GET', '/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' });
  expect(JSON.parse((await answer('GET', '/readyz')).text)).toMatchObject({ status: 'setup' });
  for (const [method, path] of [
    ['GET', '/readyz'],
    ['GET', '/v1/application'],
    ['POST', '/v1/repos/acme/web/scheduled_freeze'],
    ['POST', '/api/github/webhooks'],
  ] as const) {
    const { status, text } = await answer(method, path);
    expect([status, JSON.parse(text).detail]).toEqual([503, expect.stringContaining(setupUrl())]);
  }
});
