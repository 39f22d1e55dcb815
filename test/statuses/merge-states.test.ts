import { describe, expect, test } from 'vitest';
import type { MergeState } from '../../src/github/pull-requests/load-pull-requests.ts';
import { judgeMergeState, type Watched } from '../../src/statuses/merge-state.ts';

const now = new Date('2026-03-01T09:00:00Z');
const unasked: Watched = { mergeState: null, asks: 0, leakingSince: null };

/** What is known after these answers, each given when it was due; and how long the next question waits, in seconds. */
function after(answers: (MergeState | null)[], from = unasked) {
  let at = now;
  let watched = from;
  let wait = 0;
  for (const answer of answers) {
    const next = judgeMergeState(watched, answer, at);
    wait = (next.dueAt.getTime() - at.getTime()) / 1000;
    watched = { mergeState: next.mergeState, asks: next.asks, leakingSince: next.leakingSince };
    at = next.dueAt;
  }
  return { isLeaking: watched.leakingSince !== null, wait, watched };
}

describe('a held pull request leaks', () => {
  test.each<[string, (MergeState | null)[], boolean]>([
    ['not by one answer, which may be old', ['CLEAN'], false],
    ['by two', ['CLEAN', 'CLEAN'], true],
    ['whatever GitHub calls what it would merge', ['CLEAN', 'UNSTABLE'], true],
    ['with pre-receive hooks, too', ['HAS_HOOKS', 'HAS_HOOKS'], true],
    ['also where GitHub does not know in between', ['UNSTABLE', 'UNKNOWN', 'UNSTABLE'], true],
    ['not where it is blocked in between', ['CLEAN', 'BLOCKED', 'CLEAN'], false],
    ['not while GitHub does not know', ['UNKNOWN', 'UNKNOWN', null], false],
    ['no more once it is blocked', ['CLEAN', 'CLEAN', 'BLOCKED'], false],
    ['still, while GitHub does not know', ['CLEAN', 'CLEAN', 'UNKNOWN'], true],
    ['not where it is behind', ['BEHIND', 'BEHIND'], false],
    ['not where it conflicts', ['DIRTY', 'DIRTY'], false],
    ['not as a draft', ['DRAFT', 'DRAFT'], false],
  ])('%s', (_name, answers, isLeaking) => expect(after(answers).isLeaking).toBe(isLeaking));

  test('since the first time that it was sure', () => {
    const { watched } = after(['CLEAN', 'CLEAN', 'CLEAN', 'CLEAN']);
    expect(watched.leakingSince).toEqual(new Date(now.getTime() + 8_000));
  });
});

describe('the next question', () => {
  test.each<[string, (MergeState | null)[], number]>([
    ['some seconds after one that has to be confirmed', ['CLEAN'], 8],
    ['each minute while it leaks', ['CLEAN', 'CLEAN'], 60],
    ['seldom where it is held', ['BLOCKED'], 600],
    ['soon while GitHub does not know', ['UNKNOWN'], 4],
    ['later and later', ['UNKNOWN', 'UNKNOWN', 'UNKNOWN'], 8],
    ['and seldom in the end', Array.from({ length: 6 }, () => 'UNKNOWN' as const), 600],
  ])('%s', (_name, answers, wait) => expect(after(answers).wait).toBe(wait));

  test('about one that GitHub does not know for long, and would merge, comes within 30 s', () => {
    expect(after(['UNKNOWN', 'CLEAN', 'CLEAN']).isLeaking).toBe(true);
    expect(after(['UNKNOWN']).wait + after(['UNKNOWN', 'CLEAN']).wait).toBeLessThanOrEqual(16);
  });
});
