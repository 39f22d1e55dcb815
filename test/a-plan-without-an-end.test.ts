import { expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

// `longest_open_end_hours` of repositories that one plan freezes: each gives its own freeze an end.

const acme = acmeForAll();

const plans = '/v1/freeze_plans/acme';
const send = (method: string, path: string, body?: object) =>
  acme.call(method, path, { as: acme.admin, body });
const limit = (repository: string, hours: number | null) =>
  send('PATCH', `/v1/repos/acme/${repository}/settings`, { longest_open_end_hours: hours });
async function create(include: string[], more: object = {}) {
  const window = { start: '2026-03-01T08:00:00', timezone: 'UTC' };
  const body = { name: 'Open', reason: 'Incident', repositories: { include }, ...window, ...more };
  const answer = await send('POST', plans, body);
  expect(answer.status, answer.text).toBe(201);
  await acme.quiet();
  return answer.body;
}
async function update(id: string, change: object) {
  const answer = await send('PATCH', `${plans}/${id}`, change);
  expect(answer.status, answer.text).toBe(200);
  await acme.quiet();
  return answer.body;
}
const windows = async (repository: string): Promise<[string, string | null][]> => {
  const { body } = await send('GET', `/v1/repos/acme/${repository}/scheduled_freeze`);
  return body.scheduled_freezes.map(({ start, end }: { start: string; end: string | null }) => [start, end]);
};
const given = 'a freeze without an end is given one (`longest_open_end_hours`)';

test('each repository gives its own freeze an end, and the answer says which', async () => {
  for (const name of ['free', 'day', 'day-2', 'day-3', 'day-4', 'week', 'hour'])
    await acme.repository(name, [{}]);
  for (const name of ['day', 'day-2', 'day-3', 'day-4']) await limit(name, 24);
  await limit('week', 168);
  await limit('hour', 1);
  const { id, warnings, end, next_occurrences } = await create(['*']);
  expect([end, next_occurrences[0].end]).toEqual([null, null]);
  expect(warnings).toEqual([
    `In day, day-2, day-3 and 1 more ${given}: there this plan ends at 2026-03-02T08:00:00.`,
    `In week ${given}: there this plan ends at 2026-03-08T08:00:00.`,
    `In hour ${given}: there it would have ended at 2026-03-01T09:00:00, so it makes none.`,
  ]);
  const start = '2026-03-01T08:00:00';
  expect(await windows('free')).toEqual([[start, null]]);
  expect(await windows('day-4')).toEqual([[start, '2026-03-02T08:00:00']]);
  expect(await windows('week')).toEqual([[start, '2026-03-08T08:00:00']]);
  expect(await windows('hour')).toEqual([]);

  // A setting that comes later, and a change of something else, give no end and move none.
  await limit('free', 24);
  await limit('day', 48);
  expect(await update(id, { reason: 'Incident 2', end: null })).not.toHaveProperty('warnings');
  expect(await windows('free')).toEqual([[start, null]]);
  expect(await windows('day')).toEqual([[start, '2026-03-02T08:00:00']]);

  // It ends there at its instant, nothing makes it again, and the plan stays until somebody removes it.
  await acme.advanceTo('2026-03-02T08:00:00Z');
  expect(acme.frozen('acme/day')).toEqual([]);
  expect(acme.frozen('acme/free')).toEqual([1]);
  await acme.repository('day-5', [{}]);
  expect(await windows('day-5')).toEqual([[start, null]]);
  await acme.advanceTo('2026-03-02T12:00:00Z');
  expect(await windows('day')).toEqual([]);
  expect((await send('GET', `${plans}/${id}`)).body).toMatchObject({ id, end: null });
  await send('POST', `${plans}/${id}/delete`, { delete_reason: 'Done' });
  await acme.quiet();
});

test('a plan that loses its end gets ends; an ongoing freeze counts from its own start', async () => {
  for (const name of ['one', 'two', 'three']) await acme.repository(name, [{}]);
  await limit('one', 72);
  await limit('two', 1);
  const start = '2026-03-02T10:00:00';
  const { id } = await create(['one', 'two', 'three'], { start, end: '2026-03-02T20:00:00' });
  const { warnings } = await update(id, { end: null });
  expect(await windows('one')).toEqual([[start, '2026-03-05T10:00:00']]);
  // Its limit has passed: it keeps its end, because nobody asked to end it.
  expect(await windows('two')).toEqual([[start, '2026-03-02T20:00:00']]);
  expect(await windows('three')).toEqual([[start, null]]);
  expect(warnings).toEqual([
    `In two ${given}: there this plan ends at 2026-03-02T20:00:00.`,
    `In one ${given}: there this plan ends at 2026-03-05T10:00:00.`,
  ]);
  await send('POST', `${plans}/${id}/delete`, { delete_reason: 'Done' });
});

test('a freeze that has not begun moves with its end; one without an end keeps none', async () => {
  await acme.repository('near', [{}]);
  await acme.repository('far', [{}]);
  await limit('near', 24);
  const { id, warnings } = await create(['near', 'far'], { start: '2026-04-01T10:00:00' });
  expect(warnings).toEqual([`In near ${given}: there this plan ends at 2026-04-02T10:00:00.`]);
  await limit('far', 24);
  const moved = await update(id, { start: '2026-04-03T10:00:00' });
  expect(await windows('near')).toEqual([['2026-04-03T10:00:00', '2026-04-04T10:00:00']]);
  expect(await windows('far')).toEqual([['2026-04-03T10:00:00', null]]);
  expect(moved.warnings).toEqual([`In near ${given}: there this plan ends at 2026-04-04T10:00:00.`]);
});
