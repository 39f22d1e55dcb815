// GitHub accepts 1,000 statuses for a commit and context, from all sources.
import { afterEach, describe, expect, test } from 'vitest';
import { lastGroupText, lastText } from '../src/statuses/status.ts';
import { jobs } from '../src/database/queue/jobs.ts';
import { free, type Freeze, heldUntilRemoved, acmeForAll } from './support/acme.ts';

const acme = acmeForAll();
afterEach(() => acme.github.webhookFaults.clear());

const last = { state: 'pending', description: lastText };
const idOf = (repository: string) => BigInt(acme.github.repository(repository).id);
const headOf = (repository: string) =>
  acme.app.deps.db.headStatus.findFirstOrThrow({ where: { repositoryId: idOf(repository) } });

/** Bob posts this many statuses on the head of a pull request. GitHub sends no events. */
function postUnheard(repository: string, count: number, description = 'mine') {
  const fault = acme.github.webhookFaults.add({ kind: 'drop', event: 'status' });
  for (let posted = 0; posted < count; posted++)
    acme.github.postStatus(repository, 1, { by: 'bob', state: 'success', description });
  fault.remove();
}

async function look(repository: string) {
  await acme.app.deps.queue.send([jobs.reconcileRepository(idOf(repository))]);
  await acme.quiet();
}

/** How many pull requests a freeze should hold, and how many it does. */
async function progress(repository: string, { id }: Freeze) {
  const path = `/v1/repos/${repository}/scheduled_freeze/${id}/enforcement`;
  return (await acme.call('GET', path, { as: acme.admin })).body.pull_requests;
}

describe('while there is room, one last pending is written', () => {
  test('after 997 foreign ones the freeze holds, also after the thaw, and a new commit is free', async () => {
    const web = await acme.repository('web', [{}]);
    await acme.advanceTo(new Date(acme.clock.now() + 10_000));
    postUnheard(web, 997);
    const freeze = await acme.freeze(web);
    expect(acme.shown(web, 1)).toEqual(last);
    expect(await progress(web, freeze)).toMatchObject({ to_hold: 1, held: 1 });
    await acme.remove(web, freeze.id);
    await look(web);
    expect(acme.shown(web, 1)).toEqual(last);
    const page = await fetch(`${acme.app.url}/repos/${web}/pulls/1`);
    expect(await page.text()).toMatch(/It stays blocked\s+even without a freeze/);
    acme.github.push(web, 1);
    await acme.quiet();
    expect(acme.shown(web, 1)).toEqual(free);
  });

  test('before any freeze, as soon as 900 are there that are mostly foreign: also those that say what ours says', async () => {
    const api = await acme.repository('api', [{}]);
    postUnheard(api, 890);
    // One that is heard of has all of them counted.
    acme.github.postStatus(api, 1, { by: 'bob', state: 'success', description: 'mine' });
    await acme.quiet();
    expect(acme.shown(api, 1)).toEqual(free);
    const { sha, writes, overwrites } = await headOf(api);
    expect({ writes, overwrites }).toEqual({ writes: 2, overwrites: 891 });
    for (let more = 893; more < 900; more++) {
      expect(acme.shown(api, 1)).toEqual(free);
      acme.github.postStatus(api, 1, { by: 'bob', ...free, state: 'success' });
      await acme.quiet();
    }
    expect(acme.shown(api, 1)).toEqual(last);
    expect(acme.github.statusHistory(api, sha)).toHaveLength(901);
  });

  test('on a commit that was there before us', async () => {
    const { github } = acme;
    const fault = github.webhookFaults.add({ kind: 'drop' });
    const old = await acme.repository('old', [{}]);
    postUnheard(old, 997);
    fault.remove();
    const freeze = await acme.freeze(old);
    expect(acme.shown(old, 1)).toEqual(last);
    expect(await progress(old, freeze)).toMatchObject({ held: 1 });
  });

  test('on a head that was forgotten and comes back', async () => {
    const { github, app, clock } = acme;
    const back = await acme.repository('back', [{}]);
    github.closePullRequest(back, 1);
    await acme.advanceTo(new Date(clock.now() + 20 * 60_000));
    await look(back);
    expect(await app.deps.db.headStatus.count({ where: { repositoryId: idOf(back) } })).toBe(0);
    postUnheard(back, 990, free.description);
    github.reopenPullRequest(back, 1);
    await acme.quiet();
    await acme.freeze(back);
    expect(acme.shown(back, 1)).toEqual(last);
  });

  test('from 990 on, whoever wrote them: what changes after that stays held', async () => {
    const own = await acme.repository('own', [{}]);
    const { sha } = await headOf(own);
    const where = { repositoryId_sha: { repositoryId: idOf(own), sha } };
    await acme.app.deps.db.headStatus.update({ where, data: { writes: 989 } });
    const { id } = await acme.freeze(own);
    expect(acme.shown(own, 1)).toEqual(heldUntilRemoved);
    await acme.remove(own, id);
    expect(acme.shown(own, 1)).toEqual(last);
    await acme.freeze(own);
    expect(acme.shown(own, 1)).toEqual(last);
    expect(acme.posts(own)).toEqual({ 1: 3 });
  });

  test('other commits cost no question: a freeze over many asks for no list of statuses', async () => {
    const many = await acme.repository('many', Array(5).fill({}));
    const since = acme.github.requests.length;
    await acme.freeze(many);
    expect(acme.frozen(many)).toHaveLength(5);
    const asked = acme.github.requests.slice(since).filter(({ path }) => /\/commits\/.*\/status/.test(path));
    expect(asked).toEqual([]);
  });

  test('both texts fit', () => {
    for (const text of [lastText, lastGroupText]) expect(text.length).toBeLessThanOrEqual(140);
  });
});

describe('if no room is left, nothing claims to hold', () => {
  test('the refusal is one audit event for a freeze that begins, and the head is not held', async () => {
    const { github } = acme;
    const full = await acme.repository('full', [{}]);
    await acme.advanceTo(new Date(acme.clock.now() + 10_000));
    postUnheard(full, 999);
    const freeze = await acme.freeze(full);
    expect(github.mergeable(full, 1)).toBe('clean');
    expect(await progress(full, freeze)).toMatchObject({ to_hold: 1, held: 0 });
    expect(await headOf(full)).toMatchObject({ notHeld: 'refused', isWaiting: false });
    const { headSha } = github.pullRequest(full, 1);
    expect(await acme.events(full, 'freeze_status.refused')).toMatchObject([
      {
        outcome: 'failure',
        trigger: 'github',
        metadata: {
          sha: headSha,
          state: 'pending',
          description: lastText,
          why: expect.stringContaining('maximum number of statuses'),
          refused_by: null,
        },
      },
    ]);
    const asked = github.requests.length;
    await look(full);
    await look(full);
    expect(github.requests.slice(asked).some(({ path }) => path.includes('/statuses'))).toBe(false);
    expect(await acme.events(full, 'freeze_status.refused')).toHaveLength(1);

    await acme.remove(full, freeze.id);
    expect(await headOf(full)).toMatchObject({ notHeld: null });
    const again = await acme.freeze(full);
    expect(await acme.events(full, 'freeze_status.refused')).toHaveLength(2);
    github.push(full, 1);
    await acme.quiet();
    expect(acme.shown(full, 1)).toEqual(heldUntilRemoved);
    expect(await progress(full, again)).toMatchObject({ to_hold: 1, held: 1 });
  });

  test('somebody who continues after the last pending is corrected while there is room, and then logged', async () => {
    const { github, clock } = acme;
    const race = await acme.repository('race', [{}]);
    const freeze = await acme.freeze(race);
    postUnheard(race, 990);
    github.postStatus(race, 1, { by: 'bob', state: 'success' });
    await acme.quiet();
    expect(acme.shown(race, 1)).toEqual(last);
    const { headSha } = github.pullRequest(race, 1);
    for (const isHeld of [true, false, false, false]) {
      github.postStatus(race, 1, { by: 'bob', state: 'success' });
      await acme.quiet();
      expect(acme.shown(race, 1)!.state).toBe(isHeld ? 'pending' : 'success');
      expect((await progress(race, freeze)).held).toBe(isHeld ? 1 : 0);
    }
    // The pause goes by, and the last one that GitHub takes is theirs.
    while (github.statusHistory(race, headSha).length < 1_000)
      github.postStatus(race, 1, { by: 'bob', state: 'success' });
    await acme.advanceTo(new Date(clock.now() + 60_000));
    expect(acme.shown(race, 1)!.state).toBe('success');
    expect((await progress(race, freeze)).held).toBe(0);
    expect(await acme.events(race, 'freeze_status.refused')).toHaveLength(1);
    expect(await acme.events(race, 'freeze_status.overwritten')).not.toEqual([]);
  });

  test('a pending on a full commit holds', async () => {
    const stuck = await acme.repository('stuck', [{}]);
    const { id } = await acme.freeze(stuck);
    const fault = acme.github.webhookFaults.add({ kind: 'drop', event: 'status' });
    for (let posted = 2; posted < 1_000; posted++)
      acme.github.postStatus(stuck, 1, { by: 'bob', state: 'pending' });
    fault.remove();
    const freeze = await acme.update(stuck, id, { reason: 'Another text' });
    expect(await progress(stuck, freeze)).toMatchObject({ to_hold: 1, held: 1 });
    expect(await acme.events(stuck, 'freeze_status.refused')).toEqual([]);
  });
});
