import { boolean, choice, list, number, text, timestamp, commitList, count } from './attribute.ts';

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

const files = (description: string) =>
  list('PullRequest.files', description, 'author-adds', { needs: 'files' });
const dependabot = (description: string) =>
  list('Commit.message', `${description}, if every commit is by Dependabot and verified`, 'dependabot', {
    needs: 'commits',
  });

export const changeAttributes = {
  files: list(
    'PullRequest.files',
    'paths of the changed files, with both paths of a renamed one. `#files` is GitHub’s count, which counts it once',
    'author-adds',
    {
      needs: 'files',
      hasOwnCount: true,
    },
  ),
  'added-files': files('paths of the added files, and the new paths of renamed ones'),
  'modified-files': files('paths of the changed files, without added, removed and renamed ones'),
  'removed-files': files('paths of the removed files, and the old paths of renamed ones'),
  'added-lines': count('PullRequest.additions', 'how many lines are added', 'author-adds'),
  'deleted-lines': count('PullRequest.deletions', 'how many lines are deleted', 'author-adds'),
  'modified-lines': count(
    'PullRequest.additions, deletions',
    'how many lines are added or deleted',
    'author-adds',
  ),
  'mergify-configuration-changed': boolean(
    'PullRequest.files',
    'whether `.mergify.yml`, `.mergify/config.yml` or `.github/mergify.yml` is changed',
    'author-adds',
    { needs: 'files' },
  ),
  commits: commitList(
    'PullRequest.commits',
    'its commits: their messages, or `commits[i].field` with 0 the first, -1 the last and `*` any. `#commits` is GitHub’s count',
    'author',
    { needs: 'commits', hasOwnCount: true },
  ),
  'commits-behind': count(
    'GET /repos/{owner}/{repo}/compare',
    'how many commits of its base it lacks',
    'author',
    { needs: 'behind' },
  ),
  'commits-unverified': list(
    'Commit.signature',
    'messages of the commits without a verified signature',
    'author',
    {
      needs: 'commits',
    },
  ),
  'linear-history': boolean('Commit.parents', 'whether each of its commits has one parent', 'author', {
    needs: 'commits',
  }),
  'dependabot-dependency-name': dependabot('the dependencies that Dependabot updates'),
  'dependabot-dependency-type': dependabot('their types, such as `direct:production`'),
  'dependabot-update-type': dependabot('the kinds of update, such as `version-update:semver-patch`'),
} as const;

/** The author decides: the workflows come from the pull request's own branch, and can use any name. */
const checks = (description: string) =>
  list('StatusCheckRollup.contexts', `names of the checks and commit statuses ${description}`, 'author', {
    needs: 'checks',
    rule: 'check',
  });

/** The author decides: a job of the own workflow deploys to any environment that needs no approval. */
const deployments = (description: string) =>
  list('Commit.deployments', description, 'author', { needs: 'deployments' });

/** What ran on the head commit. If runs have the same name, the newest counts. Our own commit status is left out. */
export const checkAttributes = {
  'check-cancelled': checks('that were cancelled'),
  'check-failure': checks('that failed, erred, timed out, were cancelled or need an action'),
  'check-neutral': checks('that ended neutral'),
  'check-pending': list(
    'StatusCheckRollup.contexts, Ref.refUpdateRule',
    'names of the checks and commit statuses that have not ended, and of required ones that have not begun',
    'author',
    { needs: 'required-checks', rule: 'check' },
  ),
  'check-skipped': checks('that were skipped'),
  'check-stale': checks('that GitHub marked stale'),
  'check-success': checks('that succeeded'),
  'check-success-or-neutral': checks('that succeeded or ended neutral'),
  'check-timed-out': checks('that timed out'),
  'deployment-failure': deployments('environments where the last deployment of the head commit failed'),
  'deployment-success': deployments('environments where the last deployment of the head commit succeeded'),
} as const;

export type CheckAttribute = Extract<keyof typeof checkAttributes, `check-${string}`>;

const queue = 'it belongs to the merge queue of another service, and Holdfast has no merge queue';
const caller = 'it is about the person who gives a command, and a freeze has no such person';
const review = 'GitHub does not answer it. Use `github-review-decision` or `#approved-reviews-by`';
const former = 'it is no longer part of the language. Use `schedule` or `current-datetime`';

/** Names that readers may know from elsewhere, and why a freeze cannot use each. They are never silently false. */
export const refusedNames: Readonly<Record<string, string>> = {
  check: 'it names no result. Use `check-success`, `check-failure`, `check-pending` or another of them',
  'co-authors': 'a message can show it, but a condition cannot compare it. Use `commits[*].author`',
  'current-day': former,
  'current-day-of-week': former,
  'current-month': former,
  'current-time': former,
  'current-timestamp': former,
  'current-year': former,
  'github-code-owner-review-satisfied': review,
  'github-require-last-push-approval': review,
  'github-require-review-from-specific-teams': review,
  'github-review-approved': review,
  'queue-dequeue-reason': queue,
  'queue-merge-started-at': queue,
  'queue-name': queue,
  'queue-position': queue,
  'queued-at': queue,
  sender: caller,
  'sender-permission': caller,
  updates:
    'Holdfast reads only the last push. Use `last-pushed-by`, `updated-at` or `commits[-1].date_committer`',
};

/** Former names, with the present name of each. */
export const aliases: Readonly<Record<string, string>> = {
  'status-failure': 'check-failure',
  'status-neutral': 'check-neutral',
  'status-success': 'check-success',
};
