import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Acme, free, heldUntilRemoved, startAcme } from '../support/acme.ts';
import { passCiOn, queuedIn } from '../support/queued.ts';

/** After the trouble ends everything is right by then, in milliseconds. */
const bound = 75_000;
const minute = 60_000;

let acme: Acme;
beforeAll(async () => {
  acme = await startAcme();
  acme.github.addUser('cat');
  acme.github.setMembership('acme', 'cat', 'member');
  acme.github.addTeam('acme', 'core', ['ada']);
  await acme.quiet();
});
afterAll(() => acme.close());

/** Time passes in steps, as it does: what one step sends is done in the next. */
async function pass(milliseconds: number, step = 15_000): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += step) {
    await acme.advanceTo(new Date(acme.clock.now() + step));
  }
}

describe.each(['webhooks', 'webhooks and the API'])('%s are lost for ten minutes', (what) => {
  const isDown = what !== 'webhooks';
  const name = (repository: string) => `${repository}-${isDown ? 'down' : 'up'}`;

  test('75 s later everything is right', async () => {
    const { github } = acme;
    const opened = await acme.repository(name('opened'));
    await acme.freeze(opened, { matching_conditions: ['label=risky'] });
    const moved = await acme.repository(name('moved'), [{}, { base: 'release' }]);
    await acme.freeze(moved, { matching_conditions: ['base=release'] });
    const labelled = await acme.repository(name('labelled'), [{}, { labels: ['risky'] }]);
    await acme.freeze(labelled, { matching_conditions: ['label=risky'] });
    const merged = await acme.repository(name('merged'), [{}]);
    await acme.freeze(merged);
    const renamed = await acme.repository(name('renamed'), [{}]);
    await acme.freeze(renamed);
    const teams = await acme.repository(name('teams'), [{ author: 'cat' }]);
    await acme.freeze(teams, { matching_conditions: ['author=@acme/core'] });
    const queued = await queuedIn(acme, name('queued'), [{}]);
    const overwritten = await acme.repository(name('overwritten'), [{}]);
    await acme.freeze(overwritten);

    const lost = github.webhookFaults.add({ kind: 'lose' });
    if (isDown) github.goDown();
    const steps = [
      () => github.openPullRequest(opened, { author: 'bob', labels: ['risky'] }),
      () => github.retarget(moved, 1, 'release'),
      () => github.retarget(moved, 2, 'main'),
      () => {
        github.label(labelled, 1, 'risky');
        github.unlabel(labelled, 2, 'risky');
      },
      () => {
        github.bypassMerge(merged, 1, 'ada');
        // Holdfast never saw it open.
        github.openPullRequest(merged, { author: 'bob' });
        github.bypassMerge(merged, 2, 'ada');
      },
      () => {
        const { fullName } = github.addRepository(`acme/${name('later')}`);
        github.openPullRequest(fullName, { author: 'bob' });
      },
      () => github.renameRepository(renamed, name('new-name')),
      () => github.joinTeam('acme', 'core', 'cat'),
      () => {
        const { number, headSha } = github.openPullRequest(queued, { author: 'bob' });
        passCiOn(acme, queued, headSha);
        github.postStatus(queued, number, { by: 'bob', state: 'success', context: 'holdfast/freeze' });
        github.enqueue(queued, number);
      },
      () => github.postStatus(overwritten, 1, { by: 'bob', state: 'success', description: 'ship it' }),
    ];
    for (const step of steps) {
      step();
      await pass(minute, minute);
    }
    expect(acme.shown(overwritten, 1)).toMatchObject({ state: isDown ? 'success' : 'pending' });

    lost.remove();
    if (isDown) github.comeBack();
    await pass(bound);

    expect(acme.frozen(opened)).toEqual([1]);
    expect(acme.frozen(moved)).toEqual([1]);
    expect(acme.frozen(labelled)).toEqual([1]);
    const bypassed = await acme.events(merged, 'freeze.bypassed');
    expect(bypassed.map((event: { pull_request: number }) => event.pull_request).sort()).toEqual([1, 2]);
    expect(acme.shown(`acme/${name('later')}`, 1)).toEqual(free);
    const freezes = await acme.call('GET', `/v1/repos/acme/${name('new-name')}/scheduled_freeze`, {
      as: acme.admin,
    });
    expect(freezes.body.scheduled_freezes).toHaveLength(1);
    expect(acme.frozen(teams)).toEqual([1]);
    const groups = github.mergeGroups(queued).map(({ headSha }) => github.currentStatus(queued, headSha));
    expect(groups.map((status) => status?.state)).toEqual(['success', 'success']);
    expect(acme.shown(overwritten, 1)).toEqual(heldUntilRemoved);
    github.leaveTeam('acme', 'core', 'cat');
    await acme.quiet();
  });
});

describe('what failed deliveries cost', () => {
  beforeAll(async () => {
    await acme.close();
    acme = await startAcme();
  });

  const since = () => acme.github.requests.length;
  const reads = (start: number, method: string, path: RegExp) =>
    acme.github.requests
      .slice(start)
      .filter((request) => request.method === method && path.test(request.path)).length;
  const wholeLooks = (start: number) =>
    acme.github.requests.slice(start).filter(({ operationName }) => operationName === 'OpenPullRequests')
      .length;

  test('hundreds of one repository: pages of the list, and one look; nothing is sent again', async () => {
    const { github } = acme;
    const busy = await acme.repository('busy', [{}, {}]);
    await acme.freeze(busy, { matching_conditions: ['label=risky'] });
    await pass(3 * minute, minute);
    const sent = github.deliveries.length;
    const lost = github.webhookFaults.add({ kind: 'lose' });
    for (let count = 0; count < 110; count += 1) {
      github.label(busy, 1, 'risky');
      github.unlabel(busy, 1, 'risky');
    }
    github.label(busy, 2, 'risky');
    lost.remove();
    const start = since();
    await pass(3 * minute, minute);
    expect(acme.frozen(busy)).toEqual([2]);
    expect(wholeLooks(start)).toBe(1);
    // Three pages at first, and again while they are young; then only the first.
    expect(reads(start, 'GET', /^\/app\/hook\/deliveries\?/)).toBeLessThanOrEqual(3 * 3);
    expect(reads(start, 'POST', /^\/app\/hook\//)).toBe(0);
    expect(github.deliveries.slice(sent).filter(({ redelivery }) => redelivery)).toEqual([]);
  });

  test('trouble that goes on: one look with each sweep', async () => {
    const { github } = acme;
    const flaky = await acme.repository('flaky', [{}]);
    await acme.freeze(flaky, { matching_conditions: ['label=risky'] });
    await pass(3 * minute, minute);
    const lost = github.webhookFaults.add({ kind: 'lose' });
    const start = since();
    for (let round = 0; round < 3; round += 1) {
      for (const title of ['One', 'Two', 'Three']) github.editTitle(flaky, 1, `${title} of ${round}`);
      await pass(minute, minute);
    }
    lost.remove();
    expect(wholeLooks(start)).toBe(3);
  });

  test('an event that nothing reads: no look', async () => {
    const { github } = acme;
    const calm = await acme.repository('calm', [{}]);
    await acme.freeze(calm, { matching_conditions: ['base=main'] });
    await pass(3 * minute, minute);
    const lost = github.webhookFaults.add({ kind: 'lose' });
    github.reportCheck(calm, 1, { name: 'ci', conclusion: 'success' });
    lost.remove();
    const start = since();
    await pass(2 * minute, minute);
    expect(wholeLooks(start)).toBe(0);
  });
});
