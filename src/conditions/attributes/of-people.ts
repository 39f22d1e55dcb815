import { list, text } from './attribute.ts';

const reviews = (description: string) =>
  list('PullRequest.latestOpinionatedReviews', description, { needs: 'reviews', rule: 'login' });

/** Who is concerned with a pull request. Logins; those of bots end in `[bot]`. */
export const peopleAttributes = {
  author: text('PullRequest.author', 'login of who opened the pull request; bots end in `[bot]`', {
    rule: 'login',
  }),
  assignee: list('PullRequest.assignees', 'logins of its assignees', { needs: 'assignees', rule: 'login' }),
  'merged-by': text('PullRequest.mergedBy', 'login of who merged it; none before', {
    needs: 'merger',
    rule: 'login',
  }),
  'review-requested': list(
    'PullRequest.reviewRequests',
    'whose review is asked for: logins, and teams both as `@slug` and as `@org/slug`',
    { needs: 'review-requests', rule: 'login' },
  ),
  'approved-reviews-by': reviews('who approved last; of people with write access, and bots'),
  'changes-requested-reviews-by': reviews(
    'who asked for changes last; of people with write access, and bots',
  ),
  'dismissed-reviews-by': reviews('whose last review was dismissed; of people with write access, and bots'),
  'commented-reviews-by': list(
    'PullRequest.reviews',
    'who left a reviewing comment; of people with write access, and bots',
    {
      needs: 'comments',
      rule: 'login',
    },
  ),
  'review-threads-resolved': list('PullRequest.reviewThreads', 'first comments of the resolved threads', {
    needs: 'review-threads',
  }),
  'review-threads-unresolved': list('PullRequest.reviewThreads', 'first comments of the unresolved threads', {
    needs: 'review-threads',
  }),
} as const;
