import { permits } from './access.ts';
import type { Permissions } from './model.ts';

/**
 * What GitHub wants of an App for each route of a repository, in the words of `X-Accepted-GitHub-Permissions`: one of
 * the alternatives between semicolons. From "Permissions required for GitHub Apps" of 2026-03-10. That page does not
 * have stacks and the asynchronous merge yet; they are among pull requests here.
 */
const ofRoutes: Record<string, string> = {
  // The App's JWT asks it, and needs no permission.
  'get /installation': '',
  'get ': 'metadata=read',
  'get /collaborators/:login/permission': 'metadata=read',
  'get /rules/branches/:branch': 'metadata=read',
  'get /rulesets': 'metadata=read',
  'get /rulesets/:id': 'metadata=read',
  'post /rulesets': 'administration=write',
  'put /rulesets/:id': 'administration=write',
  'delete /rulesets/:id': 'administration=write',
  'get /keys': 'administration=read',
  'get /branches/:branch/protection': 'administration=read',
  'get /branches/:branch/protection/required_status_checks': 'administration=read',
  'patch /branches/:branch/protection/required_status_checks': 'administration=write',
  'post /environments/:environment/deployment_protection_rules': 'administration=write',
  'get /environments': 'actions=read',
  'get /environments/:environment': 'actions=read',
  'get /environments/:environment/deployment_protection_rules': 'actions=read',
  'get /actions/runs': 'actions=read',
  'get /actions/runs/:run': 'actions=read',
  'get /actions/runs/:run/pending_deployments': 'actions=read',
  'get /actions/runs/:run/approvals': 'actions=read',
  'post /actions/runs/:run/deployment_protection_rule': 'deployments=write',
  'get /deployments': 'deployments=read',
  'get /deployments/:id/statuses': 'deployments=read',
  'get /activity': 'contents=read',
  'get /branches/:branch': 'contents=read',
  'get /compare/:basehead{.+}': 'contents=read',
  'patch ': 'administration=write',
  'delete ': 'administration=write',
  'post /git/refs': 'contents=write',
  'put /contents/:path{.+}': 'contents=write',
  'post /branches/:branch/rename': 'contents=write',
  'put /environments/:environment': 'administration=write',
  'post /actions/workflows/:file/dispatches': 'actions=write',
  'post /actions/runs/:run/rerun': 'actions=write',
  'put /pulls/:number/merge': 'contents=write',
  'put /pulls/:number/merge-async': 'contents=write',
  'get /commits/:ref{.+}/status': 'statuses=read',
  'get /commits/:ref{.+}/statuses': 'statuses=read',
  'post /statuses/:sha': 'statuses=write',
  'get /pulls': 'pull_requests=read',
  'post /pulls': 'pull_requests=write',
  'get /pulls/:number': 'pull_requests=read',
  'patch /pulls/:number': 'pull_requests=write',
  'get /pulls/:number/files': 'pull_requests=read',
  'get /pulls/:number/merge': 'pull_requests=read',
  'get /pulls/:number/merge-async/:uuid': 'pull_requests=read',
  'get /stacks': 'pull_requests=read',
  'get /stacks/:number': 'pull_requests=read',
  'post /stacks': 'pull_requests=write',
  'post /stacks/:number/add': 'pull_requests=write',
  'post /stacks/:number/unstack': 'pull_requests=write',
  'get /issues/:number/labels': 'issues=read; pull_requests=read',
  'get /labels': 'issues=read; pull_requests=read',
  'post /issues/:number/labels': 'issues=write; pull_requests=write',
  'delete /issues/:number/labels/:name': 'issues=write; pull_requests=write',
  'get /issues/:number/comments': 'issues=read; pull_requests=read',
  'post /issues/:number/comments': 'issues=write; pull_requests=write',
};

/** What GitHub wants of an App for a route, which must be in the table. */
export function permissionsFor(method: string, path: string): string {
  const wanted = ofRoutes[`${method} ${path}`];
  if (wanted === undefined)
    throw new Error(`The sandbox does not know what ${method} ${path} needs of an App`);
  return wanted;
}

/** Whether what was granted includes one of the alternatives. Every App has `metadata=read`. */
export const includesOne = (granted: Permissions, wanted: string): boolean =>
  wanted.split('; ').some((each) => {
    const [name, level] = each.split('=') as [string, 'read' | 'write'];
    return each === '' || each === 'metadata=read' || permits(granted, name, level);
  });

/**
 * The permission that an App needs for a field of GraphQL. GitHub does not document them. These are the permissions of
 * what REST has instead; people report such refusals (`statusCheckRollup` without `checks`). Of public repositories GitHub
 * may show more.
 */
export const ofFields: Record<string, string> = {
  'Repository.object': 'contents',
  'Repository.pullRequest': 'pull_requests',
  'Repository.pullRequests': 'pull_requests',
  'Repository.mergeQueue': 'merge_queues',
  // All other fields of a pull request, however the query gets to it.
  PullRequest: 'pull_requests',
  'PullRequest.mergeQueue': 'merge_queues',
  'PullRequest.mergeQueueEntry': 'merge_queues',
  'PullRequest.baseRef': 'contents',
  'PullRequest.commits': 'contents',
  'PullRequest.mergeCommit': 'contents',
  'PullRequest.potentialMergeCommit': 'contents',
  'Commit.status': 'statuses',
  'Commit.statusCheckRollup': 'checks',
  'Commit.deployments': 'deployments',
  'Team.members': 'members',
};
