import type { AttributeValues } from '../../conditions/attributes.ts';
import { didNotGive, type Fact, known, notKnown } from '../pull-requests/fact.ts';
import type { ReviewAnswer, ReviewRequestAnswer, ReviewThreadAnswer } from '../queries/answers.ts';
import { loginOf } from './login-of.ts';

/** The last opinion of each reviewer. GitHub gives one review for each person, and no comments. */
export const readReviews = (latest: ReviewAnswer[]): AttributeValues => ({
  'approved-reviews-by': reviewers(latest, 'APPROVED'),
  'changes-requested-reviews-by': reviewers(latest, 'CHANGES_REQUESTED'),
  'dismissed-reviews-by': reviewers(latest, 'DISMISSED'),
});

export const readComments = (comments: ReviewAnswer[]): AttributeValues => ({
  'commented-reviews-by': reviewers(comments, 'COMMENTED'),
});

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

/** Logins, and teams both as `@slug` and as `@org/slug`. GitHub gives null for a team that we cannot see. */
export function readReviewRequests(requests: ReviewRequestAnswer[]): Fact<AttributeValues> {
  const asked: string[] = [];
  for (const { requestedReviewer: reviewer } of requests) {
    // A kind of reviewer that we don't know has no login.
    if (!reviewer || !('slug' in reviewer || 'login' in reviewer)) {
      return notKnown(didNotGive('review requests'));
    }
    if ('slug' in reviewer) asked.push(`@${reviewer.slug}`, `@${reviewer.combinedSlug}`);
    else asked.push(loginOf(reviewer)!);
  }
  return known({ 'review-requested': asked });
}

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
