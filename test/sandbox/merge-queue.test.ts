import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { call, installationToken } from './acme.ts';
import { queued, web } from './queued.ts';

let world: Awaited<ReturnType<typeof queued>>;
beforeEach(async () => {
  world = await queued();
});
afterEach(() => world.github.close());

describe('entering the queue', () => {
  test('only what passes its own required checks enters; the rest enters when it does', () => {
    const { github } = world;
    github.enableMergeQueue(web, 'main');
    const { number } = github.openPullRequest(web, { author: 'eve', draft: true });
    github.enqueue(web, number, 'bob');
    expect(world.inQueue()).toEqual([]);
    expect(github.pullRequest(web, number)).toMatchObject({ autoMerge: true, state: 'open' });
    world.pass(number);
    expect(world.inQueue()).toEqual([]);
    github.markReady(web, number);
    expect(world.inQueue()).toEqual([number]);
    expect(github.pullRequest(web, number)).toMatchObject({ autoMerge: false, state: 'open' });
    expect(world.events()).toEqual(
      expect.arrayContaining([`#${number} auto_merge_enabled`, `#${number} enqueued`]),
    );
  });

  test('auto-merge on a branch with a queue is the queue', () => {
    const [first] = world.queue(1) as [number];
    const { number } = world.github.openPullRequest(web, { author: 'eve', autoMerge: true });
    world.pass(number);
    expect(world.inQueue()).toEqual([first, number]);
    expect(world.merged()).toEqual([]);
  });

  test('a pull request that turns red later stays in', () => {
    const [first] = world.queue(1) as [number];
    world.pass(first, 'failure');
    expect(world.inQueue()).toEqual([first]);
    world.judge(first, 'success');
    expect(world.merged()).toEqual([first]);
  });

  test('the merge button is refused, an administrator merges past everything', async () => {
    const { github, ada } = world;
    const [first, second] = world.queue(2) as [number, number];
    const button = await call(github, ada.token, 'PUT', `/repos/${web}/pulls/${first}/merge`);
    const message = 'Changes must be made through the merge queue';
    expect(button).toMatchObject({ status: 405, body: { message } });
    expect(github.merge(web, first)).toEqual({ merged: false, message });
    const stale = world.group(second).headSha;
    world.pass(first, 'failure');
    world.events();
    github.bypassMerge(web, first, 'ada');
    expect(world.events()).toEqual([
      `#${first} closed`,
      `#${first} dequeued ALREADY_MERGED`,
      `group #${first} destroyed dequeued`,
      `group #${second} destroyed invalidated`,
      `group #${second} checks_requested`,
    ]);
    expect(world.group(second).headSha).not.toBe(stale);
    world.judge(second, 'success');
    expect(github.merges(web)).toMatchObject([
      { number: first, by: 'ada', how: 'bypass', at: new Date(world.clock.now) },
      { number: second, by: 'bob', how: 'queue' },
    ]);
  });

  test('a branch without a queue has entries without effect', () => {
    const { github } = world;
    const { number } = github.openPullRequest(web, { author: 'eve' });
    github.enqueue(web, number);
    expect(world.events()).toContain(`#${number} enqueued`);
    github.dequeue(web, number, 'CI_FAILURE');
    expect(world.events()).toEqual([`#${number} dequeued CI_FAILURE`]);
    expect(github.mergeGroups(web)).toEqual([]);
  });
});

describe('groups', () => {
  test('each is built on the one ahead, and sends its payload', () => {
    const { github } = world;
    const [first, second] = world.queue(3, { maxEntriesToBuild: 2 }) as [number, number, number];
    expect(world.states()).toEqual(['AWAITING_CHECKS', 'AWAITING_CHECKS', 'QUEUED']);
    const [one, two, three] = github.mergeQueue(web, 'main');
    expect(two!.baseSha).toBe(one!.headSha);
    expect(three).toMatchObject({ position: 3, headSha: null, baseSha: null, ref: null });
    expect(github.mergeGroups(web, 'main').map(({ pullRequests }) => pullRequests)).toEqual([
      [first],
      [first, second],
    ]);
    const told = github.deliveries.filter(({ event }) => event === 'merge_group');
    expect(told).toHaveLength(2);
    expect(told[1]!.payload).toMatchObject({
      action: 'checks_requested',
      repository: { full_name: web },
      organization: { login: 'acme' },
      installation: { id: world.installationId },
      sender: { login: 'ada' },
      merge_group: {
        head_sha: two!.headSha,
        head_ref: `refs/heads/gh-readonly-queue/main/pr-${second}-${two!.baseSha}`,
        base_sha: two!.baseSha,
        base_ref: 'refs/heads/main',
        head_commit: {
          id: two!.headSha,
          tree_id: expect.stringMatching(/^[0-9a-f]{40}$/),
          message: `Merge pull request #${second} from acme/feature-${second}`,
          timestamp: '2026-03-01T09:00:00Z',
          author: { name: expect.any(String), email: expect.any(String) },
          committer: { name: expect.any(String), email: expect.any(String) },
        },
      },
    });
  });

  test('a base branch with slashes', () => {
    const { github } = world;
    const [number] = world.queue(1, {}, 'release/2026/q1') as [number];
    const { headRef, baseSha, headSha } = world.group(number);
    expect(headRef).toBe(`refs/heads/gh-readonly-queue/release/2026/q1/pr-${number}-${baseSha}`);
    expect(github.mergeGroups(web, 'main')).toEqual([]);
    world.pass(headSha);
    expect(world.merged()).toEqual([number]);
  });

  test('a jump to the front, a push to the base: all are rebuilt', () => {
    const { github } = world;
    const numbers = world.queue(3);
    const old = github.mergeGroups(web).map(({ headSha }) => headSha);
    github.jump(web, numbers[2]!);
    expect(world.inQueue()).toEqual([numbers[2], numbers[0], numbers[1]]);
    const jumped = github.mergeGroups(web).map(({ headSha }) => headSha);
    expect(old.filter((sha) => jumped.includes(sha))).toEqual([]);
    github.pushToBranch(web, 'main', { conflictsWith: [numbers[0]!] });
    expect(world.events()).toContain(`#${numbers[0]} dequeued MERGE_CONFLICT`);
    expect(world.inQueue()).toEqual([numbers[2], numbers[1]]);
    expect(github.mergeGroups(web).some(({ headSha }) => jumped.includes(headSha))).toBe(false);
  });

  test('a status can be posted to one, and only then is it merged', async () => {
    const { github, installationId } = world;
    const [number] = world.queue(1) as [number];
    const app = await installationToken(github, installationId);
    const path = `/repos/${web}/statuses/${world.group(number).headSha}`;
    const post = (state: string) =>
      call(github, app, 'POST', path, { state, context: 'holdfast/freeze' }).then(({ status }) => status);
    expect(await post('pending')).toBe(201);
    expect(world.merged()).toEqual([]);
    expect(await post('success')).toBe(201);
    expect(world.merged()).toEqual([number]);
  });

  test('a queue that is disabled is cleared', () => {
    const [number] = world.queue(1) as [number];
    world.events();
    world.github.disableMergeQueue(web, 'main');
    expect(world.events()).toEqual([
      `#${number} dequeued QUEUE_CLEARED`,
      `group #${number} destroyed dequeued`,
    ]);
    expect(world.github.merge(web, number).merged).toBe(true);
  });
});

describe('a queued pull request leaves when it', () => {
  test.each([
    ['is pushed to', (number: number) => world.github.push(web, number)],
    ['is closed', (number: number) => world.github.closePullRequest(web, number)],
    ['is retargeted', (number: number) => world.github.retarget(web, number, 'release')],
    ['becomes a draft', (number: number) => world.github.markDraft(web, number)],
    ['is taken out', (number: number) => world.github.dequeue(web, number)],
  ])('%s', (_, happens) => {
    const [first, second] = world.queue(2) as [number, number];
    const old = world.group(first).headSha;
    world.events();
    happens(first);
    expect(world.events().slice(-4)).toEqual([
      `#${first} dequeued MANUAL`,
      `group #${first} destroyed dequeued`,
      `group #${second} destroyed invalidated`,
      `group #${second} checks_requested`,
    ]);
    expect(world.inQueue()).toEqual([second]);
    world.pass(old);
    world.judge(second, 'success');
    expect(world.merged()).toEqual([second]);
  });

  test('but a new title changes nothing', () => {
    const [first] = world.queue(1) as [number];
    const { headSha } = world.group(first);
    world.github.editTitle(web, first, 'Better');
    expect(world.group(first).headSha).toBe(headSha);
  });
});
