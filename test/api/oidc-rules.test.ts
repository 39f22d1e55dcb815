import { describe, expect, test } from 'vitest';
import { acmeForAll } from './acme.ts';

const acme = acmeForAll();

const body = { name: 'release', refs: ['refs/heads/main'], may: ['push_scopes', 'freeze'] };
const path = '/v1/oidc_rules/acme';
const make = (more: object = {}, as = acme.keys.admin, headers = {}) =>
  acme.call('POST', path, { as, headers, body: { ...body, ...more } });
/** Of two rules the older one comes first. */
const tick = () => acme.clock.setTime(new Date(acme.clock.now() + 1000));
const list = async () => (await acme.call('GET', path, { as: acme.keys.admin })).body.oidc_rules;
const remove = (id: string, as = acme.keys.admin) => acme.call('DELETE', `${path}/${id}`, { as });
const events = async () => {
  const { body } = await acme.call('GET', '/v1/logs/acme?per_page=100', { as: acme.keys.admin });
  return body.events.filter(({ type }: { type: string }) => type.startsWith('oidc_rule.'));
};

test('a rule is made, listed and deleted, and the audit log has each change', async () => {
  const made = await make({ repositories: ['web', 'api-*'], environments: ['production'] }, acme.people.ada);
  expect([made.status, made.body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...body,
      repositories: ['web', 'api-*'],
      environments: ['production'],
      created_by: { type: 'user', id: expect.any(Number), name: 'ada' },
      created_at: '2026-03-01T09:00:00.000Z',
    },
  ]);
  await tick();
  const small = (await make({ name: 'scopes', refs: null, may: ['push_scopes'] })).body;
  expect(small).toMatchObject({ repositories: null, refs: null, environments: null });
  expect(await list()).toEqual([made.body, small]);
  expect((await remove(made.body.id.toUpperCase())).status).toBe(204);
  expect(await list()).toEqual([small]);
  const again = await remove(made.body.id);
  expect([again.status, again.body.detail]).toEqual([
    404,
    `acme has no OIDC rule ${made.body.id}. List them to see which there are.`,
  ]);
  expect((await remove(small.id)).status).toBe(204);
  const [, deleted, , created] = await events();
  const { id: oidc_rule_id, created_by, created_at, ...oidc_rule_attributes } = made.body;
  expect(created).toMatchObject({
    type: 'oidc_rule.create',
    repository: null,
    metadata: { oidc_rule_id, oidc_rule_attributes, created_by, created_at },
  });
  expect(deleted).toMatchObject({
    type: 'oidc_rule.delete',
    metadata: { oidc_rule_id, oidc_rule_attributes, deleted_by: { type: 'application', name: 'admin key' } },
  });
});

test('a rule of another owner is not there', async () => {
  const { id } = (await make()).body;
  expect(
    (await acme.call('DELETE', `/v1/oidc_rules/globex/${id}`, { as: acme.keys.foreignAdmin })).status,
  ).toBe(404);
  expect((await list()).map((rule: { id: string }) => rule.id)).toContain(id);
  await remove(id);
});

test('a retry with an Idempotency-Key makes one rule', async () => {
  const key = { 'Idempotency-Key': crypto.randomUUID() };
  const first = await make({}, acme.keys.admin, key);
  const second = await make({}, acme.keys.admin, key);
  expect(second.body).toEqual(first.body);
  expect(await list()).toHaveLength(1);
  await remove(first.body.id);
});

describe('a validation error names the field and what to send', () => {
  test.each([
    [{ name: '' }, 'name', 'A name has at least 1 character.'],
    [{ name: 'x'.repeat(256) }, 'name', 'A name may have at most 255 characters.'],
    [{ name: undefined }, 'name', /./],
    [{ may: [] }, 'may', 'Send ["push_scopes"] or ["push_scopes", "freeze"].'],
    [{ may: ['freeze'] }, 'may', 'Send ["push_scopes"] or ["push_scopes", "freeze"].'],
    [{ may: undefined }, 'may', /./],
    [{ may: ['push_scopes', 'delete'] }, 'may', /push_scopes/],
    [{ repositories: [] }, 'repositories', 'Name at least one, or send null for any.'],
    [{ repositories: ['{a'] }, 'repositories', /^This is not a glob: /],
    [{ repositories: 'web' }, 'repositories', /./],
    [{ refs: ['main'] }, 'refs', /^Write the whole ref, such as refs\/heads\/main/],
    [{ refs: ['*'] }, 'refs', /^Write the whole ref/],
    [{ refs: ['refs/heads/[a', 'refs/heads/{'] }, 'refs', /^This is not a glob: /],
    [{ refs: Array(51).fill('refs/heads/main') }, 'refs', 'Name at most 50.'],
    [{ environments: [''] }, 'environments', 'A glob has at least 1 character.'],
    [
      { refs: null },
      'refs',
      'A rule that lets jobs freeze names refs or environments: else everybody who can push a branch can freeze. To mean that, send ["**"].',
    ],
  ])('%j', async (more, field, message) => {
    const { status, body } = await make(more);
    expect(status).toBe(422);
    const [problem] = body.detail;
    expect(problem.loc.slice(0, 2)).toEqual(['body', field]);
    expect(problem.msg).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
    expect(await list()).toEqual([]);
  });
});

test('a rule that a key made ends with that key', async () => {
  const headers = { as: acme.keys.admin };
  const expires_at = new Date(acme.clock.now() + 3_600_000).toISOString();
  const newKey = async (more = {}) =>
    (
      await acme.call('POST', '/v1/applications/acme', {
        ...headers,
        body: { name: 'tool', scope: 'admin', ...more },
      })
    ).body;
  const [revoked, expiring] = [await newKey(), await newKey({ expires_at })];
  const one = (await make({ name: 'one' }, revoked.secret)).body;
  await tick();
  const other = (await make({ name: 'other' }, expiring.secret)).body;
  const names = async () => (await list()).map(({ name }: { name: string }) => name);
  expect(await names()).toEqual(['one', 'other']);
  await acme.call('DELETE', `/v1/applications/acme/${revoked.id}`, headers);
  expect(await names()).toEqual(['other']);
  expect((await remove(one.id)).status).toBe(404);
  const audience = 'https://holdfast.example';
  const state = '/v1/repos/acme/web/freeze_state';
  expect((await acme.call('GET', state, { as: acme.github.jobToken('acme/web', { audience }) })).status).toBe(
    200,
  );
  await acme.clock.setTime(new Date(expires_at));
  expect(await names()).toEqual([]);
  expect((await acme.call('GET', state, { as: acme.github.jobToken('acme/web', { audience }) })).status).toBe(
    403,
  );
  expect((await remove(other.id)).status).toBe(404);
});

test('an owner has 100 rules at most', async () => {
  const before = await list();
  expect(before).toEqual([]);
  const made = await Promise.all(Array.from({ length: 99 }, () => make()));
  const race = await Promise.all([make(), make()]);
  expect([...made, ...race].map(({ status }) => status).toSorted()).toEqual([...Array(100).fill(201), 409]);
  const refused = race.find(({ status }) => status === 409)!;
  expect(refused.body.detail).toMatch(/^acme has 100 OIDC rules, the most there can be\. Delete one first/);
});
