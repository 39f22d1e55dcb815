import { list, text } from './attribute.ts';

const reviews = (description: string) =>
  list('PullRequest.latestOpinionatedReviews', description, 'reviewers', { needs: 'reviews', rule: 'login' });

/** The author's: who opened a pull request may comment on it, and resolve what is said there. */
const threads = (description: string) =>
  list('PullRequest.reviewThreads', description, 'author', { needs: 'review-threads' });

/** Who is concerned with a pull request. Logins; those of bots end in `[bot]`. */
export const peopleAttributes = {
  author: text('PullRequest.author', 'login of who opened the pull request; bots end in `[bot]`', 'opening', {
    rule: 'login',
  }),
  assignee: list('PullRequest.assignees', 'logins of its assignees', 'collaborators', {
    needs: 'assignees',
    rule: 'login',
  }),
  'merged-by': text('PullRequest.mergedBy', 'login of who merged it; none before', 'nobody', {
    needs: 'merger',
    rule: 'login',
  }),
  'review-requested': list(
    'PullRequest.reviewRequests',
    'whose review is asked for: logins, and teams both as `@slug` and as `@org/slug`',
    'collaborators',
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
    'collaborators',
    { needs: 'comments', rule: 'login' },
  ),
  'review-threads-resolved': threads('first comments of the resolved threads'),
  'review-threads-unresolved': threads('first comments of the unresolved threads'),
} as const;
