// GitHub: "If the test merge commit has a status, the test merge commit must pass. Otherwise, the status of the head
// commit must pass." Anybody who may push can put the test merge commit of a held pull request on a branch and open
// another pull request from it that no freeze selects.
import { describe, expect, test } from 'vitest';
import { type Acme, free, heldUntilRemoved, acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

const then = async (act: (github: Acme['github']) => unknown): Promise<void> => {
  await act(acme.github);
  await acme.quiet();
};

const ofMain = { matching_conditions: ['base=main'] };
const heldByOne = { state: 'pending', description: '#1 is frozen until removed: Release' };
const testMerge = (repository: string, number = 1) => acme.github.testMergeCommit(repository, number)!;
const shownOn = (repository: string, sha: string) => acme.github.currentStatus(repository, sha);
/** A pull request into a branch that the freeze does not select, from the test merge commit of another. */
const openFrom = (repository: string, headSha: string) =>
  then((github) => github.openPullRequest(repository, { author: 'bob', base: 'release', headSha }));

describe('a pull request from the test merge commit of a held one', () => {
  test('is held with it, and freed with it', async () => {
    const web = await acme.repository('web', [{}]);
    const { id } = await acme.freeze(web, ofMain);
    await openFrom(web, testMerge(web));
    expect(acme.shown(web, 2)).toEqual(heldByOne);
    expect(acme.github.mergeable(web, 1)).toBe('blocked');
    await acme.remove(web, id);
    expect(acme.shown(web, 2)).toEqual(free);
    expect(acme.github.mergeable(web, 1)).toBe('clean');
  });

  test('is also held if it was there first', async () => {
    const api = await acme.repository('api', [{}]);
    await openFrom(api, testMerge(api));
    expect(acme.shown(api, 2)).toEqual(free);
    await acme.freeze(api, ofMain);
    expect(acme.shown(api, 2)).toEqual(heldByOne);
    expect(acme.github.mergeable(api, 1)).toBe('blocked');
  });

  test('is also held if the held one is opened again, retargeted or labeled after it', async () => {
    const app = await acme.repository('app', [{ base: 'release' }, {}]);
    await acme.freeze(app, { matching_conditions: [{ or: ['base=main', 'label=risky'] }] });
    await openFrom(app, testMerge(app));
    expect(acme.shown(app, 3)).toEqual(free);
    await then((github) => github.label(app, 1, 'risky'));
    expect(acme.shown(app, 3)).toEqual(heldByOne);
    await then((github) => github.unlabel(app, 1, 'risky'));
    expect(acme.shown(app, 3)).toEqual(free);

    const ofTwo = testMerge(app, 2);
    await then((github) => github.closePullRequest(app, 2));
    await openFrom(app, ofTwo);
    expect(acme.shown(app, 4)).toEqual(free);
    await then((github) => github.reopenPullRequest(app, 2));
    expect(acme.shown(app, 4)?.state).toBe('pending');
    expect(acme.github.mergeable(app, 2)).toBe('blocked');
  });

  test('is found by its commit if the test merge commit became known, or changed, without an event', async () => {
    const lib = await acme.repository('lib', [{}, {}]);
    const { github } = acme;
    github.setTestMergeUnderWay(lib, 1, true);
    await acme.freeze(lib, ofMain);
    github.setTestMergeUnderWay(lib, 1, false);
    await openFrom(lib, testMerge(lib));
    expect(github.mergeable(lib, 1)).toBe('blocked');
    // The base moves, and with it the test merge commit of each.
    await then(() => github.pushToBranch(lib, 'main'));
    await openFrom(lib, testMerge(lib, 2));
    expect(github.mergeable(lib, 2)).toBe('blocked');
    expect(acme.shown(lib, 4)?.description).toBe('#2 is frozen until removed: Release');
  });

  test('is held seconds after its test merge commit becomes known', async () => {
    const lag = await acme.repository('lag', [{}]);
    const { github } = acme;
    await acme.freeze(lag, ofMain);
    const headSha = testMerge(lag);
    await then(() => github.closePullRequest(lag, 1));
    await openFrom(lag, headSha);
    github.setTestMergeUnderWay(lag, 1, true);
    await then(() => github.reopenPullRequest(lag, 1));
    github.setTestMergeUnderWay(lag, 1, false);
    expect(acme.shown(lag, 2)).toEqual(free);
    await acme.advanceTo(new Date(acme.clock.now() + 3000));
    expect(acme.shown(lag, 2)).toEqual(heldByOne);
  });

  test('has its own verdict again when the held one is closed or moves on', async () => {
    const core = await acme.repository('core', [{}, {}]);
    await acme.freeze(core, ofMain);
    for (const number of [1, 2]) await openFrom(core, testMerge(core, number));
    expect([3, 4].map((number) => acme.shown(core, number)?.state)).toEqual(['pending', 'pending']);
    await then((github) => github.closePullRequest(core, 1));
    expect(acme.shown(core, 3)).toEqual(free);
    await then((github) => github.push(core, 2));
    expect(acme.shown(core, 4)).toEqual(free);
  });

  test('holds the other by its own freeze: GitHub asks the test merge commit', async () => {
    const ops = await acme.repository('ops', [{}]);
    const { id } = await acme.freeze(ops, { matching_conditions: ['base=release'] });
    await openFrom(ops, testMerge(ops));
    expect(acme.shown(ops, 1)).toEqual(free);
    expect(acme.github.mergeable(ops, 1)).toBe('blocked');
    const path = `/v1/repos/${ops}/pulls/1/freezes`;
    const { body } = await acme.call('GET', path, { as: acme.admin });
    expect(body).toMatchObject({ frozen: true });
    await acme.remove(ops, id);
    expect(acme.github.mergeable(ops, 1)).toBe('clean');
  });
});

describe('a test merge commit that is nobody’s head', () => {
  test('is never written if it shows no status of ours', async () => {
    const docs = await acme.repository('docs', [{}, {}]);
    const { id } = await acme.freeze(docs, ofMain);
    await then((github) => github.push(docs, 1));
    await acme.remove(docs, id);
    for (const number of [1, 2])
      expect(acme.github.statusHistory(docs, testMerge(docs, number))).toHaveLength(0);
  });

  test('is held and freed if a closed pull request left a status on it', async () => {
    const left = await acme.repository('left', [{}]);
    await openFrom(left, testMerge(left));
    await then((github) => github.closePullRequest(left, 2));
    expect(shownOn(left, testMerge(left))).toMatchObject(free);
    const { id } = await acme.freeze(left, ofMain);
    expect(shownOn(left, testMerge(left))).toMatchObject(heldUntilRemoved);
    expect(acme.github.mergeable(left, 1)).toBe('blocked');
    await acme.remove(left, id);
    expect(shownOn(left, testMerge(left))).toMatchObject(free);
    expect(acme.github.mergeable(left, 1)).toBe('clean');
  });

  test('is written if the other is closed while both are held, and nothing stays pending', async () => {
    const both = await acme.repository('both', [{}]);
    const { id } = await acme.freeze(both, ofMain);
    await openFrom(both, testMerge(both));
    await then((github) => github.closePullRequest(both, 2));
    expect(acme.github.mergeable(both, 1)).toBe('blocked');
    await acme.remove(both, id);
    expect(shownOn(both, testMerge(both))).toMatchObject(free);
    expect(acme.github.mergeable(both, 1)).toBe('clean');
  });

  test('is held at once if somebody writes a success of our context there', async () => {
    const forge = await acme.repository('forge', [{}]);
    await acme.freeze(forge, ofMain);
    await then((github) => github.postStatus(forge, testMerge(forge), { by: 'bob', state: 'success' }));
    expect(shownOn(forge, testMerge(forge))).toMatchObject(heldUntilRemoved);
    // Also if the base has moved since we looked.
    await then((github) => github.pushToBranch(forge, 'main'));
    await then((github) => github.postStatus(forge, testMerge(forge), { by: 'bob', state: 'success' }));
    expect(acme.github.mergeable(forge, 1)).toBe('blocked');
  });
});
