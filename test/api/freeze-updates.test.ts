import { expect, test } from 'vitest';
import { acmeForAll } from './acme.ts';

const acme = acmeForAll();

// The clock of these tests shows 2026-03-01T09:00:00Z until the last ones move it.
const path = '/v1/repos/acme/web/scheduled_freeze';
const update = (id: string, change: object) =>
  acme.call('PATCH', `${path}/${id}`, { as: acme.keys.admin, body: change });
const row = (id: string) => acme.app.deps.db.freeze.findUniqueOrThrow({ where: { id } });

const later = { start: '2026-03-02T10:00:00', end: '2026-03-03T10:00:00', timezone: 'Europe/Paris' };
const begun = { start: '2026-03-01T09:00:00', end: '2026-03-03T10:00:00', timezone: 'Europe/Paris' };
const lists = { matching_conditions: ['label=a'], exclude_conditions: ['label=b'] };

type Rule = [rule: string, freeze: object, change: object, status: number, after: object];
test.each<Rule>([
  ['nothing sent changes nothing', later, {}, 200, {}],
  [
    'null leaves reason, timezone and lists',
    { ...later, ...lists },
    { reason: null, timezone: null, matching_conditions: null, exclude_conditions: null },
    200,
    {},
  ],
  [
    'an empty list clears',
    { ...later, ...lists },
    { matching_conditions: [], exclude_conditions: [] },
    200,
    { matching_conditions: [], exclude_conditions: [] },
  ],
  [
    'a list replaces',
    { ...later, ...lists },
    { exclude_conditions: ['base=main', { or: ['label=x', { not: 'label=y' }] }] },
    200,
    { exclude_conditions: ['base=main', { or: ['label=x', { not: 'label=y' }] }] },
  ],
  ['an empty reason is one', later, { reason: '' }, 200, { reason: '' }],
  [
    'a start may move before it came',
    later,
    { start: '2026-03-02T11:00:00' },
    200,
    { start: '2026-03-02T11:00:00' },
  ],
  [
    'a start may move into the past',
    later,
    { start: '2020-01-01T00:00' },
    200,
    { start: '2020-01-01T00:00:00' },
  ],
  ['a null start begins now', later, { start: null }, 200, { start: '2026-03-01T10:00:00' }],
  ['a zone moves what is scheduled', later, { timezone: 'UTC' }, 200, { timezone: 'UTC' }],
  ['a null end is no end', later, { end: null }, 200, { end: null }],
  ['an end must stay after the start', later, { end: '2026-03-02T10:00:00' }, 422, {}],
  ['a start must stay before the end', later, { start: '2026-03-03T10:00:00' }, 422, {}],
  [
    'start and end may move together',
    later,
    { start: '2026-04-01T10:00:00', end: '2026-04-02T10:00:00' },
    200,
    { start: '2026-04-01T10:00:00', end: '2026-04-02T10:00:00' },
  ],
  ['a begun start stays', begun, { start: '2026-03-01T09:00:01' }, 400, {}],
  ['a begun start cannot be put off', begun, { start: '2026-03-02T10:00:00' }, 400, {}],
  ['a begun start cannot become now', begun, { start: null }, 400, {}],
  ['the same start is no change', begun, { start: '2026-03-01T09:00:00', reason: 'z' }, 200, { reason: 'z' }],
  ['the same start in other words is no change', begun, { start: '2026-03-01T09:00' }, 200, {}],
  [
    'the same instant in another zone is no change',
    begun,
    { start: '2026-03-01T08:00:00', timezone: 'UTC' },
    200,
    { start: '2026-03-01T08:00:00', timezone: 'UTC' },
  ],
  ['the zone of a begun freeze would move its start', begun, { timezone: 'UTC' }, 400, {}],
  [
    'another name of the zone moves nothing',
    begun,
    { timezone: 'Europe/Brussels' },
    200,
    { timezone: 'Europe/Brussels' },
  ],
  [
    'the end of a begun freeze moves',
    begun,
    { end: '2026-03-01T10:00:01' },
    200,
    { end: '2026-03-01T10:00:01' },
  ],
  ['a bad end outweighs a start that cannot move', begun, { start: null, end: 'x' }, 422, {}],
])('%s', async (_rule, freeze, change, status, after) => {
  // No open pull request has the labels of these lists, and the answers warn of that.
  const { warnings: _warned, ...before } = await acme.freeze(freeze);
  const answer = await update(before['id'] as string, change);
  expect(answer.status, answer.text).toBe(status);
  const { warnings: _warnings, ...shown } = answer.body;
  const expected = { ...before, ...after };
  if (status === 200) expect(shown).toEqual(expected);
  if (status === 400) expect(answer.body.detail).toMatch(/has begun, so its start cannot change/);
  const { body } = await acme.call('GET', path, { as: acme.keys.admin });
  expect(body.scheduled_freezes).toContainEqual(expected);
});

const wide = { ...later, matching_conditions: ['base=main', { or: ['label=a', { not: 'label=b' }] }] };
const precise = { ...later, end: '2026-03-03T10:00:00.5' };
const same: [what: string, freeze: object, change: object][] = [
  ['nothing', later, {}],
  ['nulls that leave a field', later, { reason: null, timezone: null, matching_conditions: null }],
  ['every field as it is', wide, { reason: 'Release', ...wide, exclude_conditions: [] }],
  ['the times without seconds', later, { start: '2026-03-02T10:00', end: '2026-03-03T10:00' }],
  ['the times with a fraction', later, { start: '2026-03-02T10:00:00.000', end: '2026-03-03T10:00:00.0' }],
  ['a fraction in other words', precise, { end: '2026-03-03T10:00:00.500' }],
  ['the zone in other letters', later, { timezone: 'europe/PARIS' }],
  ['the start of a begun freeze', begun, { start: '2026-03-01T09:00' }],
  ['no end again', { ...begun, end: null }, { end: null }],
];
test.each(same)('%s: a change that changes nothing is not written', async (_what, freeze, change) => {
  // It may repeat the freeze of another row, and the answer warns of that.
  const { warnings: _warned, ...made } = await acme.freeze(freeze);
  await acme.quiet();
  const written = await acme.watchWrites();
  const answer = await update(made['id'] as string, change);
  expect([answer.status, answer.body]).toEqual([200, made]);
  expect(await written()).toEqual([]);
});

// In Paris 02:30 did not exist on 29 March, so that both name the instant of 03:00.
const skipped = { start: '2026-03-29T02:30:00', end: null, timezone: 'Europe/Paris' };
const different: [what: string, freeze: object, change: object][] = [
  ['another reason', later, { reason: 'Release!' }],
  [
    'conditions in another order',
    { ...later, matching_conditions: ['a', 'b'].map((x) => `label=${x}`) },
    {
      matching_conditions: ['label=b', 'label=a'],
    },
  ],
  ['another zone with the same clock', later, { timezone: 'Europe/Brussels' }],
  ['the same instant by another clock', begun, { start: '2026-03-01T08:00:00', timezone: 'UTC' }],
  ['another time that names the same instant', skipped, { start: '2026-03-29T03:00:00' }],
  ['a millisecond', later, { end: '2026-03-03T10:00:00.001' }],
];
test.each(different)('%s: is a change, and an event', async (_what, freeze, change) => {
  const { warnings: _warned, ...made } = await acme.freeze(freeze);
  const count = () => acme.app.deps.db.auditEvent.count();
  const before = await count();
  const { status, body } = await update(made['id'] as string, change);
  const { warnings: _again, ...changed } = body;
  expect([status, changed]).toEqual([200, { ...made, ...change }]);
  expect(await count()).toBe(before + 1);
});

test('an end in the past ends a begun freeze: afterwards it is gone', async () => {
  const { id } = await acme.freeze(begun);
  const answer = await update(id, { end: '2026-03-01T09:30:00' });
  expect(answer.status).toBe(200);
  const { body } = await acme.call('GET', path, { as: acme.keys.admin });
  expect(JSON.stringify(body)).not.toContain(id);
  expect((await update(id, { end: null })).status).toBe(404);
});

test('a freeze that ended or was deleted is no longer there', async () => {
  const ends = await acme.freeze({ start: null, end: '2026-03-01T10:05:00' });
  const deleted = await acme.freeze();
  const remove = (id: string, how: 'DELETE' | 'POST') =>
    acme.call(how, `${path}/${id}${how === 'POST' ? '/delete' : ''}`, {
      as: acme.keys.admin,
      body: { delete_reason: 'Over' },
    });
  expect((await remove(deleted.id, 'POST')).status).toBe(204);
  await acme.advanceTo('2026-03-01T09:04:59.999Z');
  expect((await update(ends.id, { reason: 'Still here' })).status).toBe(200);
  await acme.advanceTo('2026-03-01T09:05:00Z');
  const written = await acme.watchWrites();
  for (const { id } of [ends, deleted]) {
    expect((await update(id, { reason: 'x' })).status).toBe(404);
    expect((await update(id, { end: null })).status).toBe(404);
    expect((await remove(id, 'DELETE')).status).toBe(404);
    expect((await remove(id, 'POST')).status).toBe(404);
    const { body } = await acme.call('GET', path, { as: acme.keys.admin });
    expect(JSON.stringify(body)).not.toContain(id);
  }
  expect(await written()).toEqual([]);
});

test('a scheduled freeze has begun when its start has passed', async () => {
  const { id } = await acme.freeze({ start: '2026-03-01T10:06:00' });
  await acme.advanceTo('2026-03-01T09:05:59Z');
  expect((await update(id, { start: '2026-03-01T10:07:00' })).status).toBe(200);
  await acme.advanceTo('2026-03-01T09:07:00Z');
  expect((await update(id, { start: '2026-03-01T10:08:00' })).status).toBe(400);
  expect((await row(id)).start).toBe('2026-03-01T10:07:00');
});
