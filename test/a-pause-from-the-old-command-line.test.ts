import { expect, test } from 'vitest';
import { free, acmeForAll } from './support/acme.ts';

// The public command line pauses a merge queue with these requests, and reads these fields. Here it is spoken for.

const acme = acmeForAll();

/** A request as that client makes it: a bearer token, and JSON only if there is a body. */
async function send(method: string, repository: string, body?: object) {
  const url = `${acme.app.url}/v1/repos/${repository}/merge-queue/pause`;
  const answer = await fetch(url, {
    method,
    headers: {
      Authorization: `Bearer ${acme.admin}`,
      'User-Agent': 'mergify-cli/2026.1',
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
}

async function ask(method: string, repository: string, body?: object) {
  const answer = await send(method, repository, body);
  await acme.quiet();
  return answer;
}

type Freeze = { reason: string };

const freezes = async (repository: string) =>
  (await acme.call('GET', `/v1/repos/${repository}/scheduled_freeze`, { as: acme.admin })).body
    .scheduled_freezes;
const events = async (repository: string) =>
  (await acme.call('GET', `/v1/repos/${repository}/logs`, { as: acme.admin })).body.events.map(
    ({ type }: { type: string }) => type,
  );

const unpaused = { paused: false, reason: null, paused_at: null };
const since = '2026-03-01T09:00:00.000Z';

test('queue pause, queue pause with another reason, queue unpause', async () => {
  const web = await acme.repository('web', [{}, { labels: ['hotfix'] }]);
  expect(await ask('GET', web)).toEqual({ status: 200, body: unpaused });

  const paused = await ask('PUT', web, { reason: 'Broken main' });
  expect(paused).toEqual({ status: 200, body: { paused: true, reason: 'Broken main', paused_at: since } });
  expect(await ask('GET', web)).toEqual(paused);
  expect(acme.frozen(web)).toEqual([1, 2]);
  expect(acme.shown(web, 1)?.description).toBe('Frozen until removed: Broken main');

  // It is a freeze as any other, and changing it there changes the pause.
  const [freeze, ...more] = await freezes(web);
  expect(more).toEqual([]);
  expect(freeze).toEqual({
    id: expect.any(String),
    reason: 'Broken main',
    start: '2026-03-01T09:00:00',
    end: null,
    timezone: 'UTC',
    matching_conditions: [],
    exclude_conditions: [],
  });

  await acme.advanceTo('2026-03-01T10:00:00Z');
  const again = await ask('PUT', web, { reason: 'Main is being mended' });
  expect(again.body).toEqual({ paused: true, reason: 'Main is being mended', paused_at: since });
  expect(await freezes(web)).toEqual([{ ...freeze, reason: 'Main is being mended' }]);
  expect(acme.shown(web, 1)?.description).toBe('Frozen until removed: Main is being mended');
  await acme.update(web, freeze.id, { exclude_conditions: ['label=hotfix'] });
  expect(acme.frozen(web)).toEqual([1]);

  const page = await (await fetch(`${acme.app.url}/repos/${web}`)).text();
  expect(page).toContain('Pause of the merge queue');

  expect(await ask('DELETE', web)).toEqual({ status: 204, body: null });
  expect(await ask('GET', web)).toEqual({ status: 200, body: unpaused });
  expect(await freezes(web)).toEqual([]);
  expect(acme.shown(web, 1)).toEqual(free);
  // Also when nothing is paused.
  expect(await ask('DELETE', web)).toEqual({ status: 204, body: null });
  expect(await events(web)).toEqual([
    'scheduled_freeze.delete',
    'scheduled_freeze.update',
    'scheduled_freeze.update',
    'scheduled_freeze.create',
  ]);
});

test('deleting or ending the freeze ends the pause; another freeze is not a pause', async () => {
  const lib = await acme.repository('lib', [{}]);
  await acme.freeze(lib);
  expect((await ask('GET', lib)).body).toEqual(unpaused);
  await ask('PUT', lib, { reason: 'One' });
  const paused = async (reason: string) =>
    (await freezes(lib)).find((freeze: Freeze) => freeze.reason === reason);
  const pause = await paused('One');
  await acme.remove(lib, pause.id);
  expect((await ask('GET', lib)).body).toEqual(unpaused);

  await ask('PUT', lib, { reason: 'Two' });
  const other = await paused('Two');
  await acme.update(lib, other.id, { end: '2026-03-01T11:00:00' });
  expect((await ask('GET', lib)).body).toMatchObject({ paused: true, reason: 'Two' });
  await acme.advanceTo('2026-03-01T11:00:00Z');
  expect((await ask('GET', lib)).body).toEqual(unpaused);
  expect((await ask('PUT', lib, { reason: 'Three' })).body).toMatchObject({ paused: true, reason: 'Three' });
});

test('it has no end, even if the settings give other freezes one', async () => {
  const api = await acme.repository('api', [{}]);
  const path = `/v1/repos/${api}/settings`;
  await acme.call('PATCH', path, { as: acme.admin, body: { longest_open_end_hours: 2 } });
  await ask('PUT', api, { reason: 'Broken main' });
  const [pause] = await freezes(api);
  expect(pause.end).toBeNull();
  await acme.update(api, pause.id, { end: '2027-01-01T00:00:00' });
  expect(await acme.update(api, pause.id, { end: null })).toMatchObject({ end: null });
});

test('unpausing an archived repository without a pause is not an error; a pause there stays', async () => {
  for (const [name, status] of [
    ['attic', 204],
    ['cellar', 409],
  ] as const) {
    const repository = await acme.repository(name, [{}]);
    if (status === 409) await ask('PUT', repository, { reason: 'One' });
    acme.github.archive(repository);
    await acme.quiet();
    expect((await ask('DELETE', repository)).status).toBe(status);
  }
});

test('pausing again undoes changes of the pause', async () => {
  const doc = await acme.repository('doc', [{}]);
  await ask('PUT', doc, { reason: 'One' });
  const [pause] = await freezes(doc);
  await acme.update(doc, pause.id, {
    end: '2027-01-01T00:00:00',
    matching_conditions: ['base=release'],
    exclude_conditions: ['draft'],
    holds: ['deployments'],
    environments: ['production'],
  });
  expect(acme.frozen(doc)).toEqual([]);
  expect((await ask('PUT', doc, { reason: 'One' })).body).toMatchObject({ paused: true, reason: 'One' });
  await acme.quiet();
  expect(acme.frozen(doc)).toEqual([1]);
  expect(await freezes(doc)).toEqual([pause]);
});

test('of many requests at once, one makes the pause, and the others change its reason', async () => {
  const many = await acme.repository('many', [{}]);
  const reasons = Array.from({ length: 8 }, (_, index) => `Reason ${index}`);
  const answers = await Promise.all(reasons.map((reason) => send('PUT', many, { reason })));
  expect(answers.map(({ status }) => status)).toEqual(reasons.map(() => 200));
  expect(answers.map(({ body }) => body.reason)).toEqual(reasons);
  expect(await freezes(many)).toHaveLength(1);
  const types = await events(many);
  expect(types.filter((type: string) => type === 'scheduled_freeze.create')).toHaveLength(1);
  const gone = await Promise.all([1, 2, 3].map(() => send('DELETE', many)));
  expect(gone.map(({ status }) => status)).toEqual([204, 204, 204]);
});

test('a reason has 1 to 255 characters', async () => {
  for (const reason of ['', 'x'.repeat(256), null]) {
    const { status, body } = await ask('PUT', 'acme/web', { reason: reason! });
    expect([status, body.detail[0].loc]).toEqual([422, ['body', 'reason']]);
  }
  expect((await ask('PUT', 'acme/web', { reason: '𝔞'.repeat(255) })).status).toBe(200);
  expect((await ask('DELETE', 'acme/web')).status).toBe(204);
});

test('if freezes are switched off, it is refused, with the call to make', async () => {
  const off = await acme.repository('off');
  await acme.setProducts(off, []);
  const { status, body } = await ask('PUT', off, { reason: 'Broken main' });
  expect(status).toBe(409);
  expect(body.detail).toContain('PUT /v1/products/acme/off');
  expect((await ask('DELETE', off)).status).toBe(204);
});
