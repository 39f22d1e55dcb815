import { describe, expect, test } from 'vitest';
import type { MergeQueueOptions } from '../sandbox/actions/merge-queue-verbs.ts';
import { acmeForAll } from './support/acme.ts';
import { passCiOn, queuedIn } from './support/queued.ts';

const acme = acmeForAll();

const inMinutes = (minutes: number) => new Date(acme.clock.now() + minutes * 60_000);
const wallClock = (instant: Date) => instant.toISOString().slice(0, 19);
const inQueue = (repository: string, branch = 'main') =>
  acme.github.mergeQueue(repository, branch).map(({ number }) => number);
const merged = (repository: string) => acme.github.merges(repository).map(({ number }) => number);
const dequeued = (repository: string) =>
  acme.github.deliveries
    .filter(
      ({ event, action, payload }) =>
        event === 'pull_request' && action === 'dequeued' && payload.repository.full_name === repository,
    )
    .map(({ payload }) => [payload.number, payload.reason]);
/** The status on the group of a pull request. The groups stay in flight while another check is required. */
const shownOn = (repository: string, number: number) => {
  const group = acme.github
    .mergeGroups(repository)
    .find(({ pullRequests }) => pullRequests.at(-1) === number);
  return group && acme.github.currentStatus(repository, group.headSha);
};
const ci = (repository: string, sha: string) => passCiOn(acme, repository, sha);
const queued = (name: string, pullRequests: object[], options?: MergeQueueOptions, branch?: string) =>
  queuedIn(acme, name, pullRequests, options, branch);

/** CI passes on every group in flight, as often as it takes. */
async function passCi(repository: string): Promise<void> {
  for (let round = 0; round < 5; round++) {
    for (const { headSha } of acme.github.mergeGroups(repository)) ci(repository, headSha);
    await acme.quiet();
  }
}

describe('without a freeze', () => {
  test('every group is answered with success, and merges', async () => {
    const web = await queued('web', [{}, {}, {}]);
    expect(shownOn(web, 3)).toMatchObject({
      state: 'success',
      description: 'No freeze holds this merge group.',
    });
    await passCi(web);
    expect(merged(web)).toEqual([1, 2, 3]);
  });

  test('also on a branch whose name has slashes', async () => {
    const rel = await queued('rel', [{}], {}, 'release/2026/q1');
    expect(acme.github.mergeGroups(rel)[0]!.headRef).toMatch(
      /^refs\/heads\/gh-readonly-queue\/release\/2026\/q1\/pr-1-/,
    );
    await passCi(rel);
    expect(merged(rel)).toEqual([1]);
  });
});

describe('a freeze begins with groups in flight', () => {
  test('groups that we passed get a new answer before any pull request, and nothing frozen merges', async () => {
    const { github } = acme;
    const api = await queued('api', [{ labels: ['risky'] }, {}, {}]);
    const groups = new Set(github.mergeGroups(api).map(({ headSha }) => headSha));
    const order: string[] = [];
    const stop = github.onStatus(({ sha, repository }) => {
      if (repository === api) order.push(groups.has(sha) ? 'group' : 'other');
    });
    await acme.freeze(api, { matching_conditions: ['label=risky'] });
    stop();
    expect(order[0]).toBe('group');
    expect(dequeued(api)).toEqual([[1, 'CI_FAILURE']]);
    expect(inQueue(api)).toEqual([2, 3]);
    await passCi(api);
    expect(merged(api)).toEqual([2, 3]);
    expect(acme.frozen(api)).toEqual([1]);
  });

  test('without an end, only a frozen pull request is removed from the queue', async () => {
    const lib = await queued('lib', [{}]);
    const sha = acme.github.mergeGroups(lib)[0]!.headSha;
    await acme.freeze(lib);
    const { state, description } = acme.github.currentStatus(lib, sha)!;
    expect({ state, description }).toEqual({
      state: 'failure',
      description: '#1 is frozen until removed: Release',
    });
    expect(inQueue(lib)).toEqual([]);
  });

  test('in a HEADGREEN queue, an exempt pull request does not merge a frozen one', async () => {
    const head = await queued('head', [{ labels: ['risky'] }, {}], { mergingStrategy: 'HEADGREEN' });
    await acme.freeze(head, { matching_conditions: ['label=risky'] });
    await passCi(head);
    expect(merged(head)).toEqual([2]);
    expect(acme.github.pullRequest(head, 1).state).toBe('open');
  });
});

describe('a freeze that ends before the queue stops waiting', () => {
  test('keeps the places, and its groups are freed before any pull request', async () => {
    const { github, advanceTo } = acme;
    const ops = await queued('ops', [{}, {}], { checkResponseTimeoutMinutes: 60 });
    const end = inMinutes(30);
    await acme.freeze(ops, { end: wallClock(end) });
    expect(inQueue(ops)).toEqual([1, 2]);
    expect(shownOn(ops, 2)).toMatchObject({ state: 'pending' });
    await passCi(ops);
    expect(merged(ops)).toEqual([]);
    const groups = github.mergeGroups(ops).map(({ headSha }) => headSha);
    const order: string[] = [];
    const stop = github.onStatus(({ sha }) => void order.push(sha));
    await advanceTo(end);
    await passCi(ops);
    stop();
    expect(groups).toContain(order[0]);
    expect(merged(ops)).toEqual([1, 2]);
  });

  test('is a failure at once when it is made longer than that', async () => {
    const long = await queued('long', [{}], { checkResponseTimeoutMinutes: 60 });
    const { id } = await acme.freeze(long, { end: wallClock(inMinutes(30)) });
    expect(inQueue(long)).toEqual([1]);
    await acme.update(long, id, { end: wallClock(inMinutes(90)) });
    expect(dequeued(long)).toEqual([[1, 'CI_FAILURE']]);
  });

  test('a time-out nearer than the end, less a margin, is a failure', async () => {
    const near = await queued('near', [{}], { checkResponseTimeoutMinutes: 30 });
    await acme.freeze(near, { end: wallClock(inMinutes(29.5)) });
    expect(inQueue(near)).toEqual([]);
    const held = await queued('held', [{}], { checkResponseTimeoutMinutes: 30 });
    await acme.freeze(held, { end: wallClock(inMinutes(28)) });
    expect(inQueue(held)).toEqual([1]);
  });

  test('the time that a group has waited counts', async () => {
    const waited = await queued('waited', [{}], { checkResponseTimeoutMinutes: 60 });
    await acme.advanceTo(inMinutes(40));
    await acme.freeze(waited, { end: wallClock(inMinutes(30)) });
    expect(inQueue(waited)).toEqual([]);
  });

  test('of one that is built late counts from then, also where a look sees it before its webhook', async () => {
    const { github } = acme;
    const built = await queued('built', [{}, {}], { maxEntriesToBuild: 1 });
    await acme.advanceTo(inMinutes(50));
    const late = { kind: 'delay', event: 'merge_group', action: 'checks_requested', ms: 300 } as const;
    const fault = github.webhookFaults.add(late);
    ci(built, github.mergeGroups(built)[0]!.headSha);
    await acme.quiet();
    fault.remove();
    expect(merged(built)).toEqual([1]);
    await acme.freeze(built, { end: wallClock(inMinutes(30)) });
    expect(inQueue(built)).toEqual([2]);
  });
});

describe('an exempt pull request behind a frozen one', () => {
  test('merges in its own group after the frozen one is removed', async () => {
    const mono = await queued('mono', [{}, {}]);
    await acme.freeze(mono, { exclude_conditions: ['label=hotfix'] });
    expect(inQueue(mono)).toEqual([]);
    const fix = await queued('fix', [{}, { labels: ['hotfix'] }]);
    await acme.freeze(fix, { exclude_conditions: ['label=hotfix'] });
    await passCi(fix);
    expect(merged(fix)).toEqual([2]);
  });

  test('a label on a queued pull request counts for the groups that contain it', async () => {
    const docs = await queued('docs', [{}, {}]);
    await acme.freeze(docs, { matching_conditions: ['label=risky'] });
    expect(inQueue(docs)).toEqual([1, 2]);
    acme.github.label(docs, 1, 'risky');
    await acme.quiet();
    expect(dequeued(docs)).toEqual([[1, 'CI_FAILURE']]);
    await passCi(docs);
    expect(merged(docs)).toEqual([2]);
  });

  test('what CI pushed for a queued pull request counts as well', async () => {
    const scoped = await queued('scoped', [{}]);
    await acme.freeze(scoped, { matching_conditions: ['scope=api'] });
    expect(inQueue(scoped)).toEqual([1]);
    const key = await acme.key('acme', 'ci');
    const path = `/v1/repos/${scoped}/pulls/1/scopes`;
    expect((await acme.call('PUT', path, { as: key, body: { scopes: ['api'] } })).status).toBe(204);
    await acme.quiet();
    expect(inQueue(scoped)).toEqual([]);
  });
});

describe('webhooks of the queue', () => {
  test('leave nothing behind if nothing is enforced', async () => {
    const { github, app } = acme;
    const off = await acme.repository('off');
    await acme.setProducts(off, []);
    github.openPullRequest(off, { author: 'ada' });
    github.enableMergeQueue(off, 'main');
    github.postStatus(off, 1, { by: 'bob', state: 'success' });
    github.enqueue(off, 1);
    await acme.quiet();
    const repositoryId = BigInt(github.repository(off).id);
    expect(await app.deps.db.mergeGroup.count({ where: { repositoryId } })).toBe(0);
  });

  test('that are lost delay the answer until the next look', async () => {
    const { github } = acme;
    const fault = github.webhookFaults.add({ kind: 'drop', event: 'merge_group' });
    const enqueued = github.webhookFaults.add({ kind: 'drop', event: 'pull_request', action: 'enqueued' });
    const lost = await queued('lost', [{}]);
    fault.remove();
    enqueued.remove();
    expect(shownOn(lost, 1)).toBeNull();
    await acme.freeze(lost, { matching_conditions: ['label=none'] });
    expect(shownOn(lost, 1)).toMatchObject({ state: 'success' });
  });

  test('a group that is gone is forgotten', async () => {
    const gone = await queued('gone', [{}]);
    const repositoryId = BigInt(acme.github.repository(gone).id);
    const count = () => acme.app.deps.db.mergeGroup.count({ where: { repositoryId } });
    expect(await count()).toBe(1);
    acme.github.dequeue(gone, 1);
    await acme.quiet();
    expect(await count()).toBe(0);
    // The written status is remembered as long as an older answer can show the group.
    const written = { where: { repositoryId, isMergeGroup: true } };
    expect(await acme.app.deps.db.headStatus.findMany(written)).toMatchObject([{ isWaiting: false }]);
    await acme.advanceTo(inMinutes(6));
    await acme.freeze(gone);
    expect(await acme.app.deps.db.headStatus.count(written)).toBe(0);
  });
});

describe('clients of the interface ask about the queue', () => {
  const ask = (repository: string, path: string) =>
    acme.call('GET', `/v1/repos/${repository}/merge-queue/${path}`, { as: acme.admin });

  /** Groups have no UUID at GitHub, so it is made of their SHA. */
  const uuidOf = (sha: string) =>
    `${sha.slice(0, 8)}-${sha.slice(8, 12)}-8${sha.slice(13, 16)}-8${sha.slice(17, 20)}-${sha.slice(20, 32)}`;

  test('they see its groups, what waits, and which of it a freeze holds', async () => {
    const seen = await queued('seen', [{ title: 'A', labels: ['risky'] }, { title: 'B' }, {}], {
      maxEntriesToBuild: 2,
    });
    const [first, second] = acme.github.mergeGroups(seen);
    const { status, body } = await ask(seen, 'status');
    expect(status).toBe(200);
    const pullRequest = {
      number: 1,
      title: 'A',
      url: expect.stringMatching(/acme\/seen\/pull\/1$/),
      author: { id: expect.any(Number), login: 'ada' },
      queued_at: new Date(acme.clock.now()).toISOString(),
      priority_alias: 'medium',
      priority_rule_name: 'default',
      labels: ['risky'],
      scopes: [],
      estimated_merge_at: null,
    };
    expect(body).toMatchObject({
      mode: 'serial',
      pause: null,
      batches: [
        {
          id: uuidOf(first!.headSha),
          status: { code: 'running' },
          estimated_ci_finish_at: null,
          ci_finished_at: new Date(acme.clock.now()).toISOString(),
          queue_rule_name: 'main',
          checks_summary: { passed: 1, total: 1 },
          parent_ids: [],
          pull_requests: [pullRequest],
        },
        {
          id: uuidOf(second!.headSha),
          parent_ids: [uuidOf(first!.headSha)],
          pull_requests: [{ number: 2, title: 'B' }],
        },
      ],
      waiting_pull_requests: [{ number: 3 }],
    });
    expect(body.batches).toHaveLength(2);
    expect((await ask(seen, 'status?branch=release')).body).toMatchObject({ batches: [] });

    const entry = await ask(seen, 'pull/2');
    expect(entry.body).toMatchObject({
      number: 2,
      position: 1,
      queue_rule_name: 'main',
      mergeability_check: {
        ci_state: 'success',
        state: 'running',
        checks: [
          {
            name: 'holdfast/freeze',
            state: 'success',
            avatar_url: expect.stringMatching(/^http.*\/avatars\/u\//),
          },
        ],
      },
    });
    expect((await ask(seen, 'pull/3')).body).toMatchObject({ position: 2, mergeability_check: null });
    expect((await ask(seen, 'pull/99')).status).toBe(404);
    acme.github.dequeue(seen, 3);
    expect(await ask(seen, 'pull/3')).toMatchObject({
      status: 404,
      body: { detail: 'acme/seen#3 is not in a merge queue.' },
    });

    // It ends before the queue gives up, so the group keeps its place.
    await acme.freeze(seen, { end: wallClock(inMinutes(10)), matching_conditions: ['label=risky'] });
    const held = await ask(seen, 'status');
    expect(held.body.batches[0]).toMatchObject({ status: { code: 'frozen' }, ci_finished_at: null });
    expect((await ask(seen, 'pull/1')).body.mergeability_check).toMatchObject({
      state: 'frozen',
      ci_state: 'pending',
    });
  });

  test('they see the pause that they made', async () => {
    const paused = await acme.repository('paused', [{}]);
    const path = `/v1/repos/${paused}/merge-queue/pause`;
    const put = await acme.call('PUT', path, { as: acme.admin, body: { reason: 'Broken main' } });
    await acme.quiet();
    expect((await ask(paused, 'status')).body).toEqual({
      mode: 'serial',
      pause: { paused: true, reason: 'Broken main', paused_at: put.body.paused_at },
      batches: [],
      waiting_pull_requests: [],
      scope_queues: {},
    });
  });
});
