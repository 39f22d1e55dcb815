import type { AddressInfo } from 'node:net';
import { serve, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { conflict } from '../../src/errors.ts';
import { OpenStreams } from '../../src/pages/live.ts';
import { ExplanationsForPages } from '../../src/explanations/explanations-for-pages.ts';
import { CallerLimits, changesPerMinute } from '../../src/github/limits/caller-limits.ts';
import {
  type OwnerChange,
  ownerForm,
  type RepositoryChange,
  repositoryForm,
} from '../../src/pages/change.ts';
import { errorPage } from '../../src/pages/message-page.ts';
import type { PageDeps } from '../../src/pages/reader.ts';
import { acmeForAll } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

// What stands before every change that a page makes. Forms of its own, so that each step is tried without the others.

const acme = acmeForAll();
let server: ServerType;
let url: string;
let changes: (RepositoryChange | OwnerChange)[] = [];
/** The error that the next changes throw. */
let refuse: Error | null = null;
const cookies = new Map<string, string>();

beforeAll(async () => {
  for (const login of ['mallory', 'wendy', 'rita', 'carol']) acme.github.addUser(login);
  await acme.repository('web', [], { roles: { wendy: 'write', rita: 'read', bob: 'admin' } });
  await acme.repository('api', [], { roles: { bob: 'admin' } });
  await acme.repository('vault', [], { private: true });
  acme.github.addOrganization('hush', { admins: ['ada'] });
  acme.github.addRepository('hush/hidden', { private: true });
  acme.github.install('hush');
  await acme.quiet();
  for (const login of ['ada', 'bob', 'carol', 'wendy', 'rita', 'mallory']) {
    const visitor = new Visitor(acme);
    await visitor.signIn(login);
    cookies.set(login, [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '));
  }
  const { deps } = acme.app;
  const given: PageDeps = {
    ...deps,
    explanations: new ExplanationsForPages(deps.clock),
    limits: new CallerLimits(deps.clock),
    streams: new OpenStreams(),
  };
  const change = async (made: RepositoryChange | OwnerChange) => {
    if (refuse) throw refuse;
    changes.push(made);
    return made.context.text('changed');
  };
  const app = new Hono();
  app.onError((error, context) => errorPage(error, context, deps.log));
  app.post('/repos/:owner/:repository/admins', repositoryForm(given, {}, change));
  app.post('/repos/:owner/:repository/writers', repositoryForm(given, { least: 'write' }, change));
  const named = async ({ form }: Pick<OwnerChange, 'form'>) => ({
    include: form.getAll('repository'),
    exclude: [],
  });
  app.post('/repos/:owner/owners', ownerForm(given, named, change));
  await new Promise<void>((resolve) => {
    server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve());
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  changes = [];
});
afterEach(() => acme.github.comeBack());
afterAll(() => server.close());

const own = { 'Sec-Fetch-Site': 'same-origin' };
const named = (repository: string): [string, string] => ['repository', repository];

async function send(
  login: string | null,
  path: string,
  {
    headers = own,
    fields = {},
  }: { headers?: Record<string, string>; fields?: Record<string, string> | [string, string][] } = {},
) {
  const cookie = login ? { Cookie: cookies.get(login)! } : {};
  const body = new URLSearchParams(fields);
  const answer = await fetch(url + path, { method: 'POST', body, headers: { ...cookie, ...headers } });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

test('our form, from an admin, is accepted, with the admin as the actor', async () => {
  const { status } = await send('ada', '/repos/acme/web/admins', { fields: { reason: 'Fire' } });
  expect(status).toBe(200);
  expect(changes[0]).toMatchObject({
    actor: { type: 'user', name: 'ada' },
    repository: { name: 'web' },
    notAdmin: null,
  });
  expect(changes[0]!.form.get('reason')).toBe('Fire');
});

test.each([
  ['another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
  ['another site below the same domain', { 'Sec-Fetch-Site': 'same-site' }],
  ['a browser that says nothing', {}],
  ['another site, by a script', { Origin: 'https://evil.example', 'Content-Type': 'text/plain' }],
  ['another site, as JSON', { 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'application/json' }],
  ['nowhere, as JSON', { 'Content-Type': 'application/json' }],
])('a form from %s changes nothing', async (_, headers) => {
  for (const path of ['/repos/acme/web/admins', '/repos/acme/owners']) {
    const { status, text } = await send('ada', path, { headers: headers as Record<string, string> });
    expect(status).toBe(403);
    expect(text).toContain('Nothing was changed');
  }
  expect(changes).toEqual([]);
});

test('without a session nothing is changed, and the page says how to go on', async () => {
  const referer = 'https://holdfast.example/repos/acme/freeze?repository=web';
  for (const path of ['/repos/acme/web/admins', '/repos/acme/owners']) {
    const { status, text } = await send(null, path, { headers: { ...own, Referer: referer } });
    expect(status).toBe(403);
    expect(text).toContain(`/auth/sign-in?to=${encodeURIComponent('/repos/acme/freeze?repository=web')}`);
  }
  expect(changes).toEqual([]);
});

test('a session is not enough: GitHub says who can', async () => {
  for (const login of ['mallory', 'rita', 'wendy'])
    expect((await send(login, '/repos/acme/web/admins')).status).toBe(403);
  for (const login of ['mallory', 'rita'])
    expect((await send(login, '/repos/acme/web/writers')).status).toBe(403);
  expect(changes).toEqual([]);
  expect((await send('wendy', '/repos/acme/web/writers')).status).toBe(200);
  expect((changes[0] as RepositoryChange).notAdmin?.message).toContain('wendy is not an admin of acme/web');
});

test('a page that you cannot see does not exist', async () => {
  const hidden = await send('mallory', '/repos/acme/vault/admins');
  const absent = await send('mallory', '/repos/acme/nothing/admins');
  expect({ ...hidden, headers: null }).toEqual({ ...absent, headers: null });
  expect(hidden.status).toBe(404);
  const asked = (text: string) => text.replaceAll(/hush|nobody/g, 'OWNER');
  const known = await send('mallory', '/repos/hush/owners');
  const unknown = await send('mallory', '/repos/nobody/owners');
  expect(asked(known.text)).toBe(asked(unknown.text));
});

test('GitHub is asked at each change: a right that was lost a moment ago is lost', async () => {
  expect((await send('bob', '/repos/acme/api/admins')).status).toBe(200);
  acme.github.setRole('acme/api', 'bob', 'read');
  expect((await send('bob', '/repos/acme/api/admins')).status).toBe(403);
  acme.github.setRole('acme/api', 'bob', 'admin');
  expect((await send('bob', '/repos/acme/api/admins')).status).toBe(200);
  expect(changes).toHaveLength(2);
});

test('of an owner whose repositories a person can see, the page says what they lack', async () => {
  const whyNot = async (fields: [string, string][]) =>
    (await send('rita', '/repos/acme/owners', { fields })).text;
  expect(await whyNot([named('web')])).toContain(
    'an admin of acme or of each repository that you selected. Select only repositories that you are an admin or freezer of.',
  );
  const many = Array.from({ length: 51 }, (_, index) => named(`r${index}`));
  expect(await whyNot(many)).toContain('Select at most 50 repositories');
});

test('without a session, what was typed stands on the page, as text', async () => {
  const fields = { reason: 'INC-4711 <b>now</b>', key: 'k', zone: 'UTC', public_reason: ' ' };
  const { text } = await send(null, '/repos/acme/owners', { fields });
  expect(text).toContain('What you typed');
  expect(text.match(/<pre/g)).toHaveLength(1);
  expect(text).toContain('INC-4711 &lt;b&gt;now&lt;/b&gt;');
  const large = await send(null, '/repos/acme/owners', { fields: { reason: 'x'.repeat(70_000) } });
  expect([large.status, large.text.length < 5000]).toEqual([403, true]);
});

test('of an owner: its admins, and people who administer each named repository', async () => {
  expect((await send('ada', '/repos/acme/owners')).status).toBe(200);
  const both: [string, string][] = [
    ['repository', 'web'],
    ['repository', 'API'],
  ];
  expect((await send('bob', '/repos/acme/owners', { fields: both })).status).toBe(200);
  expect(changes).toHaveLength(2);
  for (const more of [
    ['repository', 'vault'],
    ['repository', 'nothing'],
  ] as [string, string][])
    expect((await send('bob', '/repos/acme/owners', { fields: [...both, more] })).status).toBe(403);
  expect((await send('bob', '/repos/acme/owners')).status).toBe(403);
  expect(changes).toHaveLength(2);
});

test('of an owner, too, a right that was lost a moment ago is lost: of the organization, and of one named repository', async () => {
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
  acme.github.setMembership('acme', 'carol', 'admin');
  expect((await send('carol', '/repos/acme/owners')).status).toBe(200);
  acme.github.setMembership('acme', 'carol', 'member');
  expect((await send('carol', '/repos/acme/owners')).status).toBe(403);
  const both = { fields: [named('web'), named('api')] };
  expect((await send('bob', '/repos/acme/owners', both)).status).toBe(200);
  acme.github.setRole('acme/api', 'bob', 'maintain');
  expect((await send('bob', '/repos/acme/owners', both)).status).toBe(403);
  acme.github.setRole('acme/api', 'bob', 'admin');
  expect(changes).toHaveLength(2);
});

test('a person who administers repositories, and not the owner, changes only those', async () => {
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
  await send('bob', '/repos/acme/owners', { fields: [named('web'), named('API')] });
  await send('ada', '/repos/acme/owners', { fields: [named('web')] });
  const [bobs, adas] = changes as OwnerChange[];
  expect(bobs!.administered).toEqual(new Set(['web', 'api']));
  expect(adas!.administered).toBeNull();
});

test('a repository of a former holder of this login belongs to nobody here', async () => {
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
  const { db } = acme.app.deps;
  const { accountId } = await db.repository.findFirstOrThrow({ where: { name: 'api' } });
  const account = await db.account.findUniqueOrThrow({ where: { id: accountId } });
  await db.account.create({
    data: { ...account, templates: [], settings: {}, id: 999_999n, seenAt: new Date(0) },
  });
  await db.repository.updateMany({ where: { name: 'api' }, data: { accountId: 999_999n } });
  expect((await send('bob', '/repos/acme/owners', { fields: [named('api')] })).status).toBe(403);
  await db.repository.updateMany({ where: { name: 'api' }, data: { accountId } });
  await db.account.delete({ where: { id: 999_999n } });
  expect((await send('bob', '/repos/acme/owners', { fields: [named('api')] })).status).toBe(200);
});

test("of more repositories than GitHub is asked about, the form is for the owner's admins", async () => {
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
  const names = Array.from({ length: 51 }, (_, index) => `many-${index}`);
  for (const name of names) acme.github.addRepository(`acme/${name}`, { roles: { bob: 'admin' } });
  await acme.quiet();
  const fields = names.map(named);
  expect((await send('bob', '/repos/acme/owners', { fields })).status).toBe(403);
  expect((await send('bob', '/repos/acme/owners', { fields: fields.slice(1) })).status).toBe(200);
  expect((await send('ada', '/repos/acme/owners', { fields })).status).toBe(200);
});

test('while GitHub does not answer, nothing is changed, and the page says when to try again', async () => {
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
  acme.github.goDown();
  for (const path of ['/repos/acme/web/admins', '/repos/acme/owners']) {
    const { status, text, headers } = await send('ada', path);
    expect(status).toBe(503);
    expect(text).toContain('<h1>Nothing was changed</h1>');
    expect(headers.get('retry-after')).toBe('10');
  }
  expect(changes).toEqual([]);
});

test('texts that the database cannot store, and forms that are too large, are refused', async () => {
  expect((await send('ada', '/repos/acme/web/admins', { fields: { reason: 'a\0b' } })).status).toBe(422);
  const large = { reason: 'x'.repeat(1024 * 1024 + 1) };
  const answer = await send('ada', '/repos/acme/web/admins', { fields: large });
  expect(answer.status).toBe(413);
  expect(answer.text).toContain('<h1>Nothing was changed</h1>');
  expect(changes).toEqual([]);
});

test('a refusal of a change is shown, with the way back to the form', async () => {
  await acme.advanceTo(new Date(acme.clock.now() + 180_000));
  refuse = conflict('Somebody was faster.');
  const referer = 'https://holdfast.example/owners/acme/freeze';
  const { status, text } = await send('ada', '/repos/acme/web/admins', {
    headers: { ...own, Referer: referer },
  });
  refuse = null;
  expect(status).toBe(409);
  expect(text).toContain('<h1>Nothing was changed</h1>');
  expect(text).toContain('Somebody was faster.');
  expect(text).toContain('href="/owners/acme/freeze"');
  const foreign = await send('mallory', '/repos/acme/owners', {
    headers: { ...own, Referer: 'https://evil.example/owners/acme/freeze' },
  });
  expect(foreign.text).not.toContain('/owners/acme/freeze');
});

test('one person can make a limited number of changes in a minute', async () => {
  await acme.advanceTo(new Date(acme.clock.now() + 180_000));
  for (let count = 0; count < changesPerMinute; count++)
    expect((await send('wendy', '/repos/acme/web/writers')).status).toBe(200);
  expect((await send('wendy', '/repos/acme/web/writers')).status).toBe(429);
  expect((await send('ada', '/repos/acme/web/admins')).status).toBe(200);
});

test('a form that cannot be read counts as one', async () => {
  await acme.advanceTo(new Date(acme.clock.now() + 180_000));
  const broken = { fields: { reason: 'a\0b' } };
  for (let count = 0; count < changesPerMinute; count++)
    expect((await send('wendy', '/repos/acme/web/writers', broken)).status).toBe(422);
  expect((await send('wendy', '/repos/acme/web/writers', broken)).status).toBe(429);
});
