import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';

// What `freeze_state` says about occurrences that have no freeze yet.

const acme = acmeForAll();
beforeAll(async () => {
  for (const name of ['web', 'other', 'tv']) await acme.repository(name, [{}]);
});

const plans = '/v1/freeze_plans/acme';
async function create(more: object): Promise<string> {
  const window = { start: '2026-03-07T10:00:00', end: '2026-03-07T12:00:00', timezone: 'UTC' };
  const fixed = { name: 'Saturdays', reason: 'Maintenance', repositories: { include: ['w?b'] } };
  const body = { ...fixed, ...window, recurrence: { rule: 'FREQ=WEEKLY' }, ...more };
  const answer = await acme.call('POST', plans, { as: acme.admin, body });
  expect(answer.status, answer.text).toBe(201);
  await acme.quiet();
  return answer.body.id;
}
const remove = (id: string) =>
  acme.call('POST', `${plans}/${id}/delete`, { as: acme.admin, body: { delete_reason: 'Done' } });
async function state(at: string | null, query: Record<string, string> = {}, repository = 'web') {
  const asked = new URLSearchParams({ ...(at && { at }), ...query });
  const path = `/v1/repos/acme/${repository}/freeze_state?${asked}`;
  const { body } = await acme.call('GET', path, { as: acme.admin });
  return [body.frozen, body.freezes.length, body.next_transition_at];
}

test('the state of the years ahead follows the plan, in the repositories that it matches', async () => {
  const id = await create({ matching_conditions: ['base=main'] });
  // Made already; and ahead of what is made, where none has an id.
  expect(await state('2026-03-07T11:00:00Z')).toEqual([true, 1, '2026-03-07T12:00:00.000Z']);
  expect(await state('2026-04-04T13:00:00Z')).toEqual([false, 0, '2026-04-11T10:00:00.000Z']);
  expect(await state('2030-06-01T10:00:00Z')).toEqual([true, 0, '2030-06-01T12:00:00.000Z']);
  expect(await state('2030-06-01T12:00:00Z')).toEqual([false, 0, '2030-06-08T10:00:00.000Z']);
  expect(await state('2030-06-01T11:00:00Z', { base: 'main' })).toEqual([
    true,
    0,
    '2030-06-01T12:00:00.000Z',
  ]);
  expect(await state('2030-06-01T11:00:00Z', { base: 'next' })).toEqual([false, 0, null]);
  expect(await state('2030-06-01T11:00:00Z', {}, 'other')).toEqual([false, 0, null]);
  expect(await state(null, {}, 'other')).toEqual([false, 0, null]);
  await acme.setProducts('acme/web', []);
  expect(await state('2030-06-01T11:00:00Z')).toEqual([false, 0, null]);
  await acme.setProducts('acme/web', ['merge_protections']);
  await remove(id);
  expect(await state('2030-06-01T11:00:00Z')).toEqual([false, 0, null]);
});

test('a plan that holds deployments is asked about by environment', async () => {
  const id = await create({
    holds: ['deployments'],
    environments: ['prod*'],
    matching_conditions: ['base=x'],
  });
  const ahead = '2030-06-01T11:00:00Z';
  expect(await state(ahead, { environment: 'Production' })).toEqual([true, 0, '2030-06-01T12:00:00.000Z']);
  expect(await state(ahead, { environment: 'staging' })).toEqual([false, 0, null]);
  expect(await state(ahead)).toEqual([false, 0, null]);
  await remove(id);
});

test('the state changes at once when a repository begins or stops to match', async () => {
  const id = await create({});
  const ahead = '2030-06-01T11:00:00Z';
  const include = (...names: string[]) =>
    acme.call('PATCH', `${plans}/${id}`, { as: acme.admin, body: { repositories: { include: names } } });
  expect([(await state(ahead))[0], (await state(ahead, {}, 'tv'))[0]]).toEqual([true, false]);
  await include('tv');
  expect([(await state(ahead))[0], (await state(ahead, {}, 'tv'))[0]]).toEqual([false, true]);
  await include('w*', 'tv');
  expect([(await state(ahead))[0], (await state(ahead, {}, 'tv'))[0]]).toEqual([true, true]);
  await remove(id);
});

test('an occurrence that somebody deleted does not come back in the state', async () => {
  const id = await create({
    start: '2026-12-24T18:00:00',
    end: '2027-01-02T08:00:00',
    repositories: { include: ['tv'] },
    recurrence: { rule: 'FREQ=YEARLY' },
  });
  expect(await state(null, {}, 'tv')).toEqual([false, 0, '2026-12-24T18:00:00.000Z']);
  const { body } = await acme.call('GET', '/v1/repos/acme/tv/scheduled_freeze', { as: acme.admin });
  await acme.remove('acme/tv', body.scheduled_freezes[0].id);
  expect(await state(null, {}, 'tv')).toEqual([false, 0, '2027-12-24T18:00:00.000Z']);
  expect(await state('2026-12-25T00:00:00Z', {}, 'tv')).toEqual([false, 0, '2027-12-24T18:00:00.000Z']);
  expect(await state('2031-02-01T00:00:00Z', {}, 'tv')).toEqual([false, 0, '2031-12-24T18:00:00.000Z']);
  await remove(id);
});

test('a separately changed freeze far ahead hides nothing before it', async () => {
  const id = await create({
    start: '2026-12-24T18:00:00',
    end: '2026-12-24T20:00:00',
    repositories: { include: ['tv'] },
    recurrence: { rule: 'FREQ=YEARLY' },
  });
  const { body } = await acme.call('GET', '/v1/repos/acme/tv/scheduled_freeze', { as: acme.admin });
  const { id: freeze } = body.scheduled_freezes[0];
  await acme.update('acme/tv', freeze, { reason: 'Ours alone' });
  const weekly = { start: '2026-03-07T10:00:00', end: '2026-03-07T12:00:00' };
  const change = { ...weekly, recurrence: { rule: 'FREQ=WEEKLY' } };
  await acme.call('PATCH', `${plans}/${id}`, { as: acme.admin, body: change });
  await acme.quiet();
  expect(await state('2026-08-01T11:00:00Z', {}, 'tv')).toEqual([true, 0, '2026-08-01T12:00:00.000Z']);
  await remove(id);
  await acme.remove('acme/tv', freeze);
});

test('freezes without a gap, made or not, are one span; those of deployments do not count', async () => {
  const days = { start: '2026-03-10T00:00:00', end: '2026-03-11T00:00:00' };
  const daily = await create({ ...days, recurrence: { rule: 'FREQ=DAILY;COUNT=100' } });
  expect(await state('2026-03-10T00:00:00Z')).toEqual([true, 1, '2026-06-18T00:00:00.000Z']);
  await remove(daily);
  const id = await create({ ...days, recurrence: { rule: 'FREQ=DAILY' }, holds: ['deployments'] });
  expect(await state('2026-09-10T11:00:00Z')).toEqual([false, 0, null]);
  await remove(id);
});
