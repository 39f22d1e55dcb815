import { describe, expect, test } from 'vitest';
import { takeLease } from '../src/statuses/lease.ts';
import { leftForPrompt } from '../src/statuses/plan-write.ts';
import { acmeForAll } from './support/acme.ts';

const perMinute = 60;
const acme = acmeForAll({ statusWritesPerMinute: { least: perMinute, most: perMinute } });

const inSeconds = (seconds: number) => new Date(acme.clock.now() + seconds * 1000);
const pass = async (seconds: number, step = 10) => {
  for (let passed = 0; passed < seconds; passed += step) await acme.advanceTo(inSeconds(step));
};

const burst = perMinute / 4;
/** A batch of writes ends after a quarter of a second. If more follow, many leave a third of the burst for few. */
const expectBurstOfMany = (writes: number) => {
  expect(writes).toBeLessThanOrEqual(burst);
  expect(writes).toBeGreaterThanOrEqual(burst - perMinute * leftForPrompt);
};

test('a fan-out takes one read for each hundred pull requests, one write for each head, and the pace', async () => {
  const { github } = acme;
  // Of 104 pull requests 52 share the head of another.
  const web = await acme.repository('web');
  for (let count = 0; count < 52; count++) {
    const { headSha } = github.openPullRequest(web, { author: 'ada', head: `topic-${count}` });
    github.openPullRequest(web, { author: 'ada', head: `topic-${count}`, headSha, base: 'release' });
  }
  await acme.quiet();
  await pass(80);
  expect(acme.frozen(web)).toEqual([]);
  await pass(60);

  const start = github.requests.length;
  const asked = (name: string) =>
    github.requests
      .slice(start)
      .filter(({ operationName, method, path }) =>
        name === 'write' ? method === 'POST' && path.includes('/statuses/') : operationName === name,
      ).length;
  await acme.freeze(web);
  expect(asked('OpenPullRequests')).toBe(2);
  expectBurstOfMany(asked('write'));
  await pass(20);
  expect(asked('write')).toBeGreaterThan(20);
  expect(asked('write')).toBeLessThanOrEqual(perMinute / 2);
  await pass(60);
  expect(acme.frozen(web)).toHaveLength(104);
  expect(asked('write')).toBe(52);
  // The sweeps of two minutes asked nothing more.
  expect(asked('OpenPullRequests')).toBe(2);
});

test('a freeze that ends before its statuses are written leaves none of them pending', async () => {
  const { github } = acme;
  const api = await acme.repository('api', Array(30).fill({}));
  await pass(60);
  const before = acme.postsInAll();
  const { id } = await acme.freeze(api);
  const held = acme.postsInAll() - before;
  expect(held).toBeLessThanOrEqual(burst);
  await acme.remove(api, id);
  await pass(60);
  expect(acme.frozen(api)).toEqual([]);
  // The held pull requests are freed, and nothing else was written.
  expect(acme.postsInAll() - before).toBe(2 * held);
  expect(github.pullRequests(api)).toHaveLength(30);
});

test('one slow installation does not delay another', async () => {
  const { github } = acme;
  github.addUser('gil');
  github.addOrganization('globex', { admins: ['gil'] });
  github.addRepository('globex/site', { protect: { main: ['holdfast/freeze'] } });
  for (let count = 0; count < 3; count++) github.openPullRequest('globex/site', { author: 'gil' });
  github.install('globex');
  const slow = await acme.repository('slow', Array(12).fill({}));
  await acme.quiet();
  await pass(60);
  const key = await acme.key('globex', 'admin');
  const isSlow = { method: 'POST', path: /^\/repos\/acme\/slow\/statuses/ };
  // Until the other one has all of its statuses.
  const delay = github.faults.add({ kind: 'delay', ms: 60_000, match: isSlow });
  const freeze = (repository: string, as: string) =>
    acme.call('POST', `/v1/repos/${repository}/scheduled_freeze`, {
      as,
      body: { reason: 'Release', start: null, timezone: 'UTC' },
    });
  const order: string[] = [];
  const stop = github.onStatus(({ repository }) => {
    order.push(repository);
    if (order.filter((each) => each === 'globex/site').length === 3) delay.remove();
  });
  await freeze(slow, acme.admin);
  await freeze('globex/site', key);
  await acme.quiet();
  await pass(30);
  stop();
  expect(acme.frozen(slow)).toHaveLength(12);
  expect(order.slice(0, 3)).toEqual(Array(3).fill('globex/site'));
});

test('GraphQL’s budget is apart: decided statuses are written while nothing can be read', async () => {
  const { github } = acme;
  const lib = await acme.repository('lib', Array(30).fill({}));
  await pass(60);
  await acme.freeze(lib);
  const reading = { method: 'POST', path: /^\/graphql$/ };
  const budget = github.faults.add({ kind: 'primary-limit', retryAfter: 900, match: reading });
  github.openPullRequest(lib, { author: 'bob' });
  await acme.quiet();
  await pass(60);
  const known = github.pullRequests(lib).filter(({ number }) => number <= 30);
  expect(known.every(({ number }) => github.currentStatus(lib, number)?.state === 'pending')).toBe(true);
  budget.remove();
  await pass(900, 100);
  expect(acme.frozen(lib)).toHaveLength(31);
});

test('while a freeze of many waits for the pace, a freeze of few is held at once', async () => {
  const many = await acme.repository('crowd', Array(40).fill({}));
  const few = await acme.repository('few', Array(5).fill({}));
  await pass(120);
  const { id } = await acme.freeze(many);
  expectBurstOfMany(acme.frozen(many).length);
  // The writer comes back every two seconds.
  await pass(20, 2);
  const begun = await acme.freeze(few);
  expect(acme.frozen(few), 'nobody waits for the pace').toEqual([1, 2, 3, 4, 5]);
  // What is left for few costs the many nothing but the first seconds.
  await pass(60, 4);
  expect(acme.frozen(many)).toHaveLength(40);
  await acme.remove(few, begun.id);
  await acme.remove(many, id);
  await pass(120, 20);
  expect([...acme.frozen(many), ...acme.frozen(few)]).toEqual([]);
});

describe('the right to write for an installation', () => {
  test('is one replica’s at a time, and its pace is not renewed with another holder', async () => {
    const { deps } = acme.app;
    const { id } = await deps.db.installation.findFirstOrThrow({ where: { account: { loginKey: 'acme' } } });
    await pass(60);
    const first = (await takeLease(deps, id))!;
    expect(await takeLease(deps, id)).toBeNull();
    // Waiting statuses wait for its holder.
    await acme.repository('many', Array(40).fill({}));
    const taken = await first.take();
    expect(taken).toMatchObject({ is: 'writing', writes: { length: burst } });
    expect(await first.take()).toMatchObject({ is: 'pacing' });
    await first.release();
    const second = (await takeLease(deps, id))!;
    expect(await second.take()).toMatchObject({ is: 'pacing' });
    await deps.db.installation.update({ where: { id }, data: { pausedUntil: inSeconds(30) } });
    expect(await second.take()).toEqual({ is: 'paused', until: inSeconds(30) });
    await deps.db.installation.update({ where: { id }, data: { pausedUntil: null } });
    // It died: its lease runs out, and it may write no more.
    await acme.clock.setTime(inSeconds(41));
    const third = (await takeLease(deps, id))!;
    expect(await second.take()).toEqual({ is: 'lost' });
    expect(await third.take()).toMatchObject({ is: 'writing' });
    await third.release();
  });
});
