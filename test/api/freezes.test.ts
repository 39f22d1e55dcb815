import { describe, expect, test } from 'vitest';
import { freezeBody, acmeForAll } from './acme.ts';

const acme = acmeForAll();

const at = (repository: string, rest = '') => `/v1/repos/${repository}/scheduled_freeze${rest}`;
const as = () => ({ as: acme.keys.admin });
const list = async (repository = 'acme/web') =>
  (await acme.call('GET', at(repository), as())).body.scheduled_freezes as { id: string }[];

test('a freeze is created, listed, changed and deleted', async () => {
  expect((await acme.call('GET', at('acme/web'), as())).body).toEqual({ scheduled_freezes: [] });
  const created = await acme.call('POST', at('acme/web'), { ...as(), body: freezeBody });
  expect(created.status).toBe(201);
  expect(created.headers.get('content-type')).toMatch(/^application\/json/);
  const { id } = created.body;
  expect(created.body).toEqual({ ...freezeBody, id, exclude_conditions: [] });
  expect(id).toMatch(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
  expect(await list()).toEqual([created.body]);

  const changed = await acme.call('PATCH', at('acme/web', `/${id}`), { ...as(), body: { reason: 'Later' } });
  expect(changed.status).toBe(200);
  expect(changed.body).toEqual({ ...created.body, reason: 'Later' });
  expect(await list()).toEqual([changed.body]);

  const body = { delete_reason: 'Released' };
  const deleted = await acme.call('POST', at('acme/web', `/${id}/delete`), { ...as(), body });
  expect([deleted.status, deleted.text]).toEqual([204, '']);
  expect(await list()).toEqual([]);
  const row = await acme.app.deps.db.freeze.findUniqueOrThrow({ where: { id } });
  expect(row).toMatchObject({ deleteReason: 'Released', deletedBy: { type: 'application' } });
  expect(row.deletedAt).toEqual(new Date(acme.clock.now()));
});

test('the shortest request makes a freeze of everything, without an end', async () => {
  const body = { reason: 'Incident', start: null, timezone: 'UTC' };
  const { body: freeze } = await acme.call('POST', at('acme/vault'), { ...as(), body });
  expect(freeze).toEqual({
    ...body,
    id: freeze.id,
    start: '2026-03-01T09:00:00',
    end: null,
    matching_conditions: [],
    exclude_conditions: [],
  });
  expect(await list('acme/vault')).toEqual([freeze]);
  expect(await list('acme/web')).toEqual([]);
});

test('the earliest start is listed first', async () => {
  for (const start of ['2026-03-05T00:00:00', '2026-03-03T00:00:00', '2026-03-04T00:00:00'])
    await acme.freeze({ start, end: null });
  expect((await list()).map((freeze) => (freeze as unknown as { start: string }).start)).toEqual([
    '2026-03-03T00:00:00',
    '2026-03-04T00:00:00',
    '2026-03-05T00:00:00',
  ]);
});

test('names match in any case, and data follows a rename', async () => {
  acme.github.addRepository('acme/Old');
  await acme.quiet();
  const { id } = await acme.freeze({}, 'ACME/oLd');
  expect((await list('acme/Old')).map((freeze) => freeze.id)).toEqual([id]);
  acme.github.renameRepository('acme/Old', 'New');
  await acme.quiet();
  expect((await list('acme/new')).map((freeze) => freeze.id)).toEqual([id]);
});

test('a repository that no webhook announced is found at its first use', async () => {
  acme.github.webhookFaults.add({ kind: 'drop', event: 'repository' });
  acme.github.addRepository('acme/quiet');
  await acme.github.settled();
  acme.github.webhookFaults.clear();
  expect(await list('acme/quiet')).toEqual([]);
});

describe('the deprecated delete', () => {
  test('works, and names its successor', async () => {
    const { id } = await acme.freeze();
    const body = { delete_reason: 'Released' };
    const answer = await acme.call('DELETE', at('acme/web', `/${id}`), { ...as(), body });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('deprecation')).toMatch(/^@\d{10}$/);
    expect(answer.headers.get('link')).toBe(`<${at('acme/web', `/${id}/delete`)}>; rel="successor-version"`);
    expect((await list()).some((freeze) => freeze.id === id)).toBe(false);
  });

  test('names it on a refusal as well', async () => {
    const answer = await acme.call('DELETE', at('acme/web', `/${crypto.randomUUID()}`), {
      ...as(),
      body: { delete_reason: 'x' },
    });
    expect(answer.status).toBe(404);
    expect(answer.headers.get('link')).toMatch(/rel="successor-version"/);
  });

  test('no other route is deprecated', async () => {
    const answer = await acme.call('GET', at('acme/web'), as());
    expect([answer.headers.get('deprecation'), answer.headers.get('link')]).toEqual([null, null]);
  });
});

describe('conflicts', () => {
  test('of several changes of the same version, one wins and the others get an error', async () => {
    const { id } = await acme.freeze();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        acme.call('PATCH', at('acme/web', `/${id}`), { ...as(), body: { reason: `change ${index}` } }),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    const lost = answers.filter(({ status }) => status === 409);
    expect(won.length).toBeGreaterThan(0);
    expect(won.length + lost.length).toBe(8);
    for (const { body } of lost) expect(body.detail).toMatch(/concurrent change.*try again/);
    const row = await acme.app.deps.db.freeze.findUniqueOrThrow({ where: { id } });
    expect(row.version).toBe(1 + won.length);
    expect(won.map(({ body }) => body.reason)).toContain(row.reason);
    const events = await acme.app.deps.db.auditEvent.count({
      where: { type: 'scheduled_freeze.update', metadata: { path: ['scheduled_freeze_id'], equals: id } },
    });
    expect(events).toBe(won.length);
  });

  test('a change from before another one was saved is refused, and leaves nothing', async () => {
    const { id } = await acme.freeze();
    const { db } = acme.app.deps;
    await acme.quiet();
    // Somebody else saves between the reading and the writing of this change.
    acme.app.deps.db = new Proxy(db, {
      get: (target, name, receiver) =>
        name !== '$transaction'
          ? (Reflect.get(target, name, receiver) as unknown)
          : async (work: never) => {
              const data = { reason: 'theirs', version: { increment: 1 } };
              await db.freeze.update({ where: { id }, data });
              return db.$transaction(work);
            },
    });
    const answer = await acme.call('PATCH', at('acme/web', `/${id}`), { ...as(), body: { reason: 'mine' } });
    acme.app.deps.db = db;
    expect(answer.status).toBe(409);
    expect(answer.body.detail).toMatch(/concurrent change/);
    const row = await db.freeze.findUniqueOrThrow({ where: { id } });
    expect([row.reason, row.version]).toEqual(['theirs', 2]);
    const told = { path: ['scheduled_freeze_id'], equals: id };
    expect(await db.auditEvent.count({ where: { metadata: told } })).toBe(1);
  });

  test('a freeze is deleted once', async () => {
    const { id } = await acme.freeze();
    const body = { delete_reason: 'x' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => acme.call('POST', at('acme/web', `/${id}/delete`), { ...as(), body })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(204);
    for (const status of statuses.slice(1)) expect([404, 409]).toContain(status);
  });

  test('an archived repository takes no writes, and can be read', async () => {
    const written = await acme.watchWrites();
    const answer = await acme.call('POST', at('acme/attic'), { ...as(), body: freezeBody });
    expect(answer.status).toBe(409);
    expect(answer.body.detail).toMatch(/acme\/attic is archived.*Unarchive it/);
    const products = { ...as(), body: { products: [] } };
    expect((await acme.call('PUT', '/v1/products/acme/attic', products)).status).toBe(409);
    const scopes = { as: acme.keys.ci, body: { scopes: [] } };
    expect((await acme.call('PUT', '/v1/repos/acme/attic/pulls/1/scopes', scopes)).status).toBe(409);
    expect(await written()).toEqual([]);
    expect(await list('acme/attic')).toEqual([]);
  });

  test('a suspended installation takes no writes, and can be read by its admins', async () => {
    const { id } = await acme.freeze();
    acme.github.suspend('acme');
    await acme.quiet();
    const admins = [acme.keys.admin, acme.people.ada, acme.people.rita];
    try {
      for (const caller of admins)
        expect((await acme.call('GET', at('acme/web'), { as: caller })).status).toBe(200);
      const written = await acme.watchWrites();
      for (const caller of admins) {
        const write = { as: caller, body: { ...freezeBody, delete_reason: 'x' } };
        for (const [method, path] of [
          ['POST', at('acme/web')],
          ['PATCH', at('acme/web', `/${id}`)],
          ['DELETE', at('acme/web', `/${id}`)],
          ['POST', at('acme/web', `/${id}/delete`)],
        ] as const) {
          const answer = await acme.call(method, path, write);
          expect(answer.status).toBe(409);
          expect(answer.body.detail).toMatch(/suspended.*Unsuspend it/);
        }
      }
      // For everybody else it answers as one that is not there.
      for (const [name, caller] of [
        ['web', 'rea'],
        ['web', 'wes'],
        ['vault', 'eve'],
      ] as const) {
        const { status, body } = await acme.call('GET', at(`acme/${name}`), { as: acme.people[caller] });
        const absent = await acme.call('GET', at('acme/nowhere'), { as: acme.people[caller] });
        expect(status).toBe(404);
        expect(body.detail).toBe(absent.body.detail.replace('nowhere', name));
      }
      expect(await written()).toEqual([]);
    } finally {
      acme.github.unsuspend('acme');
      await acme.quiet();
    }
  });

  test('at the first request for a repository, a suspended installation shows nothing: 409', async () => {
    acme.github.webhookFaults.add({ kind: 'drop', event: 'repository' });
    acme.github.addRepository('acme/unseen');
    acme.github.suspend('acme');
    await acme.quiet();
    acme.github.webhookFaults.clear();
    try {
      expect((await acme.call('GET', at('acme/unseen'), as())).status).toBe(409);
    } finally {
      acme.github.unsuspend('acme');
      await acme.quiet();
    }
    expect(await list('acme/unseen')).toEqual([]);
  });

  test('if nothing enforces freezes, the answer names the call to make', async () => {
    const put = (products: string[]) =>
      acme.call('PUT', '/v1/products/acme/vault', { ...as(), body: { products } });
    await put(['ci_insights', 'workflow_automation']);
    const written = await acme.watchWrites();
    const refused = await acme.call('POST', at('acme/vault'), { ...as(), body: freezeBody });
    expect(refused.status).toBe(409);
    expect(refused.body.detail).toContain('PUT /v1/products/acme/vault');
    const named = JSON.parse(/\{.*\}/.exec(refused.body.detail)![0]);
    expect(await written()).toEqual([]);
    await put(named.products);
    expect((await acme.call('POST', at('acme/vault'), { ...as(), body: freezeBody })).status).toBe(201);
    await put(['merge_queue']);
    expect((await acme.call('POST', at('acme/vault'), { ...as(), body: freezeBody })).status).toBe(201);
  });
});

test('without the App installed there is nothing: 404 for a person, 403 for a key of others', async () => {
  acme.github.addOrganization('initech', { admins: ['ada'] });
  acme.github.addRepository('initech/web');
  for (const path of [at('initech/web'), '/v1/default_products/initech', '/v1/applications/initech']) {
    const answer = await acme.call('GET', path, { as: acme.people.ada });
    expect(answer.status).toBe(404);
    expect((await acme.call('GET', path, as())).status).toBe(403);
  }
});
