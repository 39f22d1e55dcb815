import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMergeGroupRef } from '../../src/github/merge-group-ref.ts';
import type { MergeQueue } from '../../src/github/pull-requests/read-merge-queue.ts';
import { findAnnounced, groupsIn } from '../../src/statuses/merge-queue.ts';

const sha = (digit: string) => digit.repeat(40);
const ref = (number: number, branch = 'main') =>
  `refs/heads/gh-readonly-queue/${branch}/pr-${number}-${sha('f')}`;

/** A queue of these pull requests, each with the head of its group; null where GitHub has not built it. */
const queueOf = (...entries: [number, string | null][]): MergeQueue => ({
  timeoutMinutes: 60,
  entries: entries.map(([number, headSha]) => ({
    number,
    nodeId: `PR_${number}`,
    builtAt: new Date(0),
    headSha,
    status: null,
  })),
});
const numbers = (group: { entries: { number: number }[] } | null) =>
  group?.entries.map(({ number }) => number);

describe('the ref of a group', () => {
  test.each([
    [ref(7), { branch: 'main', number: 7 }],
    [ref(7, 'release/2026/pr-3-x'), { branch: 'release/2026/pr-3-x', number: 7 }],
    [ref(7).replace('refs/heads/', ''), { branch: 'main', number: 7 }],
    [`refs/heads/gh-readonly-queue/main/pr-7-${'a'.repeat(64)}`, { branch: 'main', number: 7 }],
    ['refs/heads/main', null],
    ['refs/heads/gh-readonly-queue/main/pr-7', null],
    ['', null],
  ])('%s', (text, expected) => expect(parseMergeGroupRef(text)).toEqual(expected));

  test('gives back any branch and number', () => {
    const branch = fc.stringMatching(/^[a-z0-9/_.-]{1,30}$/);
    fc.assert(
      fc.property(branch, fc.integer({ min: 1, max: 2 ** 31 - 1 }), (name, number) => {
        expect(parseMergeGroupRef(ref(number, name))).toEqual({ branch: name, number });
      }),
    );
  });
});

describe('the groups of a queue', () => {
  test('each contains its own entry and everything ahead', () => {
    const groups = groupsIn(queueOf([5, sha('a')], [3, sha('b')], [9, null]));
    expect(groups.map((group) => [group.headSha, numbers(group)])).toEqual([
      [sha('a'), [5]],
      [sha('b'), [5, 3]],
    ]);
  });

  test('an announced one is found by its head', () => {
    const queue = queueOf([5, sha('a')], [3, sha('b')]);
    expect(numbers(findAnnounced(queue, { headSha: sha('b'), headRef: ref(3) }))).toEqual([5, 3]);
  });

  test('or by the number of its ref, while GitHub does not show its head', () => {
    const queue = queueOf([5, sha('a')], [3, null]);
    expect(numbers(findAnnounced(queue, { headSha: sha('b'), headRef: ref(3) }))).toEqual([5, 3]);
  });

  test('if head and ref name two entries, it contains both', () => {
    const queue = queueOf([5, sha('a')], [3, sha('b')], [9, sha('c')]);
    expect(numbers(findAnnounced(queue, { headSha: sha('a'), headRef: ref(9) }))).toEqual([5, 3, 9]);
    expect(numbers(findAnnounced(queue, { headSha: sha('c'), headRef: ref(5) }))).toEqual([5, 3, 9]);
  });

  test('a rebuilt one, or one whose entry is gone, is not there', () => {
    const queue = queueOf([5, sha('a')]);
    expect(findAnnounced(queue, { headSha: sha('b'), headRef: ref(5) })).toBeNull();
    expect(findAnnounced(queue, { headSha: sha('b'), headRef: ref(6) })).toBeNull();
    expect(findAnnounced(queue, { headSha: sha('b'), headRef: 'refs/heads/other' })).toBeNull();
  });
});
