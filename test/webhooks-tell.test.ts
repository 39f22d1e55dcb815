// What happens to freezes becomes deliveries to the webhooks of the owner, each once. How they are sent is another story.
import { expect, inject, test } from 'vitest';
import { compileNameGlob, nameExpression } from '../src/conditions/patterns/compile-name-glob.ts';
import { recordBoundaries } from '../src/freezes/record-boundaries.ts';
import { loadNotices } from '../src/notices/notice.ts';
import { appendEvent } from '../src/events/append-event.ts';
import { startReceiver } from '../sandbox/receiver.ts';
import { startAcme, type Acme } from './support/acme.ts';
import { forAll } from './support/for-all.ts';

const acme = forAll(() => startAcme());
const receiver = forAll(() => startReceiver({ now: () => new Date(acme.clock.now()) }));

const everything = () => ({ kind: 'standard', url: receiver.url });
const ofChat = () => ({ kind: 'slack', url: receiver.url });

type Body = Record<string, unknown>;
/** A webhook for one test, and what it was told so far: each delivery as `type name, name`. */
async function listening(body: Body = {}, world: Acme = acme) {
  const { db, sql, config } = world.app.deps;
  const answer = await world.call('POST', '/v1/webhooks/acme', {
    as: world.admin,
    body: { ...everything(), ...body },
  });
  expect(answer.status).toBe(201);
  const { id } = answer.body as { id: string };
  const rows = () => db.outgoingDelivery.findMany({ where: { webhookId: id }, orderBy: { serial: 'asc' } });
  const notices = async () =>
    Promise.all((await rows()).map(({ eventIds }) => loadNotices({ sql, config }, eventIds)));
  const told = async () =>
    (await notices()).map(
      (all) =>
        `${all[0]!.type} ${all
          .map(({ repository }) => repository!.slice(5))
          .sort()
          .join(', ')}`,
    );
  return { id, rows, notices, told };
}

test('a freeze that was scheduled is told when it is made, an hour ahead, when it begins and when it ends', async () => {
  const web = await acme.repository('web', [{}]);
  const ops = await listening({ repositories: ['web'] });
  const { id } = await acme.freeze(web, {
    start: '2026-03-01T12:00:00',
    end: '2026-03-01T15:00:00',
    timezone: 'UTC',
  });
  expect(await ops.told()).toEqual(['freeze.scheduled web']);
  await acme.advanceTo('2026-03-01T10:59:59.999Z');
  expect(await ops.told()).toHaveLength(1);
  await acme.advanceTo('2026-03-01T11:00:00Z');
  await acme.advanceTo('2026-03-01T12:00:00Z');
  await acme.advanceTo('2026-03-01T14:00:00Z');
  await acme.advanceTo('2026-03-01T15:00:00Z');
  await acme.advanceTo('2026-03-01T16:00:00Z');
  const all = (await ops.notices()).flat();
  expect(
    receiver.accepted().map(({ headers, body }) => [headers['webhook-id'], body.type, body.timestamp]),
  ).toEqual(all.map(({ id, type, at }) => [id, type, at.toISOString()]));
  expect(all.map(({ type, at, late }) => [type, at.toISOString().slice(11, 19), late])).toEqual([
    ['freeze.scheduled', '09:00:00', false],
    ['freeze.starting_soon', '11:00:00', false],
    ['freeze.started', '12:00:00', false],
    ['freeze.ending_soon', '14:00:00', false],
    ['freeze.ended', '15:00:00', false],
  ]);
  const [scheduled, ...byClock] = all;
  expect(scheduled).toMatchObject({
    repository: 'acme/web',
    actor: { type: 'application', name: 'admin key' },
    freeze: { id, start: '2026-03-01T12:00:00', end: '2026-03-01T15:00:00', timezone: 'UTC' },
    url: `https://holdfast.example/repos/acme/web/freezes/${id}`,
  });
  expect(byClock.every(({ actor, freeze }) => actor === null && freeze!.id === id)).toBe(true);
  expect(new Set(all.map(({ id }) => id)).size, 'each has an id of its own').toBe(5);
  expect(all[0]!.id).toMatch(/^evt_\d+$/);
  expect((await ops.rows()).map(({ subject }) => subject)).toEqual(Array(5).fill(id));
});

test('one that begins at once is told as started alone, and a deleted one as deleted alone', async () => {
  const site = await acme.repository('site', [{}]);
  const ops = await listening({ repositories: ['site'] });
  const { id } = await acme.freeze(site, { end: '2026-03-01T18:00:00', timezone: 'UTC' });
  await acme.remove(site, id);
  await acme.advanceTo('2026-03-01T18:00:00Z');
  expect(await ops.told()).toEqual(['freeze.started site', 'freeze.deleted site']);
  expect((await ops.notices())[1]![0]!.details).toEqual({ reason: 'Done' });
});

test('a change is told as what it does: begin, end, or change', async () => {
  const docs = await acme.repository('docs', [{}]);
  const ops = await listening({ repositories: ['docs'] });
  const { id } = await acme.freeze(docs, { start: '2026-03-01T23:00:00', timezone: 'UTC' });
  await acme.update(docs, id, { reason: 'Later' });
  await acme.update(docs, id, { start: null });
  await acme.advanceTo('2026-03-01T19:00:00Z');
  await acme.update(docs, id, { end: '2026-03-01T18:30:00' });
  await acme.advanceTo('2026-03-02T00:00:00Z');
  expect(await ops.told()).toEqual([
    'freeze.scheduled docs',
    'freeze.updated docs',
    'freeze.started docs',
    'freeze.ended docs',
  ]);
});

test('a moved boundary is told where it is now, and an hour ahead only if an hour is left', async () => {
  const moved = await acme.repository('moved', [{}]);
  const ops = await listening({ repositories: ['moved'] });
  const zone = { timezone: 'UTC' };
  const { id } = await acme.freeze(moved, {
    start: '2026-03-02T06:00:00',
    end: '2026-03-02T09:00:00',
    ...zone,
  });
  await acme.update(moved, id, { start: '2026-03-02T00:30:00' });
  await acme.advanceTo('2026-03-02T00:30:00Z');
  await acme.update(moved, id, { end: '2026-03-02T04:00:00' });
  await acme.advanceTo('2026-03-02T03:00:00Z');
  await acme.update(moved, id, { end: '2026-03-02T05:30:00' });
  for (const time of ['04:30', '10:00']) await acme.advanceTo(`2026-03-02T${time}:00Z`);
  expect(await ops.told()).toEqual(
    ['scheduled', 'updated', 'started', 'updated', 'ending_soon', 'updated', 'ending_soon', 'ended'].map(
      (what) => `freeze.${what} moved`,
    ),
  );
});

test('a freeze of deployments alone is told as well, and nothing begins where nothing holds', async () => {
  const off = await acme.repository('off', [{}]);
  const ops = await listening({ repositories: ['off'] });
  await acme.freeze(off, { start: '2026-03-02T12:00:00', holds: ['deployments'], timezone: 'UTC' });
  await acme.freeze(off, { start: '2026-03-02T16:00:00', timezone: 'UTC' });
  for (const hour of ['11', '12']) await acme.advanceTo(`2026-03-02T${hour}:00:00Z`);
  await acme.setProducts(off, ['ci_insights']);
  await acme.advanceTo('2026-03-02T16:00:00Z');
  expect(await ops.told()).toEqual(
    ['scheduled', 'scheduled', 'starting_soon', 'started'].map((what) => `freeze.${what} off`),
  );
});

test('after an hour away: late, with the true times, and nothing that is over comes soon', async () => {
  const late = await acme.repository('late', [{}]);
  const ops = await listening({ repositories: ['late'], events: ['freeze.starting_soon', 'freeze.started'] });
  const { id } = await acme.freeze(late, { start: '2026-03-02T18:00:00', timezone: 'UTC' });
  const { deps } = acme.app;
  // As if the service had been away: its clock stands at the end of the hour, and no job ran.
  const until = '2026-03-02T19:00:00.000Z';
  await deps.db.job.deleteMany({});
  await Promise.all([recordBoundaries(deps, until), recordBoundaries(deps, until)]);
  expect((await ops.notices()).flat()).toMatchObject([
    { type: 'freeze.started', at: new Date('2026-03-02T18:00:00Z'), late: true, freeze: { id } },
  ]);
});

const planBody = (more: object) => ({
  name: 'Night',
  reason: 'Night',
  repositories: { include: ['many-*'] },
  start: '2026-03-03T20:00:00',
  end: '2026-03-03T23:00:00',
  timezone: 'UTC',
  ...more,
});

test('what a plan does to many repositories is one message of a chat, and one event a repository otherwise', async () => {
  const names = ['many-1', 'many-2', 'many-3'];
  for (const name of names) await acme.repository(name);
  const ops = await listening({ repositories: ['many-*'] });
  const chat = await listening(ofChat());
  const of = async (path: string, method: string, body: object) =>
    acme.call(method, `/v1/freeze_plans/acme${path}`, { as: acme.admin, body });
  const plan = (await of('', 'POST', planBody({}))).body as { id: string };
  await of(`/${plan.id}`, 'PATCH', { reason: 'Nights' });
  for (const hour of ['19', '20', '22', '23']) await acme.advanceTo(`2026-03-03T${hour}:00:00Z`);
  const types = ['scheduled', 'updated', 'starting_soon', 'started', 'ending_soon', 'ended'];
  const messages = (await chat.told()).filter((text) => text.includes('many'));
  expect(messages).toEqual(types.map((type) => `freeze.${type} ${names.join(', ')}`));
  expect((await ops.told()).sort()).toEqual(
    types.flatMap((type) => names.map((name) => `freeze.${type} ${name}`)).sort(),
  );
  const [first] = (await chat.notices()).at(-1)!;
  expect(first).toMatchObject({ planId: plan.id, freeze: { plan_id: plan.id }, actor: null });

  await of('', 'POST', planBody({ start: null, end: null, name: 'Now' }));
  expect((await chat.told()).at(-1)).toBe(`freeze.started ${names.join(', ')}`);
});

test('what two transactions tell of one instant is one message, until somebody sends it', async () => {
  const chat = await listening(ofChat());
  const { db, clock } = acme.app.deps;
  const { accountId, id } = await db.repository.findFirstOrThrow({ where: { name: 'many-1' } });
  const metadata = {
    scheduled_freeze_id: crypto.randomUUID(),
    freeze_plan_id: crypto.randomUUID(),
    scheduled_freeze_attributes: {
      reason: 'Night',
      start: '2026-03-03T20:00:00',
      end: null,
      timezone: 'UTC',
    },
    planned_at: '2026-03-03T20:00:00.000Z',
  };
  const tell = async () =>
    db.$transaction((tx) =>
      appendEvent(
        tx,
        { accountId, repository: { id, name: 'acme/many-1' } },
        { type: 'freeze.started', metadata },
        null,
        new Date(clock.now()),
      ),
    );
  await Promise.all([tell(), tell()]);
  const sizes = async () => (await chat.rows()).map(({ eventIds }) => eventIds.length);
  expect(await sizes()).toEqual([2]);
  const [message] = (await chat.rows()).map(({ id }) => id);
  await db.outgoingDelivery.update({ where: { id: message! }, data: { attempts: 1 } });
  await tell();
  expect(await sizes()).toEqual([2, 1]);
});

test('exemptions are told with the object of the API', async () => {
  const fix = await acme.repository('fix', [{}]);
  const ops = await listening({ repositories: ['fix'] });
  const path = `/v1/repos/${fix}/pulls/1/exemptions`;
  const made = await acme.call('POST', path, { as: acme.admin, body: { reason: 'INC-1' } });
  const revoke = `/v1/repos/${fix}/exemptions/${made.body.id}/revoke`;
  const revoked = await acme.call('POST', revoke, { as: acme.admin, body: { reason: 'Fixed' } });
  const notices = (await ops.notices()).flat();
  const [requested, ...decided] = notices.map(({ type, exemption }) => [type, exemption]);
  expect(requested).toEqual([
    'exemption.requested',
    { ...made.body, state: 'requested', decided_at: null, decided_by: null },
  ]);
  expect(decided).toEqual([
    ['exemption.approved', made.body],
    ['exemption.revoked', revoked.body],
  ]);
});

test('a delivery is in the transaction of what it tells, and disabled webhooks and other events have none', async () => {
  const { deps } = acme.app;
  const { accountId, id, name } = await deps.db.repository.findFirstOrThrow({ where: { name: 'fix' } });
  const place = { accountId, repository: { id, name: `acme/${name}` } };
  const [ops, other, elsewhere, disabled] = [
    await listening(),
    await listening({ events: ['freeze.started'] }),
    await listening({ repositories: ['we?', '{site,docs}', '[a-c]*'] }),
    await listening(),
  ];
  await acme.call('PATCH', `/v1/webhooks/acme/${disabled.id}`, { as: acme.admin, body: { enabled: false } });
  const tell = (isKept: boolean) =>
    deps.db.$transaction(async (tx) => {
      const event = { type: 'ruleset.repaired', metadata: { ruleset_id: 1, ruleset: 'Holdfast' } } as const;
      await appendEvent(tx, place, event, null, new Date(deps.clock.now()));
      if (!isKept) throw new Error('rolled back');
    });
  await expect(tell(false)).rejects.toThrow('rolled back');
  expect(await ops.told()).toEqual([]);
  await tell(true);
  expect(await ops.told()).toEqual(['ruleset.repaired fix']);
  for (const each of [other, elsewhere, disabled]) expect(await each.told()).toEqual([]);
});

test.skipIf(!inject('postgresUrl'))('a webhook that is being deleted fails nobody', async () => {
  const { db } = acme.app.deps;
  const { id } = await listening();
  const gone = await acme.repository('gone', [{}]);
  const made = await db.$transaction(async (tx) => {
    await tx.outgoingWebhook.delete({ where: { id } });
    const freezing = acme.call('POST', `/v1/repos/${gone}/scheduled_freeze`, {
      as: acme.admin,
      body: { reason: 'Now', start: null, timezone: 'UTC' },
    });
    await untilBlocked(db);
    return { freezing };
  });
  expect((await made.freezing).status).toBe(201);
});

/** Resolves when a statement waits for another transaction. */
async function untilBlocked(db: Acme['app']['deps']['db']): Promise<void> {
  for (;;) {
    const [row] = await db.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int FROM pg_locks WHERE NOT granted
        AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`;
    if (row!.count > 0) return;
  }
}

test('PostgreSQL matches names of repositories as globs do', async () => {
  const names = ['web', 'WEB', 'web-1', 'api.v2', 'a', 'api_x', 'x-y', 'Z9', 'a+b', 'w.b'];
  const globs = [
    ...['*', 'web', 'web*', 'w?b', '[wx]*', '[!a]*', '[a-c]*', '[z-a]', '*.v[0-9]', '{web,api*}', 'a{,pi_?}'],
    ...[
      '**',
      '[]x]*',
      '[\\d]',
      '*[-1]',
      '\\{a',
      'w.b',
      '[^a]*',
      'a+b',
      '(web)',
      'web|a',
      '$',
      '[[:alpha:]]*',
    ],
  ];
  const cases = globs.flatMap((glob) => names.map((name) => ({ glob, name })));
  const texts = JSON.stringify(cases.map(({ glob, name }) => ({ name, pattern: nameExpression([glob]) })));
  const rows = await acme.app.deps.sql.query<{ matches: boolean }>(
    'names and globs',
    'SELECT name ~* pattern AS matches FROM jsonb_to_recordset($1::jsonb) AS one (name text, pattern text)',
    [texts],
  );
  expect(cases.map((each, at) => ({ ...each, matches: rows[at]!.matches }))).toEqual(
    cases.map(({ glob, name }) => ({ glob, name, matches: compileNameGlob(glob)(name) })),
  );
});
