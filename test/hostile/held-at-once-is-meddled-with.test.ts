import { describe, expect, test } from 'vitest';
import { jobs } from '../../src/database/queue/jobs.ts';
import { holdsToCheck } from '../../src/statuses/instant-hold/hold-store.ts';
import { acmeForAll } from '../support/acme.ts';
import { instantHoldsOf } from '../support/instant-holds.ts';
import { lookFaster } from '../support/patience.ts';

// Somebody changes the ruleset of an instant hold: it is compared each minute.
const acme = acmeForAll({}, { lock: true });
const holds = () => instantHoldsOf(acme);

test('a check of what did not change is one request, which costs nothing', async () => {
  const web = await holds().held('calm', 'lock', [{}]);
  await acme.freeze(web);
  await holds().pass(60);
  const start = acme.github.requests.length;
  await holds().pass(120);
  const ofWeb = acme.github.requests
    .slice(start)
    .filter(({ path }) => path.startsWith(`/repos/${web}/rulesets`));
  const asked = ofWeb.map(({ path, status }) => `${path.split('?')[0]} ${status}`);
  expect(new Set(asked)).toEqual(new Set([`/repos/${web}/rulesets 304`]));
});

test('every ruleset in force is compared each minute, and 60 others of an owner', async () => {
  const { db } = acme.app.deps;
  const now = new Date(acme.clock.now());
  const account = await db.account.create({
    data: { id: 77n, login: 'many', loginKey: 'many', type: 'User', seenAt: now },
  });
  const ids = Array.from({ length: 200 }, (_, index) => BigInt(900_000_000 + index));
  await db.repository.createMany({
    data: ids.map((id) => ({
      ...{ id, accountId: account.id, name: `r${id}`, nameKey: `r${id}`, private: false, archived: false },
      ...{ products: [], seenAt: now },
    })),
  });
  const inForce = ids.slice(0, 100);
  await db.instantHold.createMany({
    data: ids.map((repositoryId, index) => ({ repositoryId, context: index < 100 ? 'Frozen' : null })),
  });
  const found = (await holdsToCheck(db)).filter((id) => ids.includes(id));
  expect(found.toSorted().slice(0, 100)).toEqual(inForce);
  expect(found).toHaveLength(160);
  await db.repository.deleteMany({ where: { id: { in: ids } } });
  await db.account.delete({ where: { id: account.id } });
});

describe('what somebody does to the ruleset is put right within a minute, and told', () => {
  test.each<[string, (id: number) => void, string]>([
    ['deleted', (id) => acme.github.deleteRuleset(id), 'deleted'],
    ['disabled', (id) => acme.github.setEnforcement(id, 'disabled'), 'changed'],
    [
      'aimed at another branch',
      (id) => acme.github.editRuleset(id, { refs: { include: ['refs/heads/x'], exclude: [] } }),
      'changed',
    ],
    [
      'given another check',
      (id) => acme.github.editRuleset(id, { checks: [{ context: 'ci', appId: null }] }),
      'changed',
    ],
    [
      'freed of the expected App',
      (id) => acme.github.editRuleset(id, { checks: [{ context: 'ci', appId: 1 }] }),
      'changed',
    ],
  ])('%s', async (name, change, found) => {
    const web = await holds().held(name.replaceAll(' ', '-'), 'lock', [{}]);
    await acme.freeze(web);
    const [before] = holds().rulesets(web);
    change(before!.id);
    acme.github.protect(web, 'main', []);
    await holds().pass(60);
    expect(holds().rulesets(web)).toEqual([{ ...before, id: expect.any(Number) }]);
    expect(holds().mergeable(web)).toEqual({ 1: 'blocked' });
    const [event, ...others] = await holds().events(web, 'ruleset.repaired');
    expect(event!.metadata).toMatchObject({
      ruleset: 'Holdfast instant hold',
      found,
      repaired_by: { name: 'Holdfast' },
    });
    expect(others).toEqual([]);
    expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
  });

  test('emptied in the second in which it was compared', async () => {
    const web = await holds().held('same-second', 'lock', [{}]);
    await acme.freeze(web);
    const { db, queue } = acme.app.deps;
    const { id } = await db.repository.findFirstOrThrow({ where: { name: 'same-second' } });
    await queue.send([jobs.settleInstantHold(id, { isCheck: true })]);
    await acme.quiet();
    const before = holds().rulesets(web);
    acme.github.editRuleset(holds().idOf(web), { checks: [] });
    await holds().pass(60);
    expect(holds().rulesets(web)).toEqual(before);
    expect(await holds().events(web, 'ruleset.repaired')).toHaveLength(1);
  });

  test('in force without a freeze', async () => {
    const web = await holds().held('orphan', 'lock', [{}]);
    await acme.remove(web, (await acme.freeze(web)).id);
    const id = holds().idOf(web);
    acme.github.setEnforcement(id, 'active');
    expect(holds().mergeable(web)).toEqual({ 1: 'blocked' });
    await holds().pass(60);
    expect(holds().mergeable(web)).toEqual({ 1: 'clean' });
    const events = await holds().events(web, 'ruleset.orphaned');
    expect(events.map(({ metadata }) => metadata['ruleset_id'])).toEqual([id]);
  });

  test.each<[string, string, number, (id: bigint) => Promise<unknown>]>([
    ['when the sweep comes', 'busy-sweep', 65, () => holds().pass(60)],
    [
      'when the check begins',
      'busy-check',
      20,
      async (id) => {
        await acme.app.deps.queue.send([jobs.settleInstantHold(id, { isCheck: true })]);
        await acme.quiet();
      },
    ],
  ])('in force without a freeze, while a process changes the hold %s', async (_, name, busyFor, check) => {
    lookFaster();
    const web = await holds().held(name, 'lock', [{}]);
    await acme.remove(web, (await acme.freeze(web)).id);
    // A sweep now, and the next one a minute later.
    await holds().pass(60);
    acme.github.setEnforcement(holds().idOf(web), 'active');
    const { db } = acme.app.deps;
    const { id } = await db.repository.findFirstOrThrow({ where: { name } });
    const leaseUntil = new Date(acme.clock.now() + busyFor * 1000);
    const lease = { leaseHolder: crypto.randomUUID(), leaseUntil };
    await db.instantHold.update({ where: { repositoryId: id }, data: lease });
    await check(id);
    expect(holds().mergeable(web)).toEqual({ 1: 'blocked' });
    await acme.advanceTo(leaseUntil);
    expect(holds().mergeable(web)).toEqual({ 1: 'clean' });
  });

  test('made by hand with our name, before and during a freeze', async () => {
    const byHand = { name: 'Holdfast instant hold', checks: ['by hand'] };
    const web = await holds().held('by-hand', 'lock', [{}]);
    const { id } = acme.github.addRuleset(web, byHand);
    await acme.freeze(web);
    expect(holds().rulesets(web)).toMatchObject([{ id, context: expect.stringMatching(/^Frozen/) }]);
    const other = acme.github.addRuleset(web, byHand);
    await holds().pass(60);
    expect(holds().rulesets(web)).toMatchObject([
      { id, enforcement: 'active' },
      { id: other.id, enforcement: 'disabled' },
    ]);
  });

  test('who may bypass one that was made by hand before the first freeze stays', async () => {
    const web = await holds().held('prepared', 'lock', [{}]);
    const bypass = [{ actor_type: 'Integration', actor_id: 7 }] as const;
    acme.github.addRuleset(web, {
      name: 'Holdfast instant hold',
      enforcement: 'disabled',
      bypass: [...bypass],
    });
    await acme.freeze(web);
    expect(acme.github.pushDirectly(web, 'main', { app: 7 })).toBeNull();
    expect(acme.github.pushDirectly(web, 'main', { person: 'ada' })).toMatch(/Frozen/);
  });

  test('who may bypass it stays', async () => {
    const web = await holds().held('bots', 'lock', [{}]);
    await acme.freeze(web);
    const id = holds().idOf(web);
    const bot = { actor_type: 'Integration', actor_id: 7, bypass_mode: 'always' } as const;
    acme.github.editRuleset(id, { bypassActors: [bot] });
    await holds().pass(60);
    expect(await holds().events(web, 'ruleset.repaired')).toEqual([]);
    await acme.freeze(web);
    expect(acme.github.pushDirectly(web, 'main', { app: 7 })).toBeNull();
    expect(acme.github.pushDirectly(web, 'main', { person: 'ada' })).toMatch(/Frozen/);
  });
});
