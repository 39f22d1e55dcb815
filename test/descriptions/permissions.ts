// What a token of an installation needs for each route of REST and each field of GraphQL, and who says so.

/** @property needs one of these is enough, in the words of `X-Accepted-GitHub-Permissions`. */
type Row = { needs: string[]; of: string[]; source: string };

const docs = 'GitHub Docs, permissions required for GitHub Apps, version 2026-03-10';

export const ofRoutes: Row[] = [
  {
    needs: ['metadata=read'],
    of: [
      'GET /repos/{owner}/{repo}',
      'GET /repos/{owner}/{repo}/collaborators/{username}/permission',
      'GET /repos/{owner}/{repo}/rules/branches/{branch}',
      'GET /repos/{owner}/{repo}/rulesets',
      'GET /repos/{owner}/{repo}/rulesets/{ruleset_id}',
    ],
    source: docs,
  },
  {
    needs: ['administration=write'],
    of: [
      'POST /repos/{owner}/{repo}/rulesets',
      'PUT /repos/{owner}/{repo}/rulesets/{ruleset_id}',
      'DELETE /repos/{owner}/{repo}/rulesets/{ruleset_id}',
    ],
    source: docs,
  },
  {
    needs: ['administration=read'],
    of: [
      'GET /repos/{owner}/{repo}/branches/{branch}/protection',
      'GET /repos/{owner}/{repo}/branches/{branch}/protection/required_status_checks',
      'GET /repos/{owner}/{repo}/keys',
    ],
    source: docs,
  },
  {
    needs: ['contents=read'],
    of: [
      'GET /repos/{owner}/{repo}/activity',
      'GET /repos/{owner}/{repo}/branches/{branch}',
      'GET /repos/{owner}/{repo}/compare/{basehead}',
    ],
    source: docs,
  },
  { needs: ['statuses=write'], of: ['POST /repos/{owner}/{repo}/statuses/{sha}'], source: docs },
  {
    needs: ['statuses=read'],
    of: [
      'GET /repos/{owner}/{repo}/commits/{ref}/status',
      'GET /repos/{owner}/{repo}/commits/{ref}/statuses',
    ],
    source: docs,
  },
  {
    needs: ['pull_requests=read'],
    of: [
      'GET /repos/{owner}/{repo}/pulls',
      'GET /repos/{owner}/{repo}/pulls/{pull_number}',
      'GET /repos/{owner}/{repo}/pulls/{pull_number}/files',
    ],
    source: docs,
  },
  {
    needs: ['pull_requests=read'],
    of: ['GET /repos/{owner}/{repo}/stacks'],
    source: 'not documented yet; @octokit/openapi has stacks among pull requests',
  },
  {
    needs: ['issues=write', 'pull_requests=write'],
    of: ['POST /repos/{owner}/{repo}/issues/{issue_number}/comments'],
    source: docs,
  },
  {
    needs: ['issues=read', 'pull_requests=read'],
    of: ['GET /repos/{owner}/{repo}/issues/{issue_number}/comments', 'GET /repos/{owner}/{repo}/labels'],
    source: docs,
  },
  {
    needs: ['actions=read'],
    of: [
      'GET /repos/{owner}/{repo}/actions/runs',
      'GET /repos/{owner}/{repo}/actions/runs/{run_id}',
      'GET /repos/{owner}/{repo}/actions/runs/{run_id}/approvals',
      'GET /repos/{owner}/{repo}/actions/runs/{run_id}/pending_deployments',
      'GET /repos/{owner}/{repo}/environments',
      'GET /repos/{owner}/{repo}/environments/{environment_name}/deployment_protection_rules',
    ],
    source: docs,
  },
  {
    needs: ['deployments=read'],
    of: [
      'GET /repos/{owner}/{repo}/deployments',
      'GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses',
    ],
    source: docs,
  },
  {
    needs: ['deployments=write'],
    of: ['POST /repos/{owner}/{repo}/actions/runs/{run_id}/deployment_protection_rule'],
    source: docs,
  },
  {
    needs: ['members=read'],
    of: [
      'GET /orgs/{org}/memberships/{username}',
      'GET /orgs/{org}/teams/{team_slug}',
      'GET /orgs/{org}/teams/{team_slug}/memberships/{username}',
    ],
    source: docs,
  },
  {
    needs: [],
    of: [
      'GET /installation/repositories',
      'GET /meta',
      'GET /rate_limit',
      'GET /user',
      'GET /user/{account_id}',
      'GET /users/{username}',
      'GET /orgs/{org}',
    ],
    source: `${docs}: they work with any token`,
  },
];

const undocumented = 'GitHub documents none of GraphQL; REST needs it for';

/** By type and field, or by type for all of its other fields. A list's own fields need what it is a list of. */
export const ofFields: Row[] = [
  {
    needs: [],
    of: [
      'Query',
      'RateLimit',
      'User',
      'Bot',
      'Mannequin',
      'EnterpriseUserAccount',
      'Organization',
      'Actor',
      'GitActor',
      'RepositoryOwner',
    ],
    source: 'who exists is public; a token that sees no more gets NOT_FOUND',
  },
  {
    needs: ['metadata=read'],
    of: [
      'Repository',
      'Label',
      'Milestone',
      'RefUpdateRule',
      'RepositoryRule',
      'RequiredStatusChecksParameters',
      'StatusCheckConfiguration',
      // Of the default branch, which a repository says.
      'Ref.name',
    ],
    source: `${undocumented} GET /repos/{owner}/{repo} and its rules; labels and milestones are in every pull request`,
  },
  {
    needs: ['pull_requests=read'],
    of: [
      'Repository.pullRequest',
      'Repository.pullRequests',
      'PullRequest',
      'PullRequestChangedFile',
      'PullRequestReview',
      'PullRequestReviewThread',
      'PullRequestReviewComment',
      'PullRequestCommit',
      'ReviewRequest',
      'AutoMergeRequest',
    ],
    source: `${undocumented} GET /repos/{owner}/{repo}/pulls and what is below`,
  },
  {
    needs: ['contents=read'],
    of: [
      'Commit',
      'GitSignature',
      'Ref',
      'GitObject',
      'Blob',
      'Tree',
      'TreeEntry',
      'Repository.object',
      'Repository.ref',
    ],
    source: `${undocumented} GET /repos/{owner}/{repo}/commits/{ref} and branches/{branch}`,
  },
  {
    needs: ['statuses=read'],
    of: ['Commit.status', 'Status', 'StatusContext', 'StatusContextStateCount'],
    source: `${undocumented} GET /repos/{owner}/{repo}/commits/{ref}/status`,
  },
  {
    needs: ['checks=read'],
    of: [
      'Commit.statusCheckRollup',
      'StatusCheckRollup',
      'CheckRunStateCount',
      'CheckRun',
      'CheckSuite',
      'Commit.checkSuites',
      'App',
    ],
    source: `${undocumented} GET /repos/{owner}/{repo}/commits/{ref}/check-runs`,
  },
  {
    needs: ['deployments=read'],
    of: ['Commit.deployments', 'Deployment', 'DeploymentStatus'],
    source: `${undocumented} GET /repos/{owner}/{repo}/deployments`,
  },
  {
    needs: ['merge_queues=read'],
    of: [
      'Repository.mergeQueue',
      'PullRequest.mergeQueue',
      'PullRequest.mergeQueueEntry',
      'MergeQueue',
      'MergeQueueEntry',
      'MergeQueueConfiguration',
    ],
    source:
      'GitHub documents none of GraphQL; palantir/policy-bot asks for Merge queues: read to read the queue',
  },
  {
    needs: ['members=read'],
    of: ['Organization.team', 'Team'],
    source: `${undocumented} GET /orgs/{org}/teams/{team_slug}`,
  },
];

const routes = new Map(ofRoutes.flatMap(({ needs, of }) => of.map((route) => [route, needs])));
const fields = new Map(ofFields.flatMap(({ needs, of }) => of.map((field) => [field, needs])));

/** Undefined: the table does not have it. */
export const neededForRoute = (route: string): string[] | undefined => routes.get(route);

export const neededForField = (type: string, field: string): string[] | undefined =>
  /(?:Connection|Edge|PageInfo)$/.test(type) ? [] : (fields.get(`${type}.${field}`) ?? fields.get(type));

/** Whether a token has one of them. Every App has `metadata=read` where it is installed. */
export const suffices = (granted: Record<string, string>, needs: string[]): boolean =>
  needs.length === 0 ||
  needs.some((need) => {
    const [name, level] = need.split('=') as [string, string];
    return (
      (need === 'metadata=read' && Object.keys(granted).length > 0) ||
      granted[name] === 'write' ||
      granted[name] === level
    );
  });
