import type { AttributeValues } from '../../conditions/attributes.ts';
import { didNotGive, type Fact, known, unknownFact } from '../pull-requests/pull-request.ts';
import {
  andThen,
  type AttributeGroup,
  field,
  fieldGroup,
  listField,
  listGroup,
  pageField,
} from './attribute-group.ts';
import { loginOf } from './own-values.ts';
import type { ActorAnswer } from '../pull-requests/pull-request-answer.ts';

export type ReviewAnswer = { state: string; authorCanPushToRepository: boolean; author: ActorAnswer };
const review = pageField('state authorCanPushToRepository author { __typename login }');

const reviewDecision = field<string>('reviewDecision', 'review decision', 'reviewDecision');
export const ofReviewDecision = fieldGroup(
  ['review-decision'],
  ['github-review-decision'],
  reviewDecision,
  (decision) => ({ 'github-review-decision': decision }),
);

/** The last opinion of each reviewer. GitHub gives one review for each person, and no comments. */
export const readReviews = (latest: ReviewAnswer[]): AttributeValues => ({
  'approved-reviews-by': reviewers(latest, 'APPROVED'),
  'changes-requested-reviews-by': reviewers(latest, 'CHANGES_REQUESTED'),
  'dismissed-reviews-by': reviewers(latest, 'DISMISSED'),
});

const reviews = listField<ReviewAnswer>(
  'reviews',
  'reviews',
  (which) => `reviews: latestOpinionatedReviews(${which}) ${review}`,
);
export const ofReviews = listGroup(
  'reviews',
  ['approved-reviews-by', 'changes-requested-reviews-by', 'dismissed-reviews-by'],
  reviews,
  readReviews,
);

export const readComments = (comments: ReviewAnswer[]): AttributeValues => ({
  'commented-reviews-by': reviewers(comments, 'COMMENTED'),
});

const comments = listField<ReviewAnswer>(
  'comments',
  'reviewing comments',
  (which) => `comments: reviews(${which}, states: COMMENTED) ${review}`,
);
export const ofComments = listGroup('comments', ['commented-reviews-by'], comments, readComments);

/** Only the opinions of bots and of people with write access count, as for GitHub's own rules. */
function reviewers(reviews: ReviewAnswer[], wanted: string): string[] {
  const counting = reviews.filter(
    ({ state, author, authorCanPushToRepository }) =>
      state === wanted && (authorCanPushToRepository || author?.__typename === 'Bot'),
  );
  // A review without an author belongs to a deleted account.
  const logins = counting.map(({ author }) => loginOf(author)).filter((login) => login !== null);
  return [...new Set(logins)];
}

type ReviewRequestAnswer = {
  requestedReviewer: ActorAnswer | { __typename: 'Team'; slug: string; combinedSlug: string };
};

/** Logins, and teams both as `@slug` and as `@org/slug`. GitHub gives null for a team that we cannot see. */
export function readReviewRequests(requests: ReviewRequestAnswer[]): Fact<AttributeValues> {
  const asked: string[] = [];
  for (const { requestedReviewer: reviewer } of requests) {
    // A kind of reviewer that we don't know has no login.
    if (!reviewer || !('slug' in reviewer || 'login' in reviewer)) {
      return unknownFact(didNotGive('review requests'));
    }
    if ('slug' in reviewer) asked.push(`@${reviewer.slug}`, `@${reviewer.combinedSlug}`);
    else asked.push(loginOf(reviewer)!);
  }
  return known({ 'review-requested': asked });
}

const reviewer = /* GraphQL */ `
  requestedReviewer {
    __typename
    ... on User { login }
    ... on Bot { login }
    ... on Mannequin { login }
    ... on Team { slug combinedSlug }
  }
`;
const reviewRequests = listField<ReviewRequestAnswer>(
  'reviewRequests',
  'review requests',
  (which) => `reviewRequests(${which}) ${pageField(reviewer)}`,
);
export const ofReviewRequests: AttributeGroup = {
  needs: ['review-requests'],
  attributes: ['review-requested'],
  fields: [reviewRequests],
  read: async (subject) => andThen(await subject.list(reviewRequests), readReviewRequests),
};

type ReviewThreadAnswer = {
  isResolved: boolean;
  comments: { nodes: ({ body: string } | null)[] | null };
};

/** The first comment of each thread; '' for a thread without comments, so that it still counts. */
export function readReviewThreads(threads: ReviewThreadAnswer[]): AttributeValues {
  const firstComments = (wanted: boolean) =>
    threads
      .filter(({ isResolved }) => isResolved === wanted)
      .map(({ comments }) => comments.nodes?.[0]?.body ?? '');
  return {
    'review-threads-resolved': firstComments(true),
    'review-threads-unresolved': firstComments(false),
  };
}

const reviewThreads = listField<ReviewThreadAnswer>(
  'reviewThreads',
  'review threads',
  (which) => `reviewThreads(${which}) ${pageField('isResolved comments(first: 1) { nodes { body } }')}`,
  { first: 20 },
);
export const ofReviewThreads = listGroup(
  'review-threads',
  ['review-threads-resolved', 'review-threads-unresolved'],
  reviewThreads,
  readReviewThreads,
  ['pull_request_review_comment', 'pull_request_review_thread'],
);
