// A clock that is wrong for seconds, of a machine or of one replica, changes nothing that is held.
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { reconcilePullRequests } from '../src/statuses/reconcile.ts';
import { acmeForAll } from './support/acme.ts';

const minute = 60_000;
const hour = 60 * minute;

const acme = acmeForAll();
beforeEach(async () => {
  acme.github.comeBack();
  await acme.clock.setWrong(0);
  await pass(minute);
});

const pass = (milliseconds: number) => acme.advanceTo(new Date(acme.clock.elapsed() + milliseconds));
const enforcementOf = async (repository: string, id = '') =>
  (
    await acme.call('GET', `/v1/repos/${repository}${id && `/scheduled_freeze/${id}`}/enforcement`, {
      as: acme.admin,
    })
  ).body;
const ready = async () => {
  const { status, body } = await acme.call('GET', '/readyz');
  return [status, body.checks.clock];
};
const clockLines = () =>
  acme.logs.filter((line) => line.includes('"the clock ')).map((line) => JSON.parse(line).msg as string);
const frozenFor = async (name: string, hours: number) => {
  const web = await acme.repository(name.replaceAll(' ', '-'), [{}, {}, {}]);
  const end = new Date(acme.clock.now() + hours * hour).toISOString().slice(0, 19);
  await acme.freeze(web, { reason: 'INC-1', end });
  return web;
};

/** All of a frozen repository is held, also what is pushed now, and everybody says so. */
async function expectHeld(repository: string): Promise<void> {
  const { github } = acme;
  github.push(repository, 2);
  // A replica may do it.
  await vi.waitFor(() => expect(acme.frozen(repository)).toEqual([1, 2, 3]));
  const emergency = await acme.freeze(repository, { reason: 'INC-10' });
  const held = { pull_requests: { to_hold: 3, held: 3 } };
  const ofEmergency = () => enforcementOf(repository, emergency.id);
  await vi.waitFor(async () => expect(await ofEmergency()).toMatchObject(held));
  await acme.remove(repository, emergency.id);
  await acme.quiet();
  const report = await enforcementOf(repository);
  expect(report).toMatchObject(held);
  expect(report.findings).toContainEqual(
    expect.objectContaining({ check: 'clock', state: 'ok', message: "The clock agrees with GitHub's." }),
  );
}

test('a clock that is wrong for eleven seconds, again and again, holds what it held', async () => {
  const web = await frozenFor('jumps', 6);
  for (const wrong of [20 * minute, -20 * minute, 8 * hour]) {
    await acme.clock.setWrong(wrong);
    acme.github.push(web, 2);
    await pass(11_000);
    expect(acme.frozen(web)).toEqual([1, 2, 3]);
    await acme.clock.setWrong(0);
  }
  await pass(minute);
  await expectHeld(web);
});

test.each([['8 hours ahead', 8 * hour]])(
  'a replica whose clock is %s holds what the others hold',
  async (name, wrong) => {
    const web = await frozenFor(name, 6);
    const replica = await acme.replica(acme.clock.ahead(wrong));
    expect(Math.abs(replica.deps.clock.now() - acme.clock.now())).toBeLessThan(2_000);
    // The others take no part, so the work is its own.
    acme.github.push(web, 2);
    await pass(minute);
    await expectHeld(web);
    await replica.close();
    await expectHeld(web);
  },
);

test('what a replica judged whose clock is half a minute ahead is written at once by the others', async () => {
  const web = await frozenFor('judged-ahead', 6);
  const { deps } = acme.app;
  const { id } = await deps.db.repository.findFirstOrThrow({ where: { name: 'judged-ahead' } });
  const onlyThere = acme.github.webhookFaults.add({ kind: 'drop', event: 'pull_request' });
  acme.github.push(web, 2);
  const replica = { ...deps, clock: acme.clock.ahead(minute / 2) };
  await reconcilePullRequests(replica, id, [{ number: 2, installationId: null }]);
  onlyThere.remove();
  await acme.quiet();
  expect(acme.frozen(web)).toEqual([1, 2, 3]);
});

test('a process that starts on a machine eight hours ahead waits for the time of GitHub', async () => {
  const web = await frozenFor('starts', 6);
  await acme.clock.setWrong(8 * hour);
  acme.github.goDown('reset');
  // Nobody can say what time it is, so it believes its own clock.
  const replica = await acme.replica();
  expect(replica.deps.clock.now() - acme.clock.elapsed()).toBe(8 * hour);
  acme.github.comeBack();
  acme.github.push(web, 2);
  await pass(minute);
  expect(Math.abs(replica.deps.clock.now() - acme.clock.elapsed())).toBeLessThan(2_000);
  await acme.clock.setWrong(0);
  await pass(minute);
  await expectHeld(web);
  await replica.close();
});

describe('what a version before this one stored in the future', () => {
  const store = async (name: string) => {
    const { db } = acme.app.deps;
    const reconciledAt = new Date(acme.clock.now() + 8 * hour);
    await db.repository.updateMany({ where: { name }, data: { reconciledAt, reconcileRequestedAt: null } });
  };

  test('is not believed by the next look', async () => {
    const web = await frozenFor('left', 6);
    await store('left');
    acme.github.push(web, 2);
    await acme.quiet();
    expect(acme.frozen(web)).toEqual([1, 2, 3]);
    const { id } = await acme.freeze(web, { reason: 'INC-10 emergency' });
    expect(await enforcementOf(web, id)).toMatchObject({ pull_requests: { to_hold: 3, held: 3 } });
  });

  test('is forgotten within a minute, so that a boundary whose job was lost is found', async () => {
    const web = await acme.repository('boundary', [{}]);
    const start = new Date(acme.clock.now() + minute / 2).toISOString().slice(0, 19);
    await acme.freeze(web, { start });
    await store('boundary');
    await acme.app.deps.db.job.deleteMany();
    await pass(minute);
    expect(acme.frozen(web)).toEqual([1]);
    expect(acme.logs.join('\n')).toContain('what it stored in the future does not count');
  });

  test('does not count as judged', async () => {
    const web = await frozenFor('not-judged', 6);
    await store('not-judged');
    const { findings, pull_requests } = await enforcementOf(web);
    expect(pull_requests.to_hold, findings).toBeNull();
  });
});

describe('people are told', () => {
  test.each([
    [4_000, '4 s ahead of GitHub’s', 'warning'],
    [-44_700, '45 s behind GitHub’s', 'failed'],
    [1_200_000, '1200 s ahead of GitHub’s', 'failed'],
  ])('of %i ms, once', async (wrong, says, state) => {
    const web = await acme.repository(`told-${wrong}`, [{}]);
    const before = clockLines().length;
    await acme.clock.setWrong(wrong);
    await pass(minute);
    expect(await ready()).toEqual([200, says]);
    const { findings } = await enforcementOf(web);
    expect(findings.find(({ check }: { check: string }) => check === 'clock')).toMatchObject({ state });
    expect(clockLines().length - before).toBe(state === 'ok' ? 0 : 1);
  });
});
