import { describe, expect, test } from 'vitest';
import { deletePlan, updatePlan } from '../../src/plans/change-plan.ts';
import { planBody, acmeForAll } from '../api/acme.ts';

const acme = acmeForAll();

const path = '/v1/freeze_plans/acme';
const post = (more: object, { as = acme.keys.admin, to = path, headers = {} } = {}) =>
  acme.call('POST', to, { as, body: { ...planBody, ...more }, headers });
const rule = (text: string) => ({ recurrence: { rule: text } });

describe('a refusal names its field', () => {
  test.each<[object, (string | number)[], RegExp]>([
    [{ name: '' }, ['name'], /at least 1/],
    [{ repositories: { include: [] } }, ['repositories', 'include'], /./],
    [{ repositories: { include: ['ok', '{a'] } }, ['repositories', 'include', 1], /not a glob: unbalanced/],
    [{ repositories: { include: ['*'], exclude: ['a}'] } }, ['repositories', 'exclude', 0], /not a glob/],
    [{ environments: ['{'] }, ['environments', 0], /not a glob/],
    [{ holds: ['everything'] }, ['holds', 0], /"merges", "deployments"/],
    [{ timezone: 'Mars' }, ['timezone'], /not a time zone/],
    [{ start: '2026-12-24' }, ['start'], /without a time/],
    [{ end: '2026-12-24T17:00:00' }, ['end'], /after the start/],
    [{ start: '2026-10-25T02:45:00', end: '2026-10-25T02:15:00' }, ['end'], /after the start by the wall/],
    [{ end: null }, ['end'], /repeats has an end/],
    [{ end: '2026-01-01T00:00:00', start: '2025-12-24T00:00:00', recurrence: null }, ['end'], /has passed/],
    [{ matching_conditions: ['nonsense~'] }, ['matching_conditions', 0], /./],
    [rule('FREQ=YEARLY;BYWEEKNO=1'), ['recurrence', 'rule'], /`BYWEEKNO`/],
    [rule('FREQ=HOURLY'), ['recurrence', 'rule'], /FREQ/],
    [rule('FREQ=DAILY'), ['recurrence', 'rule'], /begins before the one ahead of it ends/],
    [rule('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'), ['recurrence', 'rule'], /never occurs/],
    [rule(`FREQ=YEARLY;BYMONTH=${'1,'.repeat(500)}1`), ['recurrence', 'rule'], /1000 characters/],
    [
      // Calendar apps write it for https.
      {
        source: { url: 'webcal://127.0.0.1:1/a.ics' },
        ...{ start: undefined, end: undefined, recurrence: undefined },
      },
      ['source', 'url'],
      /^Port 1 is not allowed/,
    ],
    [
      { recurrence: { rule: 'FREQ=YEARLY', except: ['2026-02-30'] } },
      ['recurrence', 'except', 0],
      /a date like/,
    ],
    [{ recurrence: { rule: 'FREQ=YEARLY', until: 'x' } }, ['recurrence', 'until'], /a date like/],
    [
      { start: '2020-12-24T18:00:00', end: '2020-12-25T18:00:00', ...rule('FREQ=YEARLY;COUNT=2') },
      ['recurrence'],
      /last occurrence is over/,
    ],
  ])('%o', async (more, loc, msg) => {
    const { status, body } = await post(more);
    expect(status).toBe(422);
    expect(body.detail).toEqual([
      { loc: ['body', ...loc], msg: expect.stringMatching(msg), type: expect.any(String) },
    ]);
    expect((await post(more, { to: `${path}/preview` })).body).toEqual(body);
  });
});

test('a rule is taken as people paste it, answered as sent, and what it leaves out is named', async () => {
  const recurrence = { rule: 'RRULE:FREQ=YEARLY;' };
  const { body } = await post({ start: '2028-02-29T10:00:00', end: '2028-02-29T12:00:00', recurrence });
  expect(body.recurrence.rule).toBe(recurrence.rule);
  expect(body.next_occurrences.map(({ start }: { start: string }) => start.slice(0, 4))).toContain('2032');
  expect(body.warnings).toContain(
    'No freeze starts in months without a day 29: February, except in leap years.',
  );
  await acme.call('DELETE', `${path}/${body.id}`, { as: acme.keys.admin });
});

test('a change that leaves no occurrence of a plan that has not begun is refused', async () => {
  const { id } = await acme.plan({ repositories: { include: ['nothing'] } });
  const past = { start: '2026-01-01T10:00:00', end: '2026-01-02T10:00:00' };
  const send = (body: object) => acme.call('PATCH', `${path}/${id}`, { as: acme.keys.admin, body });
  const { status, body } = await send({ ...past, recurrence: null });
  expect([status, body.detail[0].loc]).toEqual([422, ['body', 'end']]);
  expect((await send({ ...past, ...rule('FREQ=DAILY;COUNT=9') })).status).toBe(422);
  expect((await send({ reason: 'As it was' })).body.start).toBe(planBody.start);
});

test('a change of the start alone that passes the end is refused', async () => {
  const { id } = await acme.plan({ repositories: { include: ['nothing'] } });
  const change = { as: acme.keys.admin, body: { start: '2027-01-02T09:00:00' } };
  const { status, body } = await acme.call('PATCH', `${path}/${id}`, change);
  const problem = { loc: ['body', 'end'], msg: 'The end must be after the start.' };
  expect([status, body.detail]).toEqual([422, [expect.objectContaining(problem)]]);
  const shown = await acme.call('GET', `${path}/${id}`, { as: acme.keys.admin });
  expect(shown.body.start).toBe(planBody.start);
});

test('a change to an invalid glob is also refused', async () => {
  const { id } = await acme.plan({ repositories: { include: ['nothing'] } });
  const change = { as: acme.keys.admin, body: { repositories: { include: ['ok', '{a'] } } };
  const { status, body } = await acme.call('PATCH', `${path}/${id}`, change);
  expect([status, body.detail[0].loc]).toEqual([422, ['body', 'repositories', 'include', 1]]);
});

describe('what is accepted', () => {
  test('a start of now, as now in the zone; a time without seconds, with them', async () => {
    const { body } = await post({ start: null, end: '2026-03-01T12:00', recurrence: null });
    expect(body).toMatchObject({ start: '2026-03-01T10:00:00', end: '2026-03-01T12:00:00' });
    const freezes = await acme.call('GET', '/v1/repos/acme/web/scheduled_freeze', { as: acme.keys.admin });
    expect(freezes.body.scheduled_freezes).toMatchObject([{ start: body.start, plan_id: body.id }]);
  });

  test('its holds in any order, each once', async () => {
    const { body } = await post({ holds: ['deployments', 'merges', 'merges'] });
    expect(body.holds).toEqual(['merges', 'deployments']);
    const change = { as: acme.keys.admin, body: { holds: ['merges', 'merges'] } };
    expect((await acme.call('PATCH', `${path}/${body.id}`, change)).body.holds).toEqual(['merges']);
  });

  test('an unknown field, which the answer names', async () => {
    const { body } = await post({ exclude_condition: [] });
    expect(body.warnings).toEqual([
      '`exclude_condition` is not a field of a freeze plan: did you mean `exclude_conditions`?',
    ]);
    const inside = {
      repositories: { include: ['web'], excludes: ['vault'] },
      recurrence: { rule: 'FREQ=YEARLY', excepts: [] },
    };
    expect((await post(inside)).body).toMatchObject({
      repositories: { include: ['web'], exclude: [] },
      recurrence: { rule: 'FREQ=YEARLY', except: [], until: null },
      warnings: [
        '`excludes` is not a field of `repositories`: did you mean `exclude`?',
        '`excepts` is not a field of `recurrence`: did you mean `except`?',
      ],
    });
  });

  test('a skipped date on which nothing would start, which the answer names', async () => {
    const recurrence = { rule: 'FREQ=YEARLY', except: ['2028-12-24', '2027-12-25'] };
    const warnings = [
      'The plan skips 2027-12-25 (`except`), but no freeze would start on that date. The nearest start is on 2027-12-24.',
    ];
    const { body } = await post({ recurrence });
    expect(body).toMatchObject({ recurrence, warnings });
    const corrected = { recurrence: { ...recurrence, except: ['2027-12-24'] } };
    const change = { as: acme.keys.admin, body: corrected };
    expect((await acme.call('PATCH', `${path}/${body.id}`, change)).body).not.toHaveProperty('warnings');
    expect((await post({ recurrence }, { to: `${path}/preview` })).body).toMatchObject({ warnings });
  });

  test('an Idempotency-Key, once', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const [first, second] = [await post({}, { headers }), await post({}, { headers })];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
  });

  test('a public reason: outsiders read it instead of the reason', async () => {
    const { body } = await post({ public_reason: 'Stocktaking', name: 'Public' });
    expect(body.public_reason).toBe('Stocktaking');
    const list = await acme.call('GET', '/v1/repos/acme/web/scheduled_freeze', { as: acme.keys.admin });
    const freezes = list.body.scheduled_freezes as { plan_id?: string }[];
    expect(freezes.find(({ plan_id }) => plan_id === body.id)).toMatchObject({
      public_reason: 'Stocktaking',
    });
  });

  test('200 plans that repeat or lie ahead, and no more; what begins now has room', async () => {
    const { db, clock } = acme.app.deps;
    const plan = await db.freezePlan.findFirstOrThrow({ where: { rule: { not: null }, deletedAt: null } });
    const account = { matchingConditions: [], excludeConditions: [], createdBy: {}, updatedBy: {} };
    const { deletedBy: _by, source: _none, changes: _unchanged, ...row } = plan;
    await db.freezePlan.createMany({
      data: Array.from({ length: 200 }, () => ({
        ...row,
        ...account,
        id: crypto.randomUUID(),
        include: ['nothing'],
        overAt: null,
        keptAt: new Date(clock.now()),
      })),
    });
    const { status, body } = await post({});
    expect(status).toBe(409);
    expect(body.detail).toMatch(/^acme has 200 freeze plans that are not over/);
    expect((await post({ recurrence: null })).status, 'ahead').toBe(409);
    const now = { start: null, recurrence: null };
    const ids: string[] = [];
    for (const more of [{ end: null }, { end: '2027-01-01T00:00:00' }]) {
      const emergency = await post({ ...now, ...more, name: 'Emergency', timezone: 'UTC' });
      expect(emergency.status, emergency.text).toBe(201);
      ids.push(emergency.body.id);
    }
    // What repeats needs room, also where it began as one that does not.
    const repeating = await acme.call('PATCH', `${path}/${ids[1]}`, {
      as: acme.keys.admin,
      body: { recurrence: { rule: 'FREQ=YEARLY' } },
    });
    expect(repeating.status, repeating.text).toBe(409);
    for (const id of ids) {
      const ended = { as: acme.keys.admin, body: { delete_reason: 'Over' } };
      expect((await acme.call('POST', `${path}/${id}/delete`, ended)).status).toBe(204);
    }
    await db.freezePlan.deleteMany({ where: { include: { equals: ['nothing'] } } });
  });
});

describe('a person who administers the repositories', () => {
  const named = (...include: string[]) => ({ repositories: { include } });

  test('has plans that name them one by one, in any case', async () => {
    const as = acme.people.rita;
    const { status, body } = await post(named('WEB', 'vault'), { as });
    expect(status).toBe(201);
    expect(body.repositories_matched).toBe(2);
    const one = `${path}/${body.id}`;
    expect((await acme.call('GET', one, { as })).status).toBe(200);
    expect((await acme.call('GET', `${one}/enforcement`, { as })).status).toBe(200);
    const listed = await acme.call('GET', path, { as });
    const seen: { id: string; repositories: { include: string[] } }[] = listed.body.freeze_plans;
    expect(seen.map(({ id }) => id)).toContain(body.id);
    // Not those with globs, of which there are several.
    for (const { repositories } of seen) expect(['web', 'WEB']).toContain(repositories.include[0]);
    expect((await post(named('web'), { as, to: `${path}/preview` })).status).toBe(200);
    expect((await acme.call('PATCH', one, { as, body: { reason: 'Mine' } })).status).toBe(200);
    expect((await acme.call('PATCH', one, { as, body: named('*') })).status).toBe(403);
    const why = { delete_reason: 'Done' };
    expect((await acme.call('POST', `${one}/delete`, { as: acme.people.wes, body: why })).status).toBe(403);
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const remove = () => acme.call('POST', `${one}/delete`, { as, body: why, headers });
    expect((await remove()).status).toBe(204);
    const again = await remove();
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([204, 'true']);
    expect((await acme.call('GET', one, { as })).status).toBe(404);
    expect((await acme.call('POST', `${one}/delete`, { as, body: why })).status).toBe(404);
    expect((await acme.call('GET', one, { as: acme.people.wes })).status).toBe(403);
  });

  test('has them by 50 names, no matter how often a change repeats one', async () => {
    const as = acme.people.rita;
    const { id } = (await post(named(...Array<string>(30).fill('web')), { as })).body;
    const change = named(...Array<string>(30).fill('WEB'));
    expect((await acme.call('PATCH', `${path}/${id}`, { as, body: change })).status).toBe(200);
  });

  test('causes questions to GitHub about at most 50 repositories, each once', async () => {
    const { db } = acme.app.deps;
    const {
      deletedBy: _by,
      source: _none,
      changes: _unchanged,
      ...row
    } = await db.freezePlan.findFirstOrThrow({ where: { deletedAt: null } });
    const json = { matchingConditions: [], excludeConditions: [], createdBy: {}, updatedBy: {} };
    const plan = (include: string[]) => ({
      ...row,
      ...json,
      id: crypto.randomUUID(),
      include,
      exclude: ['them'],
      overAt: null,
    });
    await db.freezePlan.createMany({
      data: Array.from({ length: 120 }, (_, at) => plan([`absent-${at % 60}`, `second-${at}`])),
    });
    const before = acme.github.requests.length;
    expect((await acme.call('GET', path, { as: acme.people.wes })).status).toBe(403);
    const names = acme.github.requests
      .slice(before)
      .flatMap(({ path }) => /absent-\d+|second-\d+/.exec(path) ?? []);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(40);
    expect(names.length).toBeLessThanOrEqual(50);
    await db.freezePlan.deleteMany({ where: { exclude: { equals: ['them'] } } });
  });

  test('changes no plan that somebody else has extended to more repositories meanwhile', async () => {
    const { deps } = acme.app;
    const { id } = (await post(named('web', 'vault'))).body;
    const account = await deps.db.account.findFirstOrThrow({ where: { loginKey: 'acme' } });
    const actor = { type: 'user', id: 7, name: 'rita' } as const;
    const asWasAsked = { deps, actor, account, administered: new Set(['web']) };
    const refused = {
      code: 'conflict',
      message: expect.stringMatching(/^A concurrent change of this plan won/),
    };
    await expect(updatePlan(asWasAsked, id, { reason: 'Mine' })).rejects.toMatchObject(refused);
    await expect(deletePlan(asWasAsked, id, 'Done')).rejects.toMatchObject(refused);
    expect((await acme.call('GET', `${path}/${id}`, { as: acme.keys.admin })).body.reason).toBe(
      planBody.reason,
    );
  });

  test('and nobody else, and not by a glob', async () => {
    const { people } = acme;
    expect((await post(named('we?'), { as: people.rita })).status).toBe(403);
    expect((await post(named('web', 'attic'), { as: people.rita })).status).toBe(403);
    expect((await post(named('web'), { as: people.wes })).status).toBe(403);
    expect((await acme.call('GET', path, { as: people.wes })).status).toBe(403);
    expect((await post(named('vault'), { as: people.eve })).status).toBe(404);
    const { body } = await post({});
    expect((await acme.call('GET', `${path}/${body.id}`, { as: people.rita })).status).toBe(403);
  });
});

test('a preview says what would be blocked, and saves nothing', async () => {
  await acme.quiet();
  const before = await acme.app.deps.db.freezePlan.count();
  const { status, body } = await post(
    {
      exclude_conditions: ['label=risky'],
      start: '2027-05-01T10:00:00',
      end: '2027-05-02T10:00:00',
      recurrence: null,
    },
    { to: `${path}/preview` },
  );
  expect(status).toBe(200);
  expect(body).toEqual({
    repositories: [
      {
        ...{
          name: 'vault',
          to_hold: 0,
          to_refuse: 0,
          excluded: 1,
          enforced: expect.stringMatching(/yes|unknown/),
        },
        pull_requests: [{ number: 1, title: expect.any(String), author: expect.any(String), held: false }],
      },
      {
        ...{
          name: 'web',
          to_hold: 0,
          to_refuse: 0,
          excluded: 1,
          enforced: expect.stringMatching(/yes|unknown/),
        },
        pull_requests: [{ number: 1, title: expect.any(String), author: expect.any(String), held: false }],
      },
    ],
    repositories_matched: 2,
    to_hold: 0,
    to_refuse: 0,
    excluded: 2,
    not_enforced: [],
    archived: ['attic'],
    not_looked_at: [],
    next_occurrences: [
      {
        start: '2027-05-01T10:00:00',
        end: '2027-05-02T10:00:00',
        starts_at: '2027-05-01T08:00:00.000Z',
        ends_at: '2027-05-02T08:00:00.000Z',
      },
    ],
    warnings: ['This freeze holds none of the open pull requests (2).'],
  });
  expect(await acme.app.deps.db.freezePlan.count()).toBe(before);
});

test('DELETE deletes a plan, with a reason or without one', async () => {
  for (const [body, reason] of [
    [undefined, 'No reason was given'],
    [{ delete_reason: 'Destroyed by Terraform' }, 'Destroyed by Terraform'],
  ] as const) {
    const { id } = (await post({})).body;
    const deleted = await acme.call('DELETE', `${path}/${id}`, { as: acme.keys.admin, body });
    expect(deleted.status).toBe(204);
    expect((await acme.call('GET', `${path}/${id}`, { as: acme.keys.admin })).status).toBe(404);
    const event = await acme.app.deps.db.auditEvent.findFirstOrThrow({
      where: { type: 'freeze_plan.delete', metadata: { path: ['freeze_plan_id'], equals: id } },
    });
    expect(event.metadata).toMatchObject({ reason });
  }
});

test('a preview names the repositories that GitHub does not answer about', async () => {
  acme.github.goDown('502');
  const { body } = await post({ matching_conditions: ['files~=^docs/'] }, { to: `${path}/preview` });
  acme.github.comeBack();
  expect(body).toMatchObject({ repositories: [], not_looked_at: ['acme/vault', 'acme/web'] });
});

describe('a name that now leads to another repository', () => {
  const roles = { rita: 'admin' } as const;
  const named = (name: string) => ({ repositories: { include: [name] } });

  test('does not name a repository that moved to somebody else', async () => {
    acme.github.install('eve');
    acme.github.addRepository('acme/moving', { roles });
    await acme.quiet();
    acme.github.transferRepository('acme/moving', 'eve');
    await acme.quiet();
    const moved = await acme.call('GET', '/v1/repos/eve/moving/scheduled_freeze', { as: acme.people.eve });
    expect(moved.status).toBe(200);
    expect((await post(named('moving'), { as: acme.people.eve })).status).toBe(404);
  });

  test('does not name a repository that was renamed', async () => {
    acme.github.addRepository('acme/older', { roles });
    await acme.quiet();
    acme.github.renameRepository('acme/older', 'newer');
    await acme.quiet();
    expect((await post(named('older'), { as: acme.people.rita })).status).toBe(404);
    expect((await post(named('newer'), { as: acme.people.rita })).status).toBe(201);
  });
});

test('a person who administers what a plan names cannot change it while it still freezes another repository', async () => {
  const as = acme.people.rita;
  acme.github.addRepository('acme/side');
  await acme.quiet();
  const ongoing = { start: null, end: '2026-03-02T10:00:00', recurrence: null };
  const { id } = (await post({ repositories: { include: ['web', 'side'] }, ...ongoing })).body;
  const one = `${path}/${id}`;
  await acme.call('PATCH', one, { as: acme.keys.admin, body: { repositories: { include: ['web'] } } });
  expect((await acme.call('GET', one, { as })).status).toBe(200);
  expect((await acme.call('PATCH', one, { as, body: { reason: 'Mine' } })).status).toBe(403);
  const body = { delete_reason: 'Done' };
  expect((await acme.call('POST', `${one}/delete`, { as, body })).status).toBe(403);
  expect((await acme.call('POST', `${one}/delete`, { as: acme.keys.admin, body })).status).toBe(204);
});
