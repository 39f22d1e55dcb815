import { afterEach, describe, expect, test } from 'vitest';
import { free, heldUntilRemoved, acmeForAll } from '../support/acme.ts';

const acme = acmeForAll();
afterEach(() => {
  acme.github.comeBack();
  acme.github.faults.clear();
});

const inSeconds = (seconds: number) => new Date(acme.clock.now() + seconds * 1000);
const wallClock = (instant: Date) => instant.toISOString().slice(0, 19);
/** Moves time in steps, as clocks do. Each step runs what is due. */
async function pass(seconds: number, steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) await acme.advanceTo(inSeconds(seconds / steps));
}
const posting = { method: 'POST', path: /\/statuses\// };
const reading = ({ operationName }: { operationName?: string }) => operationName === 'OpenPullRequests';
/**
 * The service's requests to GitHub after a number of requests, without the list of failed deliveries, which is the
 * App's.
 */
const askedSince = (count: number) =>
  acme.github.requests.slice(count).filter(({ path }) => !path.startsWith('/app/hook/deliveries'));
const states = (repository: string, number: number) =>
  acme.github
    .statusHistory(repository, acme.github.pullRequest(repository, number).headSha, 'holdfast/freeze')
    .map(({ state }) => state);

test.each(['502', 'reset'] as const)(
  'an hour without GitHub (%s) while a freeze begins loses nothing',
  async (how) => {
    const { github } = acme;
    const web = await acme.repository(`web-${how}`, [{ labels: ['risky'] }, {}]);
    const [start, end] = [inSeconds(600), inSeconds(7200)];
    const window = { start: wallClock(start), end: wallClock(end) };
    await acme.freeze(web, { ...window, matching_conditions: ['label=risky'] });
    github.goDown(how);
    await acme.advanceTo(start);
    github.openPullRequest(web, { author: 'bob', labels: ['risky'] });
    await pass(3600, 6);
    expect(states(web, 1)).toEqual(['success']);
    github.comeBack();
    await pass(120, 3);
    expect(acme.frozen(web)).toEqual([1, 3]);
    expect([states(web, 1), states(web, 2), states(web, 3)]).toEqual([
      ['success', 'pending'],
      ['success'],
      ['pending'],
    ]);
    await acme.advanceTo(end);
    expect(acme.frozen(web)).toEqual([]);
  },
);

test('a freeze that begins and ends while GitHub is down leaves nothing behind', async () => {
  const api = await acme.repository('api', [{}]);
  await acme.freeze(api, { start: wallClock(inSeconds(60)), end: wallClock(inSeconds(1800)) });
  acme.github.goDown();
  await pass(3600, 6);
  acme.github.comeBack();
  await pass(120, 3);
  expect(states(api, 1)).toEqual(['success']);
});

test('statuses that fail are written again, each once', async () => {
  const { github } = acme;
  const lib = await acme.repository('lib', [{}, {}, {}]);
  github.faults.add({ kind: 'status', status: 500, match: posting, times: 2 });
  github.faults.add({ kind: 'reset', match: posting, times: 1 });
  await acme.freeze(lib);
  await pass(30, 6);
  expect(acme.frozen(lib)).toEqual([1, 2, 3]);
  expect(acme.posts(lib)).toEqual({ 1: 2, 2: 2, 3: 2 });
});

test('a status with a lost answer is not written twice', async () => {
  const { github } = acme;
  const site = await acme.repository('site', [{}]);
  // The connection is cut after the status is posted.
  const { headSha } = github.pullRequest(site, 1);
  const cut = github.faults.add({
    kind: 'reset',
    times: 1,
    match: ({ method, path }) => {
      if (method !== 'POST' || !path.includes(headSha)) return false;
      github.postStatus(site, 1, {
        by: 'holdfast[bot]',
        state: 'pending',
        description: heldUntilRemoved.description,
      });
      return true;
    },
  });
  await acme.freeze(site);
  cut.remove();
  const before = github.requests.length;
  await pass(30, 6);
  expect(states(site, 1)).toEqual(['success', 'pending']);
  const asked = askedSince(before).map(({ method, path }) => `${method} ${path.split('?')[0]}`);
  expect(asked).toContain(`GET /repos/acme/site/commits/${headSha}/statuses`);
  expect(asked.filter((line) => line.includes('/statuses/'))).toEqual([]);
});

test('a commit that fails again and again delays no other', async () => {
  const { github } = acme;
  const bad = await acme.repository('bad', [{}, {}, {}]);
  const [first, ...others] = github.pullRequests(bad).toSorted((a, b) => (a.headSha < b.headSha ? -1 : 1));
  const fault = github.faults.add({
    kind: 'status',
    match: { method: 'POST', path: new RegExp(first!.headSha) },
  });
  await acme.freeze(bad);
  await pass(10, 5);
  expect(acme.frozen(bad)).toEqual(others.map(({ number }) => number).sort());
  fault.remove();
  await pass(120, 6);
  expect(acme.frozen(bad)).toEqual([1, 2, 3]);
  expect(acme.posts(bad)).toEqual({ 1: 2, 2: 2, 3: 2 });
});

test('a verdict that changes while its predecessor cannot be written replaces it', async () => {
  const { github } = acme;
  const app = await acme.repository('app', [{}]);
  const fault = github.faults.add({ kind: 'status', status: 503, match: posting });
  const { id } = await acme.freeze(app);
  await acme.update(app, id, { reason: 'Audit' });
  await acme.remove(app, id);
  fault.remove();
  await pass(180, 4);
  expect(states(app, 1)).toEqual(['success']);
  expect(acme.shown(app, 1)).toEqual(free);
});

describe('a rate limit', () => {
  test.each([403, 429])('secondary (%s), while writing: nothing is asked before it ends', async (status) => {
    const { github } = acme;
    const core = await acme.repository(`core-${status}`, [{}, {}]);
    github.faults.add({ kind: 'secondary-limit', status, retryAfter: 300, match: posting, times: 1 });
    await acme.freeze(core);
    const [before, posts] = [github.requests.length, acme.postsInAll()];
    github.openPullRequest(core, { author: 'bob' });
    await pass(298, 5);
    expect(askedSince(before)).toEqual([]);
    await pass(4, 2);
    expect(acme.frozen(core)).toEqual([1, 2, 3]);
    expect(acme.postsInAll()).toBe(posts + 3);
  });

  test('secondary, while reading: nothing is asked before it ends, and other installations go on', async () => {
    const { github } = acme;
    github.addUser('gil');
    github.addOrganization('globex', { admins: ['gil'] });
    github.addRepository('globex/site');
    github.install('globex');
    const docs = await acme.repository('docs', [{}]);
    github.faults.add({ kind: 'secondary-limit', retryAfter: 120, match: reading, times: 1 });
    await acme.freeze(docs);
    const before = github.requests.length;
    await pass(110, 3);
    expect(askedSince(before)).toEqual([]);
    github.openPullRequest('globex/site', { author: 'gil' });
    await acme.quiet();
    expect(acme.frozen('globex/site')).toEqual([]);
    await pass(12, 2);
    expect(acme.frozen(docs)).toEqual([1]);
  });

  test.each([
    ['of GraphQL with status 200', { status: 200, retryAfter: 300 }, 300],
    ['of GraphQL with status 200, without a pause', { status: 200, retryAfter: null }, 60],
    ['in the words of older Enterprise Servers', { isOld: true, retryAfter: null }, 60],
  ])('secondary, %s: nothing is asked before it ends', async (words, fault, seconds) => {
    const { github } = acme;
    const tools = await acme.repository(`tools-${words.length}`, [{}]);
    github.faults.add({ kind: 'secondary-limit', ...fault, match: reading, times: 1 });
    await acme.freeze(tools);
    const before = github.requests.length;
    await pass(seconds - 4, 5);
    expect(askedSince(before)).toEqual([]);
    await pass(8, 2);
    expect(acme.frozen(tools)).toEqual([1]);
  });

  test('primary: waits for the reset that GitHub names', async () => {
    const { github } = acme;
    const ops = await acme.repository('ops', [{}]);
    github.faults.add({ kind: 'primary-limit', retryAfter: 900, match: posting, times: 1 });
    await acme.freeze(ops);
    const before = github.requests.length;
    await pass(880, 4);
    expect(askedSince(before)).toEqual([]);
    await pass(30, 3);
    expect(acme.frozen(ops)).toEqual([1]);
  });
});

describe('an answer in part', () => {
  test.each([
    ['files', { matching_conditions: ['files~=^db/'] }],
    ['files', { exclude_conditions: ['files~=.'] }],
    ['labels', { matching_conditions: ['label=risky'] }],
    ['labels', { exclude_conditions: ['-label=risky'] }],
  ])('without the %s of one pull request holds it for %o, and says why', async (field, conditions) => {
    const { github } = acme;
    const name = `part-${field}-${Object.keys(conditions)[0]!.split('_')[0]}`;
    const part = await acme.repository(name, [{}, {}]);
    const fault = github.faults.add({ kind: 'partial', field, pullRequests: [`${part}#2`] });
    if (field === 'files') github.faults.add({ kind: 'status', status: 404, match: { path: /\/files$/ } });
    await acme.freeze(part, conditions);
    expect(acme.frozen(part)).toEqual([2]);
    const text = `Frozen until removed: could not be judged: GitHub did not give its ${field}`;
    expect(acme.shown(part, 2)?.description).toBe(text);
    fault.remove();
    github.faults.clear();
    github.editTitle(part, 2, 'Another');
    await acme.quiet();
    expect(acme.frozen(part)).toEqual([]);
  });
});

test('a commit that GitHub no longer has is dropped, and delays nothing', async () => {
  const { github } = acme;
  const mono = await acme.repository('mono', [{}, {}]);
  const { headSha } = github.pullRequest(mono, 1);
  const match = { method: 'POST', path: new RegExp(headSha) };
  github.faults.add({ kind: 'status', status: 422, match });
  await acme.freeze(mono);
  expect(states(mono, 2)).toEqual(['success', 'pending']);
  const before = github.requests.length;
  await pass(600, 5);
  expect(askedSince(before).filter(({ path }) => path.includes(headSha))).toEqual([]);
});
