import { describe, expect, test } from 'vitest';
import { type Acme, free, heldUntilRemoved, acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

/** Does something at GitHub and waits until the service has followed. */
const then = async (act: (github: Acme['github']) => unknown): Promise<void> => {
  await act(acme.github);
  await acme.quiet();
};

describe('during a freeze of everything', () => {
  test('a new pull request is blocked, also from a fork', async () => {
    const web = await acme.repository('web');
    await acme.freeze(web);
    await then((github) => github.openPullRequest(web, { author: 'ada' }));
    await then((github) => github.openPullRequest(web, { author: 'bob', fork: true }));
    expect(acme.frozen(web)).toEqual([1, 2]);
    expect(acme.posts(web)).toEqual({ 1: 1, 2: 1 });
    expect(acme.github.mergeable(web, 2)).toBe('blocked');
    await then((github) => github.push(web, 2));
    expect(acme.shown(web, 2)).toEqual(heldUntilRemoved);
  });

  test('each push is held again; the earlier commit keeps its status', async () => {
    const api = await acme.repository('api', [{}]);
    await acme.freeze(api);
    const { headSha } = acme.github.pullRequest(api, 1);
    await then((github) => github.push(api, 1));
    expect(acme.github.pullRequest(api, 1).headSha).not.toBe(headSha);
    expect(acme.frozen(api)).toEqual([1]);
    expect(acme.posts(api)).toEqual({ 1: 1 });
    expect(acme.github.statusHistory(api, headSha)).toHaveLength(2);
  });

  test('events that change no verdict write nothing', async () => {
    const lib = await acme.repository('lib', [{}]);
    await acme.freeze(lib);
    const before = acme.postsInAll();
    await then((github) => {
      github.label(lib, 1, 'docs');
      github.editTitle(lib, 1, 'Another title');
      github.editBody(lib, 1, 'Another body');
      github.assign(lib, 1, 'bob');
      github.review(lib, 1, { by: 'bob', state: 'APPROVED' });
      github.markDraft(lib, 1);
      github.markReady(lib, 1);
    });
    expect(acme.postsInAll()).toBe(before);
  });

  test('a closed pull request is also held, and stays so when it is opened again', async () => {
    const app = await acme.repository('app', [{}]);
    await then((github) => github.closePullRequest(app, 1));
    const { id } = await acme.freeze(app);
    const { headSha } = acme.github.pullRequest(app, 1);
    expect(acme.github.statusHistory(app, headSha)).toHaveLength(2);
    await then((github) => github.reopenPullRequest(app, 1));
    expect(acme.frozen(app)).toEqual([1]);
    await then((github) => github.closePullRequest(app, 1));
    expect(acme.github.statusHistory(app, headSha)).toHaveLength(2);
    await acme.remove(app, id);
    expect(acme.github.statusHistory(app, headSha)).toHaveLength(3);
    await then((github) => github.reopenPullRequest(app, 1));
    expect(acme.shown(app, 1)).toEqual(free);
  });
});

describe('during a freeze of some', () => {
  test('a label holds and frees', async () => {
    const site = await acme.repository('site', [{}]);
    await acme.freeze(site, { matching_conditions: ['label=risky'] });
    await then((github) => github.label(site, 1, 'risky'));
    expect(acme.frozen(site)).toEqual([1]);
    await then((github) => github.unlabel(site, 1, 'risky'));
    expect(acme.shown(site, 1)).toEqual(free);
    expect(acme.posts(site)).toEqual({ 1: 3 });
  });

  test('an excluded label frees and holds', async () => {
    const ops = await acme.repository('ops', [{}]);
    await acme.freeze(ops, { exclude_conditions: ['label=hotfix'] });
    await then((github) => github.label(ops, 1, 'hotfix'));
    expect(acme.frozen(ops)).toEqual([]);
    await then((github) => github.unlabel(ops, 1, 'hotfix'));
    expect(acme.frozen(ops)).toEqual([1]);
  });

  test('retargeting, a new title and leaving draft are judged', async () => {
    const core = await acme.repository('core', [{}, {}, { draft: true }]);
    await acme.freeze(core, { matching_conditions: [{ or: ['base=release', 'title~=^WIP', '-draft'] }] });
    expect(acme.frozen(core)).toEqual([1, 2]);
    const { id } = await acme.freeze(core, { matching_conditions: ['draft'] });
    expect(acme.frozen(core)).toEqual([1, 2, 3]);
    await acme.remove(core, id);
    await then((github) => github.markReady(core, 3));
    expect(acme.frozen(core)).toEqual([1, 2, 3]);
    for (const number of [1, 2, 3]) await then((github) => github.markDraft(core, number));
    expect(acme.frozen(core)).toEqual([]);
    await then((github) => github.retarget(core, 1, 'release'));
    await then((github) => github.editTitle(core, 2, 'WIP: later'));
    expect(acme.frozen(core)).toEqual([1, 2]);
    await then((github) => github.retarget(core, 1, 'main'));
    await then((github) => github.editTitle(core, 2, 'Now'));
    expect(acme.frozen(core)).toEqual([]);
  });

  test('a push that changes the files, and scopes that CI pushes, are judged', async () => {
    const docs = await acme.repository('docs', [{ files: ['src/a.ts'] }, {}]);
    await acme.freeze(docs, { matching_conditions: [{ or: ['files~=^db/', 'scope=billing'] }] });
    await then((github) => github.push(docs, 1, { files: ['src/a.ts', 'db/1.sql'] }));
    expect(acme.frozen(docs)).toEqual([1]);
    await then((github) => github.push(docs, 1, { files: ['src/a.ts'] }));
    expect(acme.frozen(docs)).toEqual([]);
    const ci = await acme.key('acme', 'ci');
    const push = (body: object) => acme.call('PUT', `/v1/repos/${docs}/pulls/2/scopes`, { as: ci, body });
    await then(() => push({ scopes: ['billing', 'docs'] }));
    expect(acme.frozen(docs)).toEqual([2]);
    await then(() => push({ scopes: ['docs'] }));
    expect(acme.frozen(docs)).toEqual([]);
    await then(() => push({ scopes: [], all_scopes: true }));
    expect(acme.frozen(docs)).toEqual([2]);
    // Those of the pull request with the same number elsewhere are its own.
    const other = await acme.repository('other-docs', [{}, {}]);
    await acme.freeze(other, { matching_conditions: ['scope=billing'] });
    expect(acme.frozen(other)).toEqual([]);
  });
});

describe('pull requests with one head SHA', () => {
  test('are judged together: one frozen holds both, and the text names it', async () => {
    const mono = await acme.repository('mono', [{ head: 'work' }, { head: 'work', base: 'release' }]);
    const { headSha } = acme.github.pullRequest(mono, 1);
    expect(acme.github.pullRequest(mono, 2).headSha).toBe(headSha);
    expect(acme.posts(mono)).toEqual({ 1: 1, 2: 1 });
    await acme.freeze(mono, { matching_conditions: ['base=release'] });
    const held = { state: 'pending', description: '#2 is frozen until removed: Release' };
    expect(acme.shown(mono, 1)).toEqual(held);
    expect(acme.github.statusHistory(mono, headSha)).toHaveLength(2);

    await then((github) => github.label(mono, 1, 'any'));
    expect(acme.shown(mono, 1)).toEqual(held);

    await then((github) => github.closePullRequest(mono, 2));
    expect(acme.shown(mono, 1)).toEqual(free);
    await then((github) => github.reopenPullRequest(mono, 2));
    expect(acme.shown(mono, 1)).toEqual(held);

    await then((github) => github.push(mono, 1));
    expect(acme.shown(mono, 1)).toEqual(held);
    await then((github) => github.retarget(mono, 2, 'develop'));
    expect(acme.shown(mono, 1)).toEqual(free);
  });

  test('are found when a push brings one to the other’s SHA, and freed when one leaves it', async () => {
    const twin = await acme.repository('twin', [{ base: 'release' }]);
    await acme.freeze(twin, { matching_conditions: ['base=release'] });
    const { headSha } = acme.github.pullRequest(twin, 1);
    await then((github) => github.openPullRequest(twin, { author: 'bob', fork: true, headSha }));
    expect(acme.shown(twin, 2)?.description).toBe('#1 is frozen until removed: Release');
    await then((github) => github.push(twin, 2));
    expect(acme.shown(twin, 2)).toEqual(free);
    expect(acme.shown(twin, 1)).toEqual(heldUntilRemoved);
  });
});
