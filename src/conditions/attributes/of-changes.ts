import { boolean, commitList, count, list } from './attribute.ts';

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
