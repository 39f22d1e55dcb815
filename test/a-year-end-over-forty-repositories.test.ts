import { beforeAll, describe, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { plans, plansOf, yearEnd as body } from './support/freeze-plans.ts';

const acme = acmeForAll();
const { call, create, update, remove, show, freezes, log } = plansOf(acme);

describe('a year end over forty repositories', () => {
  const names = Array.from({ length: 40 }, (_, at) => `team-${String(at).padStart(2, '0')}`);
  let id = '';

  beforeAll(async () => {
    const protect = { main: ['holdfast/freeze'] };
    for (const name of names) acme.github.addRepository(`acme/${name}`, { protect });
    acme.github.addRepository('acme/sandbox-1');
    acme.github.addRepository('acme/attic', { archived: true });
    for (const name of names)
      for (const labels of [[], ['hotfix']])
        acme.github.openPullRequest(`acme/${name}`, { author: 'ada', labels });
    await acme.quiet();
    ({ id } = await create({ exclude_conditions: ['label=hotfix'] }));
  });

  test('has an answer with what is stored, and makes a plain freeze in each', async () => {
    expect(await show(id)).toEqual({
      id,
      ...body,
      public_reason: null,
      recurrence: null,
      matching_conditions: [],
      exclude_conditions: ['label=hotfix'],
      holds: ['merges'],
      environments: ['*'],
      on_deployment: 'wait',
      repositories_matched: 40,
      not_enforced: [],
      archived: ['attic'],
      detached: [],
      next_occurrences: [
        {
          start: body.start,
          end: body.end,
          starts_at: '2026-03-02T17:00:00.000Z',
          ends_at: '2026-03-09T07:00:00.000Z',
        },
      ],
      created_by: expect.objectContaining({ type: 'application', name: 'admin key' }),
      created_at: '2026-03-01T09:00:00.000Z',
    });
    for (const name of names) {
      const { start, end, timezone } = body;
      expect(await freezes(name)).toEqual([
        {
          id: expect.any(String),
          plan_id: id,
          reason: body.reason,
          start,
          end,
          timezone,
          matching_conditions: [],
          exclude_conditions: ['label=hotfix'],
        },
      ]);
    }
    expect(await freezes('sandbox-1')).toEqual([]);
    expect(await freezes('attic')).toEqual([]);
    expect((await call('GET', plans)).body.freeze_plans.map((plan: { id: string }) => plan.id)).toEqual([id]);
  });

  test('can be sent back as it was read, which changes nothing', async () => {
    const [freeze] = await freezes('team-03');
    expect(await acme.update('acme/team-03', freeze!['id'] as string, freeze!)).toEqual(freeze);
    expect((await show(id)).detached).toEqual([]);
  });

  test('is in the log of the owner, and in each repository’s', async () => {
    const [event] = (await acme.call('GET', '/v1/logs/acme', { as: acme.admin })).body.events;
    expect(event).toMatchObject({ type: 'freeze_plan.create', metadata: { freeze_plan_id: id } });
    expect((await log('repos/acme/team-07'))[0]).toMatchObject({
      type: 'scheduled_freeze.create',
      metadata: {
        freeze_plan_id: id,
        scheduled_freeze_attributes: { reason: body.reason, start: body.start, end: body.end },
        created_by: { name: 'admin key' },
        created_at: '2026-03-01T09:00:00.000Z',
        created_by_staff: false,
      },
    });
  });

  test('begins everywhere, is held everywhere, and says so', async () => {
    await acme.advanceTo('2026-03-02T17:00:00Z');
    for (const name of names) expect(acme.frozen(`acme/${name}`)).toEqual([1]);
    const enforcement = async () => (await call('GET', `${plans}/${id}/enforcement`)).body;
    // GitHub is asked about ten repositories at a time, or about fewer while it is slow.
    const toRefuse: (number | null)[] = [];
    while (toRefuse.at(-1) !== 40) {
      const { to_refuse: known, ...others } = await enforcement();
      expect(others).toEqual({ repositories: 40, to_hold: 40, held: 40, waiting: 0, not_enforced: [] });
      toRefuse.push(known);
    }
    expect(toRefuse.length).toBeGreaterThanOrEqual(4);
    expect(new Set(toRefuse.slice(0, -1))).toEqual(new Set([null]));
  });

  test('leaves alone freezes that somebody changed or deleted by themselves', async () => {
    const [[changed], [gone]] = [await freezes('team-01'), await freezes('team-02')];
    await acme.update('acme/team-01', changed!['id'] as string, { reason: 'Ours alone' });
    await acme.remove('acme/team-02', gone!['id'] as string);
    const detached = [
      { repository: 'acme/team-01', freeze_id: changed!['id'], start: body.start },
      { repository: 'acme/team-02', freeze_id: gone!['id'], start: body.start },
    ];
    expect((await show(id)).detached.toSorted()).toEqual(detached);
    const { detached: answered } = await update(id, { reason: 'Audit', end: '2026-03-10T08:00:00' });
    expect(answered).toHaveLength(2);
    expect(await freezes('team-00')).toMatchObject([
      { reason: 'Audit', start: body.start, end: '2026-03-10T08:00:00' },
    ]);
    expect(await freezes('team-01')).toMatchObject([{ reason: 'Ours alone', end: body.end }]);
    expect(await freezes('team-02')).toEqual([]);
    expect(acme.shown('acme/team-00', 1)?.description).toContain('Audit');
    expect((await log('repos/acme/team-00'))[0]).toMatchObject({
      type: 'scheduled_freeze.update',
      metadata: {
        scheduled_freeze_attributes_before: { reason: body.reason, end: body.end },
        scheduled_freeze_attributes_after: { reason: 'Audit', end: '2026-03-10T08:00:00' },
        updated_by: { name: 'admin key' },
      },
    });
  });

  test('does not begin elsewhere after it has begun', async () => {
    const answer = await call('PATCH', `${plans}/${id}`, { start: '2026-03-03T18:00:00' });
    expect({ status: answer.status, ...answer.body }).toEqual({
      status: 400,
      detail:
        'This plan has begun and does not repeat, so its start cannot change. Leave out start and timezone, or delete it and make another.',
    });
  });

  test('ends everything but separately changed freezes when it is deleted', async () => {
    await remove(id);
    expect(acme.frozen('acme/team-00')).toEqual([]);
    expect(acme.frozen('acme/team-01')).toEqual([1]);
    expect((await log('repos/acme/team-00'))[0]).toMatchObject({
      type: 'scheduled_freeze.delete',
      metadata: { reason: 'Done' },
    });
    expect((await call('GET', `${plans}/${id}`)).status).toBe(404);
    expect((await call('GET', plans)).body.freeze_plans).toEqual([]);
    const [kept] = await freezes('team-01');
    await acme.remove('acme/team-01', kept!['id'] as string);
  });
});
