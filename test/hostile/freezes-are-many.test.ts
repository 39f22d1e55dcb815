import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { mostFreezes } from '../../src/freezes/save-freeze.ts';
import { acmeForAll } from '../support/acme.ts';
import { expectAtMost, fewestOf, statementsDuring } from '../support/statements.ts';
import { Visitor } from '../support/visitor.ts';
import { testOfAmount } from '../support/amounts.ts';

const acme = acmeForAll();

const minutes = 60_000;

/** Freezes of a repository that begin one after another from tomorrow on, saved without the API. */
async function fill(repository: string, count: number): Promise<void> {
  const { db } = acme.app.deps;
  const nameKey = repository.split('/')[1]!;
  const { id: repositoryId } = await db.repository.findFirstOrThrow({ where: { nameKey } });
  const by = { type: 'user', id: 1, name: 'ada' };
  const now = new Date(acme.clock.now());
  await db.freeze.createMany({
    data: Array.from({ length: count }, (_, index) => {
      const startsAt = new Date(now.getTime() + 24 * 60 * minutes + index * minutes);
      return {
        id: randomUUID(),
        repositoryId,
        reason: `Freeze number ${index + 1}. ${'Why. '.repeat(50)}`,
        start: startsAt.toISOString().slice(0, 19),
        timezone: 'UTC',
        startsAt,
        matchingConditions: ['label=risky'],
        excludeConditions: [],
        reads: [],
        createdAt: now,
        createdBy: by,
        updatedAt: now,
        updatedBy: by,
      };
    }),
  });
}

test('a repository has at most 1,000 freezes that are not over, however many are made at once', async () => {
  const full = await acme.repository('full');
  await fill(full, mostFreezes - 2);
  const path = `/v1/repos/${full}/scheduled_freeze`;
  const create = () =>
    acme.call('POST', path, {
      as: acme.admin,
      body: { reason: 'One more', start: '2026-04-01T00:00:00', timezone: 'UTC' },
    });
  const answers = await Promise.all([create(), create(), create(), create()]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409]);
  const { detail } = answers.find(({ status }) => status === 409)!.body;
  expect(detail).toContain('acme/full has 1,000 freezes that are not over');
  expect(detail).toContain('GET /v1/repos/acme/full/scheduled_freeze');
  // What begins now has room, in whatever way somebody asks for it.
  const { id } = await acme.freeze(full);
  const pause = `/v1/repos/${full}/merge-queue/pause`;
  const incident = { as: acme.admin, body: { reason: 'Incident' } };
  expect((await acme.call('PUT', pause, incident)).status).toBe(200);
  expect((await create()).status).toBe(409);
  await acme.remove(full, id);
  expect((await acme.call('DELETE', pause, { as: acme.admin })).status).toBe(204);
  const made = answers.find(({ status }) => status === 201)!.body;
  await acme.remove(full, made.id);
  expect((await create()).status).toBe(201);
  // Another repository has its own room.
  await acme.freeze(await acme.repository('roomy'));
});

test('freezes that plans make ahead leave room for freezes that are needed now', async () => {
  const planned = await acme.repository('planned');
  const body = {
    name: 'Nights',
    reason: 'Maintenance',
    repositories: { include: ['planned'] },
    start: '2026-03-20T01:00:00',
    end: '2026-03-20T02:00:00',
    timezone: 'UTC',
  };
  const { status, body: plan } = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
  expect(status).toBe(201);
  await fill(planned, mostFreezes);
  const reason = { startsWith: 'Freeze number' };
  const where = { reason, repository: { nameKey: 'planned' } };
  await acme.app.deps.db.freeze.updateMany({ where, data: { planId: plan.id } });
  await acme.freeze(planned);
  const pause = { as: acme.admin, body: { reason: 'Incident' } };
  expect((await acme.call('PUT', `/v1/repos/${planned}/merge-queue/pause`, pause)).status).toBe(200);
});

test('the page of a repository with 1,000 freezes is small, and leads to all of them', async () => {
  const long = await acme.repository('long', [{}]);
  await fill(long, mostFreezes - 1);
  await acme.freeze(long, { reason: 'Ongoing' });
  const load = async (query = '') => {
    const response = await fetch(`${acme.app.url}/repos/${long}${query}`);
    expect(response.status).toBe(200);
    return response.text();
  };
  const laterLink = (text: string) =>
    /href="(\?[^"#]*)#freezes">Later freezes/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  const first = await load();
  expect(first.length).toBeLessThan(150_000);
  expect(first.match(/<tr id="freeze-/g)).toHaveLength(20);
  expect(first).toContain('>Ongoing<');
  expect(first).not.toContain('Earlier freezes');
  const second = await load(laterLink(first));
  expect(second.match(/<tr id="freeze-/g)).toHaveLength(20);
  expect(second).toContain('is frozen');
  expect(second).toContain('Freeze number 20.');
  expect(second).toContain('Earlier freezes');
  expect(await load('?current=nonsense')).toContain(
    'This page of ongoing and scheduled freezes does not exist',
  );
});

testOfAmount('with the longest texts, for every viewer: under 300 kB, by few statements', async () => {
  const heavy = await acme.repository('heavy', [
    { title: 'T'.repeat(250) },
    ...Array.from({ length: 29 }, () => ({})),
  ]);
  const { db } = acme.app.deps;
  const { id: repositoryId } = await db.repository.findFirstOrThrow({ where: { nameKey: 'heavy' } });
  const by = { type: 'user', id: 1, name: 'ada' };
  const now = new Date(acme.clock.now());
  // On for a month, without an end: somebody may have forgotten every one of them.
  const startsAt = new Date(now.getTime() - 30 * 24 * 60 * minutes);
  await db.freeze.createMany({
    data: Array.from({ length: mostFreezes - 1 }, (_, index) => ({
      id: randomUUID(),
      repositoryId,
      reason: `${index} ${'Why. '.repeat(1900)}`,
      start: startsAt.toISOString().slice(0, 19),
      timezone: 'America/Argentina/ComodRivadavia',
      startsAt,
      matchingConditions: index % 100 ? [] : Array.from({ length: 300 }, (__, label) => `-label=l${label}`),
      excludeConditions: [],
      reads: [],
      createdAt: now,
      createdBy: by,
      updatedAt: now,
      updatedBy: by,
    })),
  });
  // A call makes it, so that all of them judge the open pull requests, and the log has it.
  const last = await acme.freeze(heavy, { reason: 'Why. '.repeat(1900) });
  await acme.update(heavy, last.id, { reason: `Changed. ${'Why. '.repeat(1900)}` });
  const { id: _new, ...change } = await db.auditEvent.findFirstOrThrow({
    where: { repositoryId },
    orderBy: { id: 'desc' },
  });
  await db.auditEvent.createMany({ data: Array.from({ length: 30 }, () => change as never) });
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  const load = async () => {
    const { status, text } = await ada.open(`/repos/${heavy}`);
    expect(status).toBe(200);
    return text;
  };
  const text = await load();
  expect(text).toContain('1000 freezes are ongoing');
  expect(text).toContain('30 pull requests are blocked');
  expect(text).toContain('id="log"');
  expect(text.length).toBeLessThan(300_000);
  const statements = await fewestOf(() => statementsDuring(load));
  if (statements.length > 0) expectAtMost(14, statements);
});
