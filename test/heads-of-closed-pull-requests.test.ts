// A green head whose pull request is closed could be merged in the moment after that is opened again, or another one
// on the same head: so a freeze holds it as well, after everything else.
import { describe, expect, test } from 'vitest';
import { type Acme, free, heldUntilRemoved, acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

const then = async (act: (github: Acme['github']) => unknown): Promise<void> => {
  await act(acme.github);
  await acme.quiet();
};
const close = (repository: string, ...numbers: number[]) =>
  then((github) => numbers.forEach((number) => github.closePullRequest(repository, number)));
const headOf = (repository: string, number: number) => acme.github.pullRequest(repository, number).headSha;
const ofMain = { matching_conditions: ['base=main'] };
const day = 86_400_000;

describe('the head of a closed pull request that a freeze selects', () => {
  test('blocks at once if it is opened again, without any write, and is free at the end', async () => {
    const web = await acme.repository('web', [{}, { base: 'release' }]);
    await close(web, 1, 2);
    const { id } = await acme.freeze(web, ofMain);
    expect(acme.shown(web, 1)).toEqual(heldUntilRemoved);
    expect(acme.shown(web, 2)).toEqual(free);
    const before = acme.postsInAll();
    acme.github.reopenPullRequest(web, 1);
    expect(acme.github.mergeable(web, 1)).toBe('blocked');
    await acme.quiet();
    expect(acme.postsInAll()).toBe(before);
    await close(web, 1);
    expect(acme.postsInAll()).toBe(before);
    await acme.remove(web, id);
    expect(acme.shown(web, 1)).toEqual(free);
    expect(acme.postsInAll()).toBe(before + 1);
  });

  test('blocks a second pull request at once, which then has its own verdict', async () => {
    const api = await acme.repository('api', [{}]);
    await close(api, 1);
    await acme.freeze(api, ofMain);
    const headSha = headOf(api, 1);
    acme.github.openPullRequest(api, { author: 'bob', headSha });
    expect(acme.github.mergeable(api, 2)).toBe('blocked');
    await acme.quiet();
    expect(acme.shown(api, 2)).toEqual(heldUntilRemoved);
    await close(api, 2);
    await then((github) => github.openPullRequest(api, { author: 'bob', base: 'release', headSha }));
    expect(acme.shown(api, 3)).toEqual(free);
  });

  test('is held by a freeze of merges, and freed by a freeze of only deployments', async () => {
    const ops = await acme.repository('deployed', [{}]);
    await close(ops, 1);
    const { id } = await acme.freeze(ops, { holds: ['deployments'] });
    expect(acme.shown(ops, 1)).toEqual(free);
    await acme.update(ops, id, { holds: ['merges'] });
    expect(acme.shown(ops, 1)).toEqual(heldUntilRemoved);
    await acme.update(ops, id, { holds: ['deployments'] });
    expect(acme.shown(ops, 1)).toEqual(free);
  });

  test('is followed while it is closed: conditions, labels, other freezes, the end', async () => {
    const app = await acme.repository('app', [{}, {}]);
    const { id } = await acme.freeze(app, { matching_conditions: ['label=risky'] });
    await then((github) => github.label(app, 2, 'risky'));
    await close(app, 1, 2);
    expect(acme.shown(app, 2)).toEqual(heldUntilRemoved);
    await then((github) => github.label(app, 1, 'risky'));
    expect(acme.shown(app, 1)).toEqual(heldUntilRemoved);
    await then((github) => github.unlabel(app, 1, 'risky'));
    expect(acme.shown(app, 1)).toEqual(free);
    await acme.update(app, id, { matching_conditions: ['-label=risky'] });
    expect([1, 2].map((number) => acme.shown(app, number)?.state)).toEqual(['pending', 'success']);
    const other = await acme.freeze(app, { matching_conditions: ['label=risky'] });
    expect(acme.shown(app, 2)).toEqual(heldUntilRemoved);
    await acme.remove(app, id);
    await acme.remove(app, other.id);
    expect([1, 2].map((number) => acme.shown(app, number))).toEqual([free, free]);
  });

  test('is freed also long after it was closed, and if freezes are switched off', async () => {
    const lib = await acme.repository('lib', [{}]);
    await acme.freeze(lib, ofMain);
    await close(lib, 1);
    await acme.advanceTo(new Date(acme.clock.now() + day));
    expect(acme.shown(lib, 1)?.state).toBe('pending');
    await acme.setProducts(lib, []);
    expect(acme.shown(lib, 1)).toEqual(free);
  });

  test('never counts as a held pull request', async () => {
    const core = await acme.repository('core', [{}, {}]);
    await close(core, 1);
    const { id } = await acme.freeze(core, ofMain);
    expect(acme.shown(core, 1)?.state).toBe('pending');
    const path = `/v1/repos/${core}/scheduled_freeze/${id}/enforcement`;
    const { body } = await acme.call('GET', path, { as: acme.admin });
    expect(JSON.stringify(body)).toContain('"held":1');
    expect(JSON.stringify(body)).not.toContain('"held":2');
  });

  test('is left alone if it is merged, has no status of ours, or was closed over 30 days ago', async () => {
    const docs = await acme.repository('docs', [{}, {}]);
    acme.github.merge(docs, 1);
    await close(docs, 2);
    await acme.advanceTo(new Date(acme.clock.now() + 31 * day));
    await then((github) => github.openPullRequest(docs, { author: 'ada' }));
    await close(docs, 3);
    await acme.freeze(docs);
    expect([1, 2, 3].map((number) => acme.shown(docs, number)?.state)).toEqual([
      'success',
      'success',
      'pending',
    ]);
  });
});

describe('what it costs', () => {
  test('nothing for events, and one question for a freeze that begins', async () => {
    const ops = await acme.repository('ops', [{}, {}]);
    const { requests } = acme.github;
    const asked = () => requests.filter(({ operationName }) => operationName === 'ClosedPullRequests').length;
    const before = asked();
    const { id } = await acme.freeze(ops);
    expect(asked()).toBe(before + 1);
    await then((github) => github.push(ops, 1));
    await close(ops, 2);
    await then((github) => github.reopenPullRequest(ops, 2));
    await acme.update(ops, id, { reason: 'Another' });
    await acme.remove(ops, id);
    expect(asked()).toBe(before + 1);
  });
});
