import { describe, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

const questions = () => acme.github.requests.filter(({ path }) => path.startsWith('/graphql'));
const mergeStates = () => questions().filter(({ operationName }) => operationName === 'MergeStates').length;
/** How often pull requests were read; whether GitHub would merge those that are held is asked apart. */
const reads = () => questions().length - mergeStates();

describe('without any event', () => {
  test('a schedule holds and frees, day after day, to the millisecond, and GitHub is asked only at the changes and each hour', async () => {
    const { advanceTo, frozen } = acme;
    // A Sunday. Paris is an hour ahead of UTC.
    const web = await acme.repository('web', [{}, { base: 'release' }]);
    const matching = ['base=main', 'schedule=Mon-Fri 09:00-17:00[Europe/Paris]'];
    const { id } = await acme.freeze(web, { matching_conditions: matching });
    expect(frozen(web)).toEqual([]);
    // The hourly look at everything.
    await advanceTo('2026-03-02T07:10:00Z');
    const before = reads();
    for (const minute of [20, 30, 40, 50]) await advanceTo(`2026-03-02T07:${minute}:00Z`);
    await advanceTo('2026-03-02T07:59:59.999Z');
    expect(frozen(web)).toEqual([]);
    expect(reads()).toBe(before);
    // Nothing is held yet.
    expect(mergeStates()).toBe(0);

    await advanceTo('2026-03-02T08:00:00Z');
    expect(frozen(web)).toEqual([1]);
    expect(reads()).toBe(before + 1);
    await advanceTo('2026-03-02T15:30:00Z');
    const afternoon = reads();
    expect(mergeStates()).toBeGreaterThan(0);
    await advanceTo('2026-03-02T16:00:00Z');
    expect(frozen(web)).toEqual([1]);
    await advanceTo('2026-03-02T16:00:01Z');
    expect(frozen(web)).toEqual([]);
    expect(reads()).toBe(afternoon + 1);
    const evening = mergeStates();
    await advanceTo('2026-03-02T17:00:00Z');
    expect(mergeStates()).toBe(evening);

    await advanceTo('2026-03-03T08:00:00Z');
    expect(frozen(web)).toEqual([1]);
    await acme.remove(web, id);
    expect(frozen(web)).toEqual([]);
    const after = reads();
    await advanceTo('2026-03-04T08:00:00Z');
    expect(frozen(web)).toEqual([]);
    // The looks that were planned before the freeze was deleted, and the hourly one; none after them.
    expect(reads()).toBeLessThanOrEqual(after + 3);
  });

  test('each pull request comes of age at its own instant', async () => {
    const { advanceTo, frozen, github } = acme;
    const api = await acme.repository('api', [{}]);
    await acme.freeze(api, { matching_conditions: ['created-at>2 hours ago'] });
    await advanceTo('2026-03-04T08:30:00Z');
    github.openPullRequest(api, { author: 'ada' });
    await acme.quiet();
    expect(frozen(api)).toEqual([1, 2]);
    await advanceTo('2026-03-04T09:59:59.999Z');
    expect(frozen(api)).toEqual([1, 2]);
    await advanceTo('2026-03-04T10:00:00.500Z');
    expect(frozen(api)).toEqual([2]);
    await advanceTo('2026-03-04T10:30:00Z');
    expect(frozen(api)).toEqual([]);
  });

  test('an exclude by an interval frees, and holds again', async () => {
    const { advanceTo, frozen } = acme;
    const ops = await acme.repository('ops', [{}]);
    const window = 'current-datetime=2026-03-04T12:00/2026-03-04T13:00';
    await acme.freeze(ops, { exclude_conditions: [window] });
    expect(frozen(ops)).toEqual([1]);
    await advanceTo('2026-03-04T12:00:00Z');
    expect(frozen(ops)).toEqual([]);
    await advanceTo('2026-03-04T13:00:00.001Z');
    expect(frozen(ops)).toEqual([1]);
  });

  test('a flip whose job was lost is found by the sweep', async () => {
    const { advanceTo, frozen, app } = acme;
    const lost = await acme.repository('lost', [{}]);
    await acme.freeze(lost, { matching_conditions: ['current-datetime>=2026-03-04T14:00:30'] });
    expect(frozen(lost)).toEqual([]);
    await app.deps.db.$executeRaw`DELETE FROM jobs WHERE task = 'reconcile-repository' AND NOT is_taken`;
    await advanceTo('2026-03-04T14:00:31Z');
    await advanceTo('2026-03-04T14:02:00Z');
    expect(frozen(lost)).toEqual([1]);
  });

  test('nothing is planned outside of the freeze’s window', async () => {
    const { app } = acme;
    const idle = await acme.repository('idle', [{}]);
    await acme.freeze(idle, { end: '2026-03-04T15:00:00', matching_conditions: ['schedule=Fri'] });
    const { nextChangeAt } = await app.deps.db.repository.findFirstOrThrow({ where: { nameKey: 'idle' } });
    expect(nextChangeAt).toBeNull();
  });

  test('conditions without the clock cause no look for the clock', async () => {
    const { app } = acme;
    const calm = await acme.repository('calm', [{ base: 'release' }]);
    await acme.freeze(calm, { matching_conditions: ['base=main', 'schedule=Thu'] });
    const of = () => app.deps.db.repository.findFirstOrThrow({ where: { nameKey: 'calm' } });
    expect((await of()).nextChangeAt).toBeNull();
    acme.github.retarget(calm, 1, 'main');
    await acme.quiet();
    expect((await of()).nextChangeAt).toEqual(new Date('2026-03-05T00:00:00Z'));
  });
});
