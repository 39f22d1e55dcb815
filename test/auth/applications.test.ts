import { describe, expect, test } from 'vitest';
import { acmeForAll } from '../api/acme.ts';

const acme = acmeForAll();

const path = '/v1/applications/acme';
const make = (body: object, as = acme.people.ada) => acme.call('POST', path, { as, body });
const list = async () => (await acme.call('GET', path, { as: acme.people.ada })).body.applications;
/** The events about keys in the audit log. */
const eventsOf = () =>
  acme.app.deps.db.auditEvent.findMany({
    where: { type: { startsWith: 'application_key.' } },
    orderBy: { id: 'asc' },
  });
const own = (as: string) => acme.call('GET', '/v1/application', { as });

test.each(['admin', 'ci'] as const)('a %s key is made, describes itself, and is listed', async (scope) => {
  const answer = await make({ name: `${scope} 🧊`, scope, expires_at: null });
  expect(answer.status).toBe(201);
  const { secret, ...shown } = answer.body;
  expect(secret).toMatch(new RegExp(`^hf_${scope}_[0-9A-Za-z]{38}$`));
  const { ownerId } = acme.github.repository('acme/web');
  expect(shown).toEqual({
    id: shown.id,
    name: `${scope} 🧊`,
    scope,
    account_scope: { id: ownerId, login: 'acme' },
    created_at: '2026-03-01T09:00:00.000Z',
    expires_at: null,
  });
  const itself = await own(secret);
  expect(itself.status).toBe(200);
  expect(itself.body).toEqual(shown);
  expect(await list()).toContainEqual(expect.objectContaining(shown));
  expect(JSON.stringify(await list())).not.toContain('secret');
});

test('of a person, a token is tried on a repository of theirs', async () => {
  const { github } = acme;
  github.addUser('pia');
  github.addRepository('pia/notes');
  github.install('pia');
  await acme.quiet();
  // The oldest repository of all belongs to acme, where this token can do nothing.
  const token = github.addToken('pia', { kind: 'fine-grained' });
  expect((await acme.call('GET', '/v1/applications/pia', { as: token })).status).toBe(200);
  const weak = github.addToken('pia', { kind: 'fine-grained', administration: false });
  expect((await acme.call('GET', '/v1/applications/pia', { as: weak })).status).toBe(403);
});

test('two keys always differ, even with the same name', async () => {
  const made = await Promise.all(Array.from({ length: 10 }, () => make({ name: 'same', scope: 'ci' })));
  expect(new Set(made.map(({ body }) => body.secret)).size).toBe(10);
  expect(new Set(made.map(({ body }) => body.id)).size).toBe(10);
});

test('an expiry is an instant, in any offset, and ends the key', async () => {
  const { body } = await make({ name: 'brief', scope: 'admin', expires_at: '2026-03-01T10:00:30+01:00' });
  expect(body.expires_at).toBe('2026-03-01T09:00:30.000Z');
  expect((await own(body.secret)).status).toBe(200);
  await acme.advanceTo('2026-03-01T09:00:30Z');
  expect((await own(body.secret)).status).toBe(403);
  // Shown until somebody removes it.
  expect((await list()).map(({ id }: { id: string }) => id)).toContain(body.id);
});

test('a revoked key is refused, no longer listed, and cannot be revoked again', async () => {
  const { body } = await make({ name: 'gone', scope: 'ci' });
  const revoke = () => acme.call('DELETE', `${path}/${body.id}`, { as: acme.keys.admin });
  const answer = await revoke();
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect((await own(body.secret)).status).toBe(403);
  expect((await list()).map(({ id }: { id: string }) => id)).not.toContain(body.id);
  const written = await acme.watchWrites();
  expect((await revoke()).status).toBe(404);
  expect(await written()).toEqual([]);
});

test('nobody can revoke a key of another owner', async () => {
  const { body } = await own(acme.keys.foreignAdmin);
  expect((await acme.call('DELETE', `${path}/${body.id}`, { as: acme.people.ada })).status).toBe(404);
  expect((await own(acme.keys.foreignAdmin)).status).toBe(200);
});

/** A key of Ada, and a line of keys of which each made the next one. */
async function line(names: string[], expiresAt: string | null = null) {
  const keys: { id: string; secret: string; name: string; expires_at: string | null }[] = [];
  for (const name of names) {
    const wanted = { name, scope: 'admin', expires_at: keys.length === 0 ? expiresAt : null };
    const answer = await make(wanted, keys.at(-1)?.secret);
    expect(answer.status, answer.text).toBe(201);
    keys.push(answer.body);
  }
  return keys;
}
const revoke = (id: string, as: string) => acme.call('DELETE', `${path}/${id}`, { as });
const statuses = async (keys: { secret: string }[]) =>
  Promise.all(keys.map(async ({ secret }) => (await own(secret)).status));

test('an admin key can make keys, which are revoked with it, at any depth', async () => {
  const keys = await line(['first', 'second', 'third']);
  const [, second, third] = keys;
  const ofAPerson = (await make({ name: 'of a person', scope: 'admin' })).body;
  const before = await eventsOf();
  expect((await revoke(second!.id, second!.secret)).status).toBe(204);
  expect(await statuses([...keys, ofAPerson])).toEqual([200, 403, 403, 200]);
  const events = (await eventsOf()).slice(before.length);
  expect(events.map(({ type }) => type)).toEqual(['application_key.revoke', 'application_key.revoke']);
  const told = new Map(events.map(({ metadata }) => [(metadata as { key_id: string }).key_id, metadata]));
  expect(told.get(second!.id)).not.toHaveProperty('revoked_with');
  expect(told.get(third!.id)).toHaveProperty('revoked_with', second!.id);
  expect((await make({ name: 'more', scope: 'ci' }, second!.secret)).status).toBe(403);
});

test('a key that was revoked long ago does not break the lineage', async () => {
  const [first, second, third] = await line(['first', 'second', 'third']);
  // As versions left it that revoked a key alone.
  await acme.app.deps.db.applicationKey.update({
    where: { id: second!.id },
    data: { revokedAt: new Date(acme.clock.now()) },
  });
  expect(await statuses([third!])).toEqual([200]);
  expect((await revoke(first!.id, acme.people.ada)).status).toBe(204);
  expect(await statuses([third!])).toEqual([403]);
});

test('a key expires no later than the one that made it', async () => {
  const end = new Date(acme.clock.now() + 3_600_000).toISOString();
  const keys = await line(['first', 'second', 'third'], end);
  expect(keys.map((key) => key.expires_at)).toEqual([end, end, end]);
  const sooner = new Date(acme.clock.now() + 60_000).toISOString();
  const later = new Date(acme.clock.now() + 7_200_000).toISOString();
  const made = async (expires_at: string) =>
    (await make({ name: 'next', scope: 'ci', expires_at }, keys[0]!.secret)).body.expires_at;
  expect([await made(sooner), await made(later)]).toEqual([sooner, end]);
});

test('a key that is made during the revocation of its maker is revoked with it, or is not made', async () => {
  for (let round = 0; round < 5; round++) {
    const [maker] = await line([`maker ${round}`]);
    const [made] = await Promise.all([
      make({ name: `made ${round}`, scope: 'ci' }, maker!.secret),
      revoke(maker!.id, acme.people.ada),
    ]);
    if (made.status === 201) expect(await statuses([made.body])).toEqual([403]);
    else expect([made.status, made.body.detail]).toEqual([403, expect.any(String)]);
  }
});

test('the list says who made a key, and when it was last used, at most a minute ago', async () => {
  const [key] = await line(['watched']);
  const listed = async () => (await list()).find(({ id }: { id: string }) => id === key!.id);
  const ada = { type: 'user', id: expect.any(Number), name: 'ada' };
  expect(await listed()).toMatchObject({ created_by: ada, last_used_at: null });
  const usedAt = async (seconds: number) => {
    await acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));
    const at = new Date(acme.clock.now()).toISOString();
    expect((await own(key!.secret)).status).toBe(200);
    return { at, shown: (await listed()).last_used_at };
  };
  const first = await usedAt(1);
  expect(first.shown).toBe(first.at);
  expect((await usedAt(59)).shown).toBe(first.at);
  const third = await usedAt(1);
  expect(third.shown).toBe(third.at);
  expect((await make({ name: 'made', scope: 'ci' }, key!.secret)).status).toBe(201);
  const made = (await list()).find(({ name }: { name: string }) => name === 'made');
  expect(made.created_by).toEqual({ type: 'application', id: key!.id, name: 'watched' });
});

test('one request in a minute writes when a key was used, and the others do not', async () => {
  const [key] = await line(['busy']);
  const changes = async () => {
    const [row] = await acme.app.deps.db.$queryRaw<{ xmin: string }[]>`
      SELECT xmin::text FROM application_keys WHERE id = ${key!.id}::uuid`;
    return row!.xmin;
  };
  await own(key!.secret);
  const before = await changes();
  await Promise.all(Array.from({ length: 10 }, () => own(key!.secret)));
  expect(await changes()).toBe(before);
});

describe("the owner's log", () => {
  const read = async (query = '', as = acme.keys.admin) => acme.call('GET', `/v1/logs/acme${query}`, { as });

  test('shows what belongs to no repository, newest first, in pages', async () => {
    const { body: key } = await make({ name: 'logged', scope: 'ci' });
    await revoke(key.id, acme.keys.admin);
    await acme.call('PUT', '/v1/default_products/acme', { as: acme.keys.admin, body: { products: [] } });
    await acme.freeze();
    const page = await read('?per_page=3');
    expect(page.status, page.text).toBe(200);
    expect(page.body).toMatchObject({ size: 3, per_page: 3 });
    expect(page.body.events.map(({ type }: { type: string }) => type)).toEqual([
      'default_products.update',
      'application_key.revoke',
      'application_key.create',
    ]);
    for (const event of page.body.events)
      expect([event.repository, event.pull_request]).toEqual([null, null]);
    expect(page.body.events[1].metadata).toMatchObject({ key_id: key.id, key_name: 'logged' });
    expect(page.headers.get('link')).toMatch(
      /<https:\/\/holdfast\.example\/v1\/logs\/acme\?[^>]+>; rel="next"/,
    );
  });

  test('takes the filters of a repository’s log', async () => {
    const { body } = await read('?event_type=application_key.create&per_page=100');
    const types = new Set(body.events.map(({ type }: { type: string }) => type));
    expect([...types]).toEqual(['application_key.create']);
    expect((await read('?event_type=application_key.create&not_event_type=x')).status).toBe(422);
    expect(
      (await read('?received_from=2026-02-01T00:00:00Z&received_to=2026-02-02T00:00:00Z')).body.size,
    ).toBe(0);
  });

  test('is not that of another owner', async () => {
    const { body } = await acme.call('GET', '/v1/logs/globex?per_page=100', { as: acme.keys.foreignAdmin });
    expect(body.events).toEqual([]);
    expect((await read('', acme.keys.foreignAdmin)).status).toBe(403);
  });
});

test('the owner administers a personal account', async () => {
  const { token } = acme.github.addUser('paul');
  acme.github.addRepository('paul/home');
  acme.github.install('paul');
  await acme.quiet();
  const answer = await acme.call('POST', '/v1/applications/paul', {
    as: token,
    body: { name: 'mine', scope: 'admin' },
  });
  expect(answer.status).toBe(201);
  expect((await acme.call('GET', '/v1/repos/paul', { as: answer.body.secret })).status).toBe(200);
  expect((await acme.call('GET', '/v1/repos/paul', { as: acme.people.ada })).status).toBe(403);
});

test('who made and who revoked a key is in the audit log, the secret is not', async () => {
  const { body } = await make({ name: 'told', scope: 'ci' });
  await acme.call('DELETE', `${path}/${body.id}`, { as: acme.keys.admin });
  const events = await acme.app.deps.db.auditEvent.findMany({
    where: { metadata: { path: ['key_id'], equals: body.id } },
    orderBy: { id: 'asc' },
  });
  expect(events.map(({ type }) => type)).toEqual(['application_key.create', 'application_key.revoke']);
  expect(events[0]!.metadata).toMatchObject({ created_by: { type: 'user', name: 'ada' }, key_name: 'told' });
  expect(events[1]!.metadata).toMatchObject({ revoked_by: { type: 'application', name: 'admin key' } });
  expect(JSON.stringify(events.map(({ metadata }) => metadata))).not.toContain(body.secret);
});
