import { inspect } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { Permissions } from '../../src/auth/permissions.ts';
import type { JobQueue } from '../../src/database/queue/queue.ts';
import { KnownCredentials } from '../../src/github/limits/caller-limits.ts';
import { createApi } from '../../src/server/service.ts';
import { acmeForAll } from '../api/acme.ts';

const list = '/v1/repos/acme/vault/scheduled_freeze';

const acme = acmeForAll();
/** A second process of the service on the same database: its own memory, the same rows. */
let replica: (path: string, as: string, method?: string) => Promise<number>;

beforeAll(async () => {
  const { deps } = acme.app;
  const api = createApi(deps, deps.queue as JobQueue);
  replica = async (path, as, method = 'GET') =>
    (await api.request(path, { method, headers: { Authorization: `Bearer ${as}` } })).status;
});

const later = (seconds: number) => acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));

/** Asks, and tells how many questions that was to GitHub. */
async function ask(as: string, path = list) {
  acme.github.requests.clear();
  const { status } = await acme.call('GET', path, { as });
  return { status, questions: acme.github.requests.length };
}

test('a caller is known by their own credential', async () => {
  const { deps } = acme.app;
  const known = new KnownCredentials(acme.clock);
  await known.remember(deps, 'a credential');
  expect([await known.has(deps, 'a credential'), await known.has(deps, 'another')]).toEqual([true, false]);
});

test('a yes is remembered for 60 s and not longer', async () => {
  const token = acme.github.addToken('rita');
  expect(await ask(token)).toEqual({ status: 200, questions: 2 });
  await later(59);
  expect(await ask(token)).toEqual({ status: 200, questions: 0 });
  await later(1);
  expect(await ask(token)).toEqual({ status: 200, questions: 2 });
});

test('a token that GitHub does not know is remembered for 10 minutes and not longer', async () => {
  const unknown = 'ghp_nobodyHoldsThisToken0000000000000000';
  expect(await ask(unknown)).toEqual({ status: 403, questions: 1 });
  await later(599);
  expect(await ask(unknown)).toEqual({ status: 403, questions: 0 });
  await later(1);
  expect(await ask(unknown)).toEqual({ status: 403, questions: 1 });
});

test('a request for an exemption by a person who can only read is asked about once in 10 s', async () => {
  const token = acme.github.addToken('rea');
  const path = '/v1/repos/acme/vault/pulls/1/exemptions';
  acme.github.requests.clear();
  const send = () => acme.call('POST', path, { as: token, body: { reason: 'A fix' } });
  const permissionsAsked = () =>
    acme.github.requests.filter(({ path: asked }) => asked.endsWith('/permission')).length;
  const answers = await Promise.all([send(), send(), send()]);
  expect([...answers, await send()].map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  expect(permissionsAsked()).toBe(1);
  await later(10);
  expect((await send()).status).toBe(403);
  expect(permissionsAsked()).toBe(2);
});

test('a person without rights is remembered for 10 s, although the token is good', async () => {
  const token = acme.github.addToken('rea');
  expect(await ask(token)).toEqual({ status: 403, questions: 2 });
  acme.github.setRole('acme/vault', 'rea', 'admin');
  await later(9);
  expect(await ask(token)).toEqual({ status: 403, questions: 0 });
  await later(1);
  expect(await ask(token)).toEqual({ status: 200, questions: 1 });
  acme.github.setRole('acme/vault', 'rea', 'read');
});

test('a lost role is noticed within 60 s', async () => {
  const token = acme.github.addToken('rita');
  expect((await ask(token)).status).toBe(200);
  acme.github.setRole('acme/vault', 'rita', null);
  await later(60);
  expect((await ask(token)).status).toBe(404);
  acme.github.setRole('acme/vault', 'rita', 'admin');
});

test('an admin who left the organization is noticed within 60 s', async () => {
  acme.github.addUser('lea');
  acme.github.setMembership('acme', 'lea', 'admin');
  const token = acme.github.addToken('lea');
  const path = '/v1/default_products/acme';
  expect(await ask(token, path)).toEqual({ status: 200, questions: 2 });
  expect(await ask(token, path)).toEqual({ status: 200, questions: 0 });
  acme.github.setMembership('acme', 'lea', null);
  await later(60);
  expect((await ask(token, path)).status).toBe(403);
});

test('a token revoked on GitHub is noticed within 60 s', async () => {
  const token = acme.github.addToken('rita');
  expect((await ask(token)).status).toBe(200);
  acme.github.revokeToken(token);
  await later(60);
  expect((await ask(token)).status).toBe(403);
});

test('a yes for one repository does not count for another, or for another token of the same person', async () => {
  const token = acme.github.addToken('rita');
  await ask(token);
  expect(await ask(token, '/v1/repos/acme/web/scheduled_freeze')).toEqual({ status: 200, questions: 1 });
  expect(await ask(acme.github.addToken('rita'))).toEqual({ status: 200, questions: 2 });
});

test.each(['502', 'reset'] as const)(
  'an outage (%s) is remembered neither as a no nor as a yes',
  async (how) => {
    const token = acme.github.addToken('rita');
    acme.github.goDown(how);
    expect((await ask(token)).status).toBe(503);
    acme.github.comeBack();
    expect((await ask(token)).status).toBe(200);
    acme.github.goDown(how);
    expect((await ask(token)).status).toBe(200);
    await later(60);
    expect((await ask(token)).status).toBe(503);
    acme.github.comeBack();
  },
);

test.each([
  ['secondary-limit', 403],
  ['secondary-limit', 429],
  ['primary-limit', 403],
  ['primary-limit', 429],
  ['status', 500],
  ['status', 503],
] as const)("GitHub's %s (%i) is not a verdict, either", async (kind, status) => {
  const token = acme.github.addToken('rita');
  for (const path of [/^\/user$/, /permission$/]) {
    const fault = acme.github.faults.add({ match: { path }, kind, status, retryAfter: 30 });
    const answer = await acme.call('GET', list, { as: token });
    fault.remove();
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await ask(token)).status).toBe(200);
});

test('a key revoked through the interface is refused at once by every process', async () => {
  const body = { name: 'to be revoked', scope: 'admin' };
  const made = (await acme.call('POST', '/v1/applications/acme', { as: acme.people.ada, body })).body;
  expect([(await ask(made.secret)).status, await replica(list, made.secret)]).toEqual([200, 200]);
  expect(await replica(`/v1/applications/acme/${made.id}`, acme.people.ada, 'DELETE')).toBe(204);
  expect([(await ask(made.secret)).status, await replica(list, made.secret)]).toEqual([403, 403]);
});

test('a key is refused from the instant of its expiry on', async () => {
  const key = await acme.key('acme', 'admin', { expiresAt: new Date(acme.clock.now() + 60_000) });
  await later(59.999);
  expect([(await ask(key)).status, await replica(list, key)]).toEqual([200, 200]);
  await later(0.001);
  expect([(await ask(key)).status, await replica(list, key)]).toEqual([403, 403]);
});

test('the cache holds no token', async () => {
  const permissions = new Permissions(acme.clock);
  const { deps } = acme.app;
  await permissions.holderOf(deps, acme.people.ada);
  await permissions.holderOf(deps, 'ghp_unknownTokenThatMustNotBeKept0000000');
  const seenInMemory: [key: unknown, text: string][] = [];
  let verdict: unknown;
  const { Map: RealMap } = globalThis;
  const { set } = RealMap.prototype;
  RealMap.prototype.set = function (key: unknown, value: unknown) {
    seenInMemory.push([key, inspect([key, value], { depth: 4 })]);
    return set.call(this, key, value);
  };
  try {
    verdict = await new Permissions(acme.clock).holderOf(deps, acme.people.ada);
  } finally {
    RealMap.prototype.set = set;
  }
  // The question that is under way, and the answer: both under an HMAC.
  const remembered = seenInMemory.filter(([key]) => /^[\w+/]{43}=$/.test(String(key)));
  expect(remembered.length).toBeGreaterThanOrEqual(2);
  for (const [, text] of remembered) expect(text).not.toContain(acme.people.ada.slice(4));
  expect(inspect(verdict, { depth: 4 })).not.toContain(acme.people.ada.slice(4));
});
