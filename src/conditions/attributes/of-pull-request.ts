import { boolean, choice, list, number, text, timestamp } from './attribute.ts';

export const pullRequestAttributes = {
  base: text('PullRequest.baseRefName', 'branch that the pull request merges into', 'author-elsewhere', {
    rule: 'branch',
  }),
  body: text('PullRequest.body', 'description of the pull request, without `<!-- comments -->`', 'author', {
    needs: 'body',
  }),
  'body-raw': text('PullRequest.body', 'description of the pull request as it was written', 'author', {
    needs: 'body',
  }),
  closed: boolean('PullRequest.closed', 'whether it is closed, merged or not; an open one is not', 'nobody'),
  'closed-at': timestamp('PullRequest.closedAt', 'when it was closed', 'nobody'),
  conflict: boolean(
    'PullRequest.mergeable',
    'whether GitHub says that it conflicts with its base; false while GitHub does not know',
    'author-clears',
    { needs: 'conflict' },
  ),
  'created-at': timestamp('PullRequest.createdAt', 'when it was opened', 'author-adds'),
  'depends-on': list(
    'PullRequest.body',
    'the merged pull requests, as `owner/repo#n`, that the description names in lines `Depends-On: #n` or `Depends-On: <URL>`',
    'author',
    { needs: 'dependencies', rule: 'pull request' },
  ),
  draft: boolean('PullRequest.isDraft', 'whether it is a draft', 'author-clears'),
  'from-fork': boolean(
    'PullRequest.isCrossRepository',
    'whether its branch is in another repository, or in one that was deleted',
    'author-adds',
  ),
  'github-review-decision': choice(
    'PullRequest.reviewDecision',
    'GitHub’s own verdict on its reviews; none if no review is required',
    'reviewers',
    { needs: 'review-decision', rule: ['APPROVED', 'CHANGES_REQUESTED', 'REVIEW_REQUIRED'] },
  ),
  head: text('PullRequest.headRefName', 'branch that the pull request comes from', 'author', {
    rule: 'branch',
  }),
  'head-repo-full-name': text(
    'PullRequest.headRepository',
    '`owner/repo` of its branch; none if that was deleted',
    'author',
  ),
  label: list('PullRequest.labels', 'names of its labels', 'collaborators', { needs: 'labels' }),
  locked: boolean('PullRequest.locked', 'whether its conversation is locked', 'collaborators'),
  'merge-commit-sha': text(
    'PullRequest.mergeCommit',
    'the commit that merged it; none before the merge',
    'nobody',
    {
      needs: 'merger',
    },
  ),
  merged: boolean('PullRequest.merged', 'whether it is merged; an open one is not', 'nobody'),
  'merged-at': timestamp('PullRequest.mergedAt', 'when it was merged', 'nobody'),
  milestone: text('PullRequest.milestone', 'title of its milestone', 'collaborators', {
    needs: 'milestone',
    operators: ['=', '!=', '~=', '>=', '<=', '>', '<'],
  }),
  number: number('PullRequest.number', 'number of the pull request', 'opening'),
  'repository-full-name': text('Repository.nameWithOwner', '`owner/repo` that it merges into', 'nobody'),
  'repository-name': text('Repository.name', 'name of the repository that it merges into', 'nobody'),
  scope: list('CI', 'scopes that CI pushed; with `all_scopes`, every scope', 'ci', { needs: 'scopes' }),
  title: text('PullRequest.title', 'title of the pull request', 'author'),
  'updated-at': timestamp(
    'PullRequest.updatedAt',
    'when it last changed, as of the last event that Holdfast receives',
    'author-adds',
  ),
} as const;

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
