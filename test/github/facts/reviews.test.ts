import { expect, test } from 'vitest';
import {
  readComments,
  readReviewRequests,
  readReviews,
  readReviewThreads,
  type ReviewAnswer,
} from '../../../src/github/facts/reviews.ts';

const review = (state: string, login: string | null, more: object = {}): ReviewAnswer => ({
  state,
  authorCanPushToRepository: true,
  author: login === null ? null : { __typename: 'User', login },
  ...more,
});
const outsider = { authorCanPushToRepository: false };
const bot = (login: string) => ({ ...outsider, author: { __typename: 'Bot', login } });

test('reviews by their state, of people who may write and of bots', () => {
  const reviews = [
    review('APPROVED', 'ada'),
    review('APPROVED', 'eve', outsider),
    review('APPROVED', null, bot('copilot')),
    review('APPROVED', null),
    review('CHANGES_REQUESTED', 'bob'),
    review('CHANGES_REQUESTED', 'eve', outsider),
    review('DISMISSED', 'cleo'),
    review('PENDING', 'dan'),
    review('COMMENTED', 'fay'),
  ];
  expect(readReviews(reviews)).toEqual({
    'approved-reviews-by': ['ada', 'copilot[bot]'],
    'changes-requested-reviews-by': ['bob'],
    'dismissed-reviews-by': ['cleo'],
  });
});

test('a person who comments twice is named once', () => {
  const comments = [
    review('COMMENTED', 'ada'),
    review('COMMENTED', 'bob', outsider),
    review('COMMENTED', 'ada'),
  ];
  expect(readComments(comments)).toEqual({ 'commented-reviews-by': ['ada'] });
});

test('review requests: people, bots, and teams in both spellings', () => {
  const asked = [
    { __typename: 'User', login: 'ada' },
    { __typename: 'Bot', login: 'copilot' },
    { __typename: 'Mannequin', login: 'imported' },
    { __typename: 'Team' as const, slug: 'core', combinedSlug: 'acme/core' },
  ].map((requestedReviewer) => ({ requestedReviewer }));
  expect(readReviewRequests(asked)).toEqual({
    known: true,
    value: { 'review-requested': ['ada', 'copilot[bot]', 'imported', '@core', '@acme/core'] },
  });
  const ofNewKind = { __typename: 'EnterpriseTeam' } as unknown as { __typename: string; login: string };
  for (const unseen of [null, ofNewKind]) {
    expect(readReviewRequests([...asked, { requestedReviewer: unseen }])).toEqual({
      known: false,
      reason: 'GitHub did not give its review requests',
    });
  }
});

test('threads are their first comments, and each is counted', () => {
  const thread = (isResolved: boolean, ...bodies: string[]) => ({
    isResolved,
    comments: { nodes: bodies.map((body) => ({ body })) },
  });
  expect(readReviewThreads([thread(true, 'done'), thread(false, 'why?'), thread(false)])).toEqual({
    'review-threads-resolved': ['done'],
    'review-threads-unresolved': ['why?', ''],
  });
});
