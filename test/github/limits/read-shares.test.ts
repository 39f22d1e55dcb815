import { beforeEach, describe, expect, test } from 'vitest';
import { RateBudgets } from '../../../src/github/ask-github.ts';
import {
  type Causer,
  questionsOfEvents,
  sharesOfHour,
  takeFromShares,
  readsEventsAt,
  takeQuestions,
} from '../../../src/github/limits/read-shares.ts';
import type { Deps } from '../../../src/deps.ts';
import { TestClock } from '../../support/test-clock.ts';

const minute = 60_000;
let clock: TestClock;
let deps: Pick<Deps, 'github' | 'clock'>;
/** Says that the installation has so many requests in an hour. */
const has = (limit: number) =>
  deps.github.budgets.note(7n, {
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': limit,
    'x-ratelimit-reset': clock.now() / 1000 + 3600,
    'x-ratelimit-resource': 'core',
  });
beforeEach(() => {
  clock = new TestClock('2026-03-01T09:00:00Z');
  deps = { clock, github: { budgets: new RateBudgets(clock) } as Deps['github'] };
  has(1_000);
});

const fork: Causer = { installationId: 7n, repositoryId: 1n, number: 1, headOwner: 'mallory' };
const own: Causer = { ...fork, headOwner: null };
/** Takes ten at a time while they are given. @returns how many were, and why no more. */
function takeAll(causers: (n: number) => Causer): [number, string | null] {
  for (let taken = 0; taken < 5_000; taken += 10) {
    const why = takeFromShares(deps, causers(taken / 10), 10);
    if (why !== null) return [taken, why];
  }
  return [5_000, null];
}

describe('requests about pull requests', () => {
  test.each<[share: keyof typeof sharesOfHour, causers: (n: number) => Causer, why: string]>([
    ['pullRequest', () => own, 'it used up'],
    ['repository', (number) => ({ ...own, number }), 'its repository used up'],
    ['headOwner', (number) => ({ ...fork, number }), 'pull requests of mallory used up'],
    [
      'headOwner',
      (number) => ({ ...fork, number, headOwner: 'Mallory', repositoryId: BigInt(number) }),
      'pull requests of Mallory used up',
    ],
    [
      'forksOfRepository',
      (number) => ({ ...fork, number, headOwner: `m-${number}` }),
      'pull requests from forks used up',
    ],
    [
      'forks',
      (n) => ({ ...fork, number: n, headOwner: `m-${n}`, repositoryId: BigInt(n) }),
      'pull requests from forks used up',
    ],
  ])('are limited to the share %s', (share, causers, why) => {
    expect(takeAll(causers)).toEqual([sharesOfHour[share] * 1_000, expect.stringContaining(why)]);
  });

  test('from all forks together leave most of the hour', () => {
    expect(sharesOfHour.forks).toBeLessThan(0.2);
  });

  test('that are too many for a share take nothing from another one', () => {
    expect(takeFromShares(deps, fork, 31)).toContain('it used up');
    expect(takeAll((number) => ({ ...own, number }))[0]).toBe(400);
  });

  test('from the repository itself go on when those from forks are used up', () => {
    takeAll((number) => ({ ...fork, number, headOwner: `m-${number}` }));
    expect(takeFromShares(deps, { ...own, number: 999 }, 10)).toBeNull();
  });

  test('are counted anew an hour after the first', async () => {
    takeAll(() => own);
    await clock.setTime(new Date(clock.now() + 59 * minute));
    expect(takeFromShares(deps, own, 10)).not.toBeNull();
    await clock.setTime(new Date(clock.now() + minute));
    has(1_000);
    expect(takeFromShares(deps, own, 10)).toBeNull();
  });

  test('are not limited where GitHub names no limit', () => {
    deps.github.budgets = new RateBudgets(clock);
    expect(takeAll(() => own)).toEqual([5_000, null]);
  });

  test('grow with the hour that GitHub gives', () => {
    has(12_500);
    expect(takeAll(() => own)[0]).toBe(370);
  });
});

describe('questions about events of a repository', () => {
  const limit = 5_000;
  const each = 3_600_000 / (questionsOfEvents.perHour * limit);
  test.each<
    [
      what: string,
      left: { questions: number; at: number } | undefined,
      now: number,
      wait: number,
      rest: number,
    ]
  >([
    ['the first', undefined, 0, 0, 299],
    ['one of many at once', { questions: 2, at: 0 }, 0, 0, 1],
    ['one more than that', { questions: 0, at: 0 }, 0, each, 0],
    ['halfway to the next', { questions: 0, at: 0 }, each / 2, each / 2, 0.5],
    ['when the next one is there', { questions: 0, at: 0 }, each, 0, 0],
    ['after a quiet day', { questions: 0, at: 0 }, 24 * 3_600_000, 0, 299],
  ])('%s', (_, left, now, wait, rest) => {
    const taken = takeQuestions(left, 1, now, limit);
    expect([taken.wait, taken.left.questions]).toEqual([wait, rest]);
  });

  test('that are dearer than all at once are asked when all is there', () => {
    expect(takeQuestions(undefined, 400, 0, limit).wait).toBe(0);
  });

  test('use less than a fifth of the hour', () => {
    expect(questionsOfEvents.atOnce + questionsOfEvents.perHour).toBeLessThanOrEqual(0.2);
  });
});

test.each([0, 3])('who waits for questions finds them after %i others were taken', (before) => {
  const clock = { now: () => at };
  let at = Date.parse('2026-03-01T12:00:00Z');
  const deps = { clock, github: { budgets: { limit: () => 1000 } } } as never;
  const repository = { id: 1n, installation: { id: 1n } };
  while (readsEventsAt(deps, repository, 1) === null);
  const until = readsEventsAt(deps, repository, 2, 'eve', before)!;
  at = until.getTime();
  if (before > 0) expect(readsEventsAt(deps, repository, before)).toBeNull();
  expect(readsEventsAt(deps, repository, 2, 'eve', before)).toBeNull();
  expect(readsEventsAt(deps, repository, 1)).not.toBeNull();
});
