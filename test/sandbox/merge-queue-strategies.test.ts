import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { queued, web } from './queued.ts';

let world: Awaited<ReturnType<typeof queued>>;
beforeEach(async () => {
  world = await queued();
});
afterEach(() => world.github.close());

describe('ALLGREEN', () => {
  test('an entry merges when it passes and all ahead have merged; groups behind stay valid', () => {
    const { github } = world;
    const [first, second, third] = world.queue(3) as [number, number, number];
    const last = world.group(third).headSha;
    const tip = world.group(second).headSha;
    world.events();
    world.judge(second, 'success');
    expect(world.states()).toEqual(['AWAITING_CHECKS', 'MERGEABLE', 'AWAITING_CHECKS']);
    expect(world.merged()).toEqual([]);
    world.judge(first, 'success');
    expect(world.merged()).toEqual([first, second]);
    expect(world.events()).toEqual(
      [first, second].flatMap((number) => [
        `#${number} dequeued MERGE`,
        `#${number} closed`,
        `group #${number} destroyed merged`,
      ]),
    );
    expect(world.group(third)).toMatchObject({ headSha: last, baseSha: tip, pullRequests: [third] });
    expect(github.mergeQueue(web, 'main')).toMatchObject([{ number: third, position: 1 }]);
  });

  test('the event of a merge says by whom', () => {
    const [first] = world.queue(1) as [number];
    world.judge(first, 'success');
    const closed = world.github.deliveries.findLast(({ action }) => action === 'closed')!;
    expect(closed.payload.pull_request).toMatchObject({ merged: true, merged_by: { login: 'bob' } });
  });

  test.each(['failure', 'error'] as const)('%s ejects at once, and what is behind is rebuilt', (state) => {
    const [first, second, third] = world.queue(3) as [number, number, number];
    const old = world.group(third).headSha;
    world.events();
    world.judge(second, state);
    expect(world.events()).toEqual([
      `#${second} dequeued CI_FAILURE`,
      `group #${second} destroyed dequeued`,
      `group #${third} destroyed invalidated`,
      `group #${third} checks_requested`,
    ]);
    expect(world.inQueue()).toEqual([first, third]);
    expect(world.group(third).baseSha).toBe(world.group(first).headSha);
    world.pass(old);
    world.judge(first, 'success');
    expect(world.merged()).toEqual([first]);
    world.judge(third, 'success');
    expect(world.merged()).toEqual([first, third]);
  });

  test('a missing or pending status waits until the time-out', () => {
    const [first, second] = world.queue(2, { checkResponseTimeoutMinutes: 30 }) as [number, number];
    world.judge(first, 'pending');
    world.judge(second, 'success');
    world.minutes(29);
    expect(world.inQueue()).toEqual([first, second]);
    world.events();
    world.minutes(1);
    expect(world.events()[0]).toBe(`#${first} dequeued CI_TIMEOUT`);
    expect(world.inQueue()).toEqual([second]);
    world.minutes(29);
    expect(world.inQueue()).toEqual([second]);
    world.minutes(1);
    expect(world.inQueue()).toEqual([]);
    expect(world.merged()).toEqual([]);
  });

  test('the next status also applies a time-out', () => {
    const [first] = world.queue(1, { checkResponseTimeoutMinutes: 30 }) as [number];
    world.clock.now += 31 * 60_000;
    expect(world.inQueue()).toEqual([first]);
    world.judge(first, 'pending');
    expect(world.inQueue()).toEqual([]);
  });

  test('fewer than the minimum wait for more, but not forever', () => {
    const options = { minEntriesToMerge: 2, minEntriesToMergeWaitMinutes: 10 };
    const [first, second, third] = world.queue(3, options) as [number, number, number];
    world.judge(first, 'success');
    expect(world.merged()).toEqual([]);
    world.judge(second, 'success');
    expect(world.merged()).toEqual([first, second]);
    world.judge(third, 'success');
    world.minutes(9);
    expect(world.inQueue()).toEqual([third]);
    world.minutes(1);
    expect(world.merged()).toEqual([first, second, third]);
  });
});

describe('HEADGREEN', () => {
  const mergingStrategy = 'HEADGREEN';

  test('a passing group also merges those ahead of it, even failing and pending ones', () => {
    const [frozen, slow, exempt, last] = world.queue(4, { mergingStrategy }) as [
      number,
      number,
      number,
      number,
    ];
    world.judge(frozen, 'failure');
    expect(world.states()[0]).toBe('UNMERGEABLE');
    expect(world.inQueue()).toEqual([frozen, slow, exempt, last]);
    world.judge(exempt, 'success');
    expect(world.merged()).toEqual([frozen, slow, exempt]);
    expect(world.inQueue()).toEqual([last]);
  });

  test('not beyond the merge limit', () => {
    const [first, second, third] = world.queue(3, { mergingStrategy, maxEntriesToMerge: 2 }) as [
      number,
      number,
      number,
    ];
    world.judge(third, 'success');
    expect(world.merged()).toEqual([]);
    expect(world.states()).toEqual(['AWAITING_CHECKS', 'AWAITING_CHECKS', 'MERGEABLE']);
    world.judge(second, 'success');
    expect(world.merged()).toEqual([first, second, third]);
  });

  test('a failing entry leaves when nothing behind it can pass', () => {
    const [first, second] = world.queue(2, { mergingStrategy }) as [number, number];
    world.judge(first, 'failure');
    expect(world.inQueue()).toEqual([first, second]);
    world.events();
    world.judge(second, 'failure');
    expect(world.events()).toEqual([
      `#${first} dequeued CI_FAILURE`,
      `group #${first} destroyed dequeued`,
      `group #${second} destroyed invalidated`,
      `group #${second} checks_requested`,
    ]);
    world.judge(second, 'success');
    expect(world.merged()).toEqual([second]);
  });

  test('or at its own time-out', () => {
    const [first] = world.queue(1, { mergingStrategy, checkResponseTimeoutMinutes: 30 }) as [number];
    world.minutes(20);
    const [second] = world.queue(1, { mergingStrategy }) as [number];
    world.judge(first, 'failure');
    world.minutes(9);
    expect(world.inQueue()).toEqual([first, second]);
    world.minutes(1);
    expect(world.inQueue()).toEqual([second]);
  });
});
