import { describe, expect, test } from 'vitest';
import { jobs } from '../src/database/queue/jobs.ts';
import { ourselves } from '../src/events/actor.ts';
import { keepFreezes, keepPlan } from '../src/plans/keep-plan.ts';
import { findPlan } from '../src/plans/plan-store.ts';
import { acmeForAll } from './support/acme.ts';
import { plans, plansOf } from './support/freeze-plans.ts';

const acme = acmeForAll();
const { call, create, update, remove, show, freezes, starts, log } = plansOf(acme);

describe('a plan while a repository is renamed and another is made', () => {
  const window = {
    start: '2026-03-04T10:00:00',
    end: '2026-03-04T12:00:00',
    timezone: 'UTC',
    repositories: { include: ['API-*', 'lib-{one,two}'], exclude: [] },
    recurrence: { rule: 'FREQ=DAILY;COUNT=3' },
  };
  const three = ['2026-03-04T10:00:00', '2026-03-05T10:00:00', '2026-03-06T10:00:00'];
  let id = '';

  test('gives a new repository its freezes, and one that a rename lets match', async () => {
    await acme.repository('api-old');
    ({ id } = await create(window));
    expect(await starts('api-old')).toEqual(three);
    await acme.repository('api-new');
    await acme.repository('other');
    expect(await starts('api-new')).toEqual(three);
    acme.github.renameRepository('acme/other', 'lib-two');
    await acme.quiet();
    expect(await starts('lib-two')).toEqual(three);
  });

  test('takes back freezes that have not begun if a rename ends the match; an ongoing one stays', async () => {
    await acme.advanceTo('2026-03-04T11:00:00Z');
    acme.github.renameRepository('acme/api-old', 'legacy');
    await acme.quiet();
    expect(await starts('legacy')).toEqual(three.slice(0, 1));
    expect((await log('repos/acme/legacy'))[0]?.metadata['reason']).toBe(
      'Its plan does not make it any more.',
    );
    acme.github.renameRepository('acme/legacy', 'api-old');
    await acme.quiet();
    expect(await starts('api-old')).toEqual(three);
    await remove(id);
    expect(await starts('api-old')).toEqual([]);
  });
});

describe('what a change moves', () => {
  test('is the future freezes; an ongoing one keeps its start and gets the new length', async () => {
    await acme.repository('moved', [{}]);
    const { id } = await create({
      start: '2026-03-04T10:00:00',
      end: '2026-03-04T12:00:00',
      timezone: 'UTC',
      repositories: { include: ['moved'] },
      recurrence: { rule: 'FREQ=DAILY' },
    });
    const before = await freezes('moved');
    expect(before).toHaveLength(36);
    await acme.remove('acme/moved', before[2]!['id'] as string);
    await update(id, { start: '2026-03-04T11:30:00', end: '2026-03-04T13:00:00', timezone: 'Europe/Paris' });
    const after = await freezes('moved');
    expect(after[0]).toEqual({ ...before[0], end: '2026-03-04T11:30:00' });
    expect(after[1]).toEqual({
      ...before[1],
      start: '2026-03-05T11:30:00',
      end: '2026-03-05T13:00:00',
      timezone: 'Europe/Paris',
    });
    expect(after.map(({ start }) => start)).not.toContain('2026-03-06T11:30:00');
    expect(after).toHaveLength(35);
    await update(id, {
      recurrence: { rule: 'FREQ=DAILY;INTERVAL=2', except: ['2026-03-08'], until: '2026-03-12' },
    });
    expect((await starts('moved')).slice(1)).toEqual(['2026-03-10T11:30:00', '2026-03-12T11:30:00']);
    await remove(id);
  });

  test('is the one window of a plan, to another day', async () => {
    await acme.repository('single');
    const { id } = await create({
      repositories: { include: ['single'] },
      start: '2026-03-20T10:00:00',
      end: null,
    });
    const [before] = await freezes('single');
    await update(id, { start: '2026-03-21T10:00:00' });
    expect(await freezes('single')).toEqual([{ ...before, start: '2026-03-21T10:00:00' }]);
    await acme.remove('acme/single', before!['id'] as string);
    await update(id, { start: '2026-03-22T10:00:00' });
    expect(await freezes('single')).toEqual([]);
    await remove(id);
  });
});

describe('what a change moves in special cases', () => {
  test('is nothing if a freeze of that day was changed by itself', async () => {
    await acme.repository('twice');
    const { id } = await create({
      start: '2026-03-20T10:00:00',
      end: '2026-03-20T12:00:00',
      repositories: { include: ['twice'] },
      recurrence: { rule: 'FREQ=WEEKLY' },
    });
    const second = (await freezes('twice'))[1]!['id'] as string;
    await acme.update('acme/twice', second, { reason: 'Ours alone' });
    await update(id, { recurrence: null });
    await update(id, { start: '2026-03-27T14:00:00', end: '2026-03-27T16:00:00' });
    expect(await freezes('twice')).toMatchObject([{ id: second, start: '2026-03-27T10:00:00' }]);
    await remove(id);
    await acme.remove('acme/twice', second);
  });

  test('is also freezes in repositories where freezes are switched off meanwhile', async () => {
    await acme.repository('off');
    const { id } = await create({
      start: '2026-03-20T10:00:00',
      end: '2026-03-20T12:00:00',
      repositories: { include: ['off'] },
    });
    await acme.setProducts('acme/off', []);
    await update(id, { start: '2026-03-20T14:00:00', end: '2026-03-20T16:00:00' });
    await acme.setProducts('acme/off', ['merge_protections']);
    expect(await starts('off')).toEqual(['2026-03-20T14:00:00']);
    await remove(id);
  });
});

test('clocks go forward during an occurrence', async () => {
  await acme.repository('night', [{}]);
  const { id } = await create({
    start: '2026-03-28T02:30:00',
    end: '2026-03-28T04:00:00',
    timezone: 'Europe/Paris',
    repositories: { include: ['night'] },
    recurrence: { rule: 'FREQ=DAILY' },
  });
  await acme.advanceTo('2026-03-29T00:59:59Z');
  expect(acme.frozen('acme/night')).toEqual([]);
  await acme.advanceTo('2026-03-29T01:00:00Z');
  expect(acme.frozen('acme/night')).toEqual([1]);
  expect((await show(id)).next_occurrences.slice(0, 2)).toEqual([
    {
      start: '2026-03-29T02:30:00',
      end: '2026-03-29T04:00:00',
      starts_at: '2026-03-29T01:00:00.000Z',
      ends_at: '2026-03-29T02:00:00.000Z',
    },
    expect.objectContaining({ start: '2026-03-30T02:30:00', starts_at: '2026-03-30T00:30:00.000Z' }),
  ]);
  await acme.advanceTo('2026-03-29T02:00:00Z');
  expect(acme.frozen('acme/night')).toEqual([]);
  await remove(id);
});

test('the worker slept for a month', async () => {
  await acme.repository('sleepy', [{}]);
  const { id } = await create({
    start: '2026-04-01T10:00:00',
    end: '2026-04-03T10:00:00',
    timezone: 'UTC',
    repositories: { include: ['sleepy'] },
    recurrence: { rule: 'FREQ=WEEKLY' },
  });
  expect(await starts('sleepy')).toHaveLength(5);
  await acme.advanceTo('2026-05-21T12:00:00Z');
  expect(acme.frozen('acme/sleepy')).toEqual([1]);
  expect((await starts('sleepy'))[0]).toBe('2026-05-20T10:00:00');
  expect(await starts('sleepy')).toHaveLength(6);
  const all = () => acme.app.deps.db.freeze.count({ where: { planId: id } });
  const before = await all();
  await Promise.all([keepPlan(acme.app.deps, id), keepPlan(acme.app.deps, id)]);
  await acme.app.deps.queue.send([jobs.keepPlan(id)]);
  await acme.quiet();
  expect(await all()).toBe(before);
  await remove(id);
});

test('a repository goes to another owner during an occurrence', async () => {
  acme.github.addOrganization('beta', { admins: ['ada'] });
  acme.github.install('beta');
  await acme.quiet();
  const beta = await acme.key('beta', 'admin');
  await acme.repository('leaving', [{}]);
  await acme.repository('staying', [{}]);
  const { id } = await create({
    start: '2026-05-21T10:00:00',
    end: '2026-05-21T20:00:00',
    timezone: 'UTC',
    repositories: { include: ['*ing'] },
    recurrence: { rule: 'FREQ=DAILY' },
  });
  acme.github.transferRepository('acme/leaving', 'beta');
  await acme.quiet();
  const theirs = async () =>
    (await acme.call('GET', '/v1/repos/beta/leaving/scheduled_freeze', { as: beta })).body.scheduled_freezes;
  const before = await theirs();
  expect(before).toMatchObject([{ plan_id: id, end: '2026-05-21T20:00:00' }]);
  await update(id, { reason: 'Audit', end: '2026-05-21T22:00:00' });
  expect((await freezes('staying'))[0]).toMatchObject({ reason: 'Audit', end: '2026-05-21T22:00:00' });
  expect(await theirs()).toEqual(before);
  await remove(id);
  expect(await freezes('staying')).toEqual([]);
  expect(await theirs()).toEqual(before);
  expect(acme.frozen('beta/leaving')).toEqual([1]);
});

test('an occurrence ends between two steps of making the freezes of a plan', async () => {
  await acme.repository('stepped');
  const { id } = await create({
    start: '2026-05-22T10:00:00',
    end: '2026-05-22T12:00:00',
    timezone: 'UTC',
    repositories: { include: ['stepped'] },
    recurrence: { rule: 'FREQ=DAILY' },
  });
  const { db, clock } = acme.app.deps;
  await db.freeze.deleteMany({ where: { planId: id } });
  const plan = (await findPlan(db, { id }, new Date(clock.now())))!;
  const ended = new Date('2026-05-22T12:00:00Z');
  await db.$transaction((tx) =>
    keepFreezes({ tx, plan, by: ourselves, now: ended }, new Set(['2026-05-22'])),
  );
  expect((await starts('stepped'))[0]).toBe('2026-05-23T10:00:00');
  await remove(id);
});

test('the list of plans has pages', async () => {
  const more = { end: null, repositories: { include: ['stepped'] } };
  const made = [await create({ ...more, name: 'One' })];
  // Those of one instant are in the order of their ids.
  await acme.advanceTo(new Date(acme.clock.now() + 1000));
  made.push(await create({ ...more, name: 'Two' }));
  const answer = await call('GET', `${plans}?per_page=1&cursor=${made[1].id}`);
  expect(answer.body.freeze_plans.map((plan: { id: string }) => plan.id)).toEqual([made[1].id]);
  expect(answer.headers.get('link')).toContain(`per_page=1&cursor=${made[0].id}>; rel="prev"`);
  for (const { id } of made) await call('DELETE', `${plans}/${id}`);
});
