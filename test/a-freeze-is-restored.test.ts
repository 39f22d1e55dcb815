import { describe, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { readCalendar } from './support/calendars.ts';
import { instantHoldsOf } from './support/instant-holds.ts';

// Somebody ends a freeze by mistake, and takes that back within a minute.
const acme = acmeForAll({}, { lock: true });

const asAdmin = () => ({ as: acme.admin });
const pathOf = (repository: string, id: string) => `/v1/repos/${repository}/scheduled_freeze/${id}`;
const listed = async (repository: string) =>
  (await acme.call('GET', `/v1/repos/${repository}/scheduled_freeze`, asAdmin())).body.scheduled_freezes;
async function restore(repository: string, id: string, as = acme.admin) {
  const answer = await acme.call('POST', `${pathOf(repository, id)}/restore`, { as });
  await acme.quiet();
  return answer;
}
const eventsOf = async (repository: string, id: string) =>
  (await acme.call('GET', `/v1/repos/${repository}/logs?per_page=50`, asAdmin())).body.events
    .filter(
      ({ metadata }: { metadata: { scheduled_freeze_id?: string } }) => metadata.scheduled_freeze_id === id,
    )
    .map(({ type }: { type: string }) => type);
const later = async (seconds: number) =>
  acme.advanceTo(new Date(acme.clock.now() + seconds * 1000).toISOString());

describe('a freeze comes back under its id as it was, and holds again at once', () => {
  const end = '2026-03-09T09:00:00';
  const ways: [string, (repository: string, id: string) => Promise<unknown>][] = [
    ['after its deletion', (repository, id) => acme.remove(repository, id)],
    ['after its end', (repository, id) => acme.update(repository, id, { end: '2026-03-01T08:59:00' })],
    [
      'after an end that also changed what it says',
      (repository, id) =>
        acme.update(repository, id, { end: '2026-03-01T08:59:00', reason: 'Over', holds: null }),
    ],
  ];
  test.each(ways)('%s', async (name, endIt) => {
    const web = await acme.repository(name.replaceAll(' ', '-'), [{ labels: ['hotfix'] }, {}]);
    const start = '2026-02-28T00:00:00';
    const made = await acme.freeze(web, {
      start,
      end,
      exclude_conditions: ['label=hotfix'],
      public_reason: 'Rest',
    });
    const [before] = await listed(web);
    await endIt(web, made.id);
    expect(acme.frozen(web)).toEqual([]);
    const restored = await restore(web, made.id);
    expect(restored.status, restored.text).toBe(200);
    expect(restored.body).toEqual(before);
    expect(await listed(web)).toEqual([before]);
    expect(acme.frozen(web)).toEqual([2]);
    expect((await eventsOf(web, made.id))[0]).toBe('scheduled_freeze.restore');
    // And it can be ended and restored again.
    await endIt(web, made.id);
    expect((await restore(web, made.id)).body).toEqual(before);
    await acme.remove(web, made.id);
  });
});

describe('409, and nothing changes', () => {
  test('for a freeze that nobody ended, and when it is restored twice', async () => {
    const site = await acme.repository('site', [{}]);
    const { id } = await acme.freeze(site);
    expect((await restore(site, id)).status).toBe(409);
    await acme.remove(site, id);
    const both = await Promise.all([restore(site, id), restore(site, id)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect((await restore(site, id)).status).toBe(409);
    expect(await listed(site)).toHaveLength(1);
    await acme.remove(site, id);
  });

  test.each([
    [59, 200],
    [60, 409],
  ])('%i seconds after its end: %i', async (seconds, status) => {
    const late = await acme.repository(`late-${seconds}`, [{}]);
    const { id } = await acme.freeze(late);
    await acme.remove(late, id);
    await later(seconds);
    const answer = await restore(late, id);
    expect(answer.status).toBe(status);
    if (status === 409) expect(answer.text).toMatch(/can be restored for 60 seconds/);
    expect(acme.frozen(late)).toEqual(status === 200 ? [1] : []);
  });

  test('when its window is over', async () => {
    const short = await acme.repository('short', [{}]);
    const inHalfAMinute = new Date(acme.clock.now() + 30_000).toISOString().slice(0, 19);
    const { id } = await acme.freeze(short, { end: inHalfAMinute });
    await acme.remove(short, id);
    await later(31);
    expect((await restore(short, id)).text).toMatch(/window of the freeze .* is over/);
  });

  test('when it ended by the clock, or it is not there', async () => {
    const clock = await acme.repository('clock', [{}]);
    const inHalfAMinute = new Date(acme.clock.now() + 30_000).toISOString().slice(0, 19);
    const { id } = await acme.freeze(clock, { end: inHalfAMinute });
    await later(31);
    expect((await restore(clock, id)).status).toBe(409);
    const other = await acme.repository('other', [{}]);
    expect((await restore(other, id)).status).toBe(404);
  });

  test('for a pause, while the merge queue is paused anew', async () => {
    const queue = await acme.repository('queue', [{}]);
    const pause = `/v1/repos/${queue}/merge-queue/pause`;
    await acme.call('PUT', pause, { ...asAdmin(), body: { reason: 'Broken' } });
    const [{ id }] = await listed(queue);
    await acme.call('DELETE', pause, asAdmin());
    await acme.call('PUT', pause, { ...asAdmin(), body: { reason: 'Broken again' } });
    expect((await restore(queue, id)).text).toMatch(/is paused again/);
    await acme.call('DELETE', pause, asAdmin());
    const first = await restore(queue, id);
    expect(first.status, first.text).toBe(200);
    expect((await acme.call('GET', pause, asAdmin())).body).toMatchObject({ paused: true, reason: 'Broken' });
  });
});

test('who could delete a freeze restores it: an admin, a freezer and a key, and nobody else', async () => {
  const { github } = acme;
  for (const login of ['fred', 'wes']) github.addUser(login);
  const roles = { fred: 'write', wes: 'write' } as const;
  const shared = await acme.repository('shared', [{}], { roles });
  const settings = { as: acme.admin, body: { freezers: ['fred'] } };
  expect((await acme.call('PATCH', `/v1/repos/${shared}/settings`, settings)).status).toBe(200);
  const { id } = await acme.freeze(shared);
  const tokenOf = (login: string) => github.addToken(login, { kind: 'classic', scopes: ['repo'] });
  const ci = await acme.key('acme', 'ci');
  for (const [as, status] of [
    [tokenOf('wes'), 403],
    [ci, 403],
    [tokenOf('fred'), 200],
    [tokenOf('ada'), 200],
    [acme.admin, 200],
  ] as const) {
    await acme.remove(shared, id);
    expect((await restore(shared, id, as)).status).toBe(status);
    if (status !== 200) await restore(shared, id);
  }
});

test('its exemptions apply again, those that nobody approved wait again', async () => {
  const shop = await acme.repository('shop', [{}, {}, {}]);
  const { id } = await acme.freeze(shop);
  await acme.call('PATCH', `/v1/repos/${shop}/settings`, {
    ...asAdmin(),
    body: { two_person_exemptions: true },
  });
  const ada = acme.github.addToken('ada', { kind: 'classic', scopes: ['repo'] });
  const ask = async (number: number) => {
    const body = { reason: 'A fix', freeze_ids: [id] };
    const asked = await acme.call('POST', `/v1/repos/${shop}/pulls/${number}/exemptions`, { as: ada, body });
    expect(asked.status, asked.text).toBe(201);
    return asked.body.id as string;
  };
  const approve = async (exemption: string) =>
    acme.call('POST', `/v1/repos/${shop}/exemptions/${exemption}/approve`, { ...asAdmin(), body: {} });
  await approve(await ask(1));
  await ask(2);
  await approve(await ask(3));
  await acme.quiet();
  expect(acme.frozen(shop)).toEqual([2]);
  await acme.remove(shop, id);
  await later(30);
  const states = async () =>
    (await acme.call('GET', `/v1/repos/${shop}/exemptions`, asAdmin())).body.exemptions
      .map(({ pull_request, state }: { pull_request: number; state: string }) => `${pull_request} ${state}`)
      .toSorted();
  acme.github.push(shop, 3);
  await acme.quiet();
  expect((await restore(shop, id)).status).toBe(200);
  expect(acme.frozen(shop)).toEqual([2, 3]);
  expect(await states()).toEqual(['1 approved', '2 requested', '3 expired']);
});

test('its calendar shows it again with a higher sequence', async () => {
  const cal = await acme.repository('cal', [{}]);
  const body = { repositories: ['cal'] };
  const { url } = (await acme.call('POST', '/v1/calendars/acme', { ...asAdmin(), body })).body;
  const read = async () => readCalendar(await (await fetch(acme.app.url + new URL(url).pathname)).text());
  const { id } = await acme.freeze(cal, { start: '2026-03-20T09:00:00', end: '2026-03-21T09:00:00' });
  const [made] = await read();
  await acme.remove(cal, id);
  const [deleted] = await read();
  await restore(cal, id);
  const [restored] = await read();
  expect([made, deleted, restored].map((event) => event!.status)).toEqual([
    'CONFIRMED',
    'CANCELLED',
    'CONFIRMED',
  ]);
  expect(restored!.uid).toBe(made!.uid);
  expect(restored!.sequence).toBeGreaterThan(deleted!.sequence);
});

test('a freeze whose start came while it was deleted has begun, and the log says so', async () => {
  const soon = await acme.repository('soon', [{}]);
  const start = new Date(acme.clock.now() + 20_000).toISOString().slice(0, 19);
  const { id } = await acme.freeze(soon, { start });
  await acme.remove(soon, id);
  await later(30);
  expect((await restore(soon, id)).status).toBe(200);
  expect(acme.frozen(soon)).toEqual([1]);
  expect(await eventsOf(soon, id)).toContain('freeze.started');
});

describe('a freeze of a plan', () => {
  const planned = async (repositories: string[]) => {
    const body = {
      name: 'Rest',
      reason: 'Rest',
      start: null,
      end: null,
      timezone: 'UTC',
      repositories: { include: repositories },
    };
    const plan = await acme.call('POST', '/v1/freeze_plans/acme', { ...asAdmin(), body });
    expect(plan.status, plan.text).toBe(201);
    await acme.quiet();
    return `/v1/freeze_plans/acme/${plan.body.id}`;
  };
  const idIn = async (repository: string) => (await listed(repository))[0].id as string;

  test('follows its plan again', async () => {
    const one = await acme.repository('one', [{}]);
    const plan = await planned(['one']);
    const id = await idIn(one);
    await acme.remove(one, id);
    await restore(one, id);
    await acme.call('PATCH', plan, { ...asAdmin(), body: { reason: 'Longer rest' } });
    expect(await listed(one)).toMatchObject([{ id, reason: 'Longer rest' }]);
  });

  test('is its own if the plan changed or was deleted since', async () => {
    const two = await acme.repository('two', [{}]);
    const plan = await planned(['two']);
    const id = await idIn(two);
    await acme.remove(two, id);
    await later(1);
    await acme.call('PATCH', plan, { ...asAdmin(), body: { reason: 'Longer rest' } });
    await restore(two, id);
    expect(await listed(two)).toMatchObject([{ id, reason: 'Rest' }]);
    await acme.call('POST', `${plan}/delete`, { ...asAdmin(), body: { delete_reason: 'Done' } });
    expect(await listed(two)).toMatchObject([{ id, reason: 'Rest' }]);
    await acme.remove(two, id);
  });

  test('that its deleted plan took along comes back alone', async () => {
    const three = await acme.repository('three', [{}]);
    const plan = await planned(['three']);
    const id = await idIn(three);
    await acme.call('POST', `${plan}/delete`, { ...asAdmin(), body: { delete_reason: 'Done' } });
    await acme.quiet();
    expect(acme.frozen(three)).toEqual([]);
    expect((await restore(three, id)).body).toMatchObject({ id, reason: 'Rest' });
    expect(acme.frozen(three)).toEqual([1]);
    expect((await acme.call('GET', plan, asAdmin())).status).toBe(404);
  });
});

test('the ruleset of an instant hold is in force again before the statuses', async () => {
  const { held, instant } = instantHoldsOf(acme);
  const locked = await held('locked', 'lock', [{}]);
  const { id } = await acme.freeze(locked);
  await acme.remove(locked, id);
  expect(await instant(locked)).toMatchObject({ state: 'off' });
  await restore(locked, id);
  expect(await instant(locked)).toMatchObject({ state: 'on' });
});

test('a merge between the end and the restoration went past no freeze', async () => {
  const gap = await acme.repository('gap', [{}, {}]);
  const { id } = await acme.freeze(gap);
  await later(5);
  await acme.remove(gap, id);
  await later(5);
  acme.github.webhookFaults.add({ kind: 'drop', event: 'pull_request' });
  acme.github.merge(gap, 1, 'ada');
  await later(5);
  await restore(gap, id);
  await later(120);
  expect(await eventsOf(gap, id)).not.toContain('freeze.bypassed');
});
