import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Acme, startAcme } from '../api/acme.ts';

let acme: Acme;
beforeAll(async () => {
  acme = await startAcme();
});
afterAll(() => acme.close());

const path = '/v1/applications/acme';
const make = (body: object, as = acme.people.ada) => acme.call('POST', path, { as, body });
const list = async () => (await acme.call('GET', path, { as: acme.people.ada })).body.applications;
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
  expect(await list()).toContainEqual(shown);
  expect(JSON.stringify(await list())).not.toContain('secret');
});

test('two keys are never alike, also under the same name', async () => {
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
  const before = await acme.snapshot();
  expect((await revoke()).status).toBe(404);
  expect(await acme.snapshot()).toBe(before);
});

test('a key of another owner is not there to be revoked', async () => {
  const { body } = await own(acme.keys.foreignAdmin);
  expect((await acme.call('DELETE', `${path}/${body.id}`, { as: acme.people.ada })).status).toBe(404);
  expect((await own(acme.keys.foreignAdmin)).status).toBe(200);
});

test('an admin key can make keys, and revoke itself', async () => {
  const { body } = await make({ name: 'first', scope: 'admin' });
  const second = await make({ name: 'second', scope: 'ci' }, body.secret);
  expect(second.status).toBe(201);
  expect((await acme.call('DELETE', `${path}/${body.id}`, { as: body.secret })).status).toBe(204);
  expect((await make({ name: 'third', scope: 'ci' }, body.secret)).status).toBe(403);
  expect((await own(second.body.secret)).status).toBe(200);
});

test('the owner in person administers a personal account', async () => {
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
