import { list, text } from './attribute.ts';

const reviews = (description: string) =>
  list('PullRequest.latestOpinionatedReviews', description, 'reviewers', { needs: 'reviews', rule: 'login' });

/** The author decides: the person who opens a pull request can comment on it and resolve its threads. */
const threads = (description: string) =>
  list('PullRequest.reviewThreads', description, 'author', { needs: 'review-threads' });

/** The people of a pull request, as logins. Logins of bots end in `[bot]`. */
export const peopleAttributes = {
  author: text('PullRequest.author', 'login of the author; logins of bots end in `[bot]`', 'opening', {
    rule: 'login',
  }),
  assignee: list('PullRequest.assignees', 'logins of its assignees', 'collaborators', {
    needs: 'assignees',
    rule: 'login',
  }),
  'last-pushed-by': text(
    'GET /repos/{owner}/{repo}/activity',
    'login that pushed the head commit',
    'pusher',
    { needs: 'last-push', rule: 'login' },
  ),
  'merged-by': text(
    'PullRequest.mergedBy',
    'login of the person who merged it; none before the merge',
    'nobody',
    {
      needs: 'merger',
      rule: 'login',
    },
  ),
  'review-requested': list(
    'PullRequest.reviewRequests',
    'requested reviewers: logins, and teams both as `@slug` and as `@org/slug`',
    'collaborators',
    { needs: 'review-requests', rule: 'login' },
  ),
  'approved-reviews-by': reviews('people with write access and bots whose last review approves'),
  'changes-requested-reviews-by': reviews(
    'people with write access and bots whose last review requests changes',
  ),
  'dismissed-reviews-by': reviews('people with write access and bots whose last review was dismissed'),
  'commented-reviews-by': list(
    'PullRequest.reviews',
    'people with write access and bots who left a review comment',
    'collaborators',
    { needs: 'comments', rule: 'login' },
  ),
  'review-threads-resolved': threads('first comments of the resolved threads'),
  'review-threads-unresolved': threads('first comments of the unresolved threads'),
} as const;
