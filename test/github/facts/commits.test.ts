import { expect, test } from 'vitest';
import { readCommits, type CommitAnswer } from '../../../src/github/facts/commits.ts';

const commit = (message: string, more: Partial<CommitAnswer> = {}): CommitAnswer => ({
  message,
  author: { name: 'Ada Lovelace', email: 'ada@acme.example', date: '2026-01-02T03:04:05+01:00', user: null },
  committer: { name: 'GitHub', email: 'noreply@github.com', date: '2026-01-02T03:04:06Z' },
  signature: { isValid: true, wasSignedByGitHub: true },
  parents: { totalCount: 1 },
  ...more,
});

test('a commit as git has it', () => {
  expect(readCommits([commit('Fix the roof\n\nIt leaked.')]).commits).toEqual([
    {
      author: 'Ada Lovelace',
      email_author: 'ada@acme.example',
      date_author: Date.UTC(2026, 0, 2, 2, 4, 5),
      committer: 'GitHub',
      email_committer: 'noreply@github.com',
      date_committer: Date.UTC(2026, 0, 2, 3, 4, 6),
      commit_message: 'Fix the roof\n\nIt leaked.',
      commit_verification_verified: true,
    },
  ]);
  expect(
    readCommits([commit('x', { author: null, committer: { name: null, email: null, date: null } })]).commits,
  ).toMatchObject([
    {
      author: null,
      email_author: null,
      date_author: null,
      committer: null,
      email_committer: null,
      date_committer: null,
    },
  ]);
});

test('the order is kept, and commits without a good signature are listed', () => {
  const values = readCommits([
    commit('first', { signature: null }),
    commit('second'),
    commit('third', { signature: { isValid: false, wasSignedByGitHub: false } }),
  ]);
  expect(values.commits!.map(({ commit_message }) => commit_message)).toEqual(['first', 'second', 'third']);
  expect(values['commits-unverified']).toEqual(['first', 'third']);
});

test('a history is linear where each commit has one parent', () => {
  const linear = (...parents: number[]) =>
    readCommits(parents.map((totalCount) => commit('x', { parents: { totalCount } })))['linear-history'];
  expect(linear(1, 1)).toBe(true);
  expect(linear(1, 2)).toBe(false);
  expect(linear(0, 1)).toBe(false);
});
