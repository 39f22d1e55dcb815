import { instantJson } from './instant-json.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { nodeId } from '../state/ids.ts';
import { accountJson } from './account-json.ts';
import { labelJson, milestoneJson } from './pull-request-json.ts';
import { isExplicit, roleOf } from '../state/access.ts';
import type { Comment, PullRequest } from '../state/model.ts';

/** A comment on the conversation of a pull request, in REST and webhooks. */
export function commentJson(world: World, pr: PullRequest, comment: Comment) {
  const fullName = fullNameOf(pr.repository);
  const { id, author, body, throughApp, createdAt, updatedAt } = comment;
  return {
    url: `${world.url}/repos/${fullName}/issues/comments/${id}`,
    html_url: `https://github.com/${fullName}/pull/${pr.number}#issuecomment-${id}`,
    issue_url: `${world.url}/repos/${fullName}/issues/${pr.number}`,
    id,
    node_id: nodeId('IssueComment', id),
    user: accountJson(world, author),
    created_at: instantJson(createdAt),
    updated_at: instantJson(updatedAt),
    author_association: associationOf(pr, comment),
    body,
    performed_via_github_app: throughApp ? appJson(world) : null,
  };
}

/** A pull request as an issue, which has the comments. */
export function issueJson(world: World, pr: PullRequest) {
  const fullName = fullNameOf(pr.repository);
  const url = `${world.url}/repos/${fullName}/issues/${pr.number}`;
  const htmlUrl = `https://github.com/${fullName}/pull/${pr.number}`;
  return {
    url,
    repository_url: `${world.url}/repos/${fullName}`,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: htmlUrl,
    id: pr.id,
    node_id: pr.nodeId,
    number: pr.number,
    title: pr.title,
    user: accountJson(world, pr.author),
    labels: pr.labels.map((label) => labelJson(world, pr.repository, label)),
    state: pr.state,
    locked: pr.locked,
    assignee: pr.assignees[0] ? accountJson(world, pr.assignees[0]) : null,
    assignees: pr.assignees.map((account) => accountJson(world, account)),
    milestone: milestoneJson(pr),
    comments: pr.comments.length,
    created_at: instantJson(pr.createdAt),
    updated_at: instantJson(pr.updatedAt),
    closed_at: instantJson(pr.closedAt),
    author_association: 'CONTRIBUTOR',
    active_lock_reason: null,
    draft: pr.draft,
    pull_request: {
      url: `${world.url}/repos/${fullName}/pulls/${pr.number}`,
      html_url: htmlUrl,
      diff_url: `${htmlUrl}.diff`,
      patch_url: `${htmlUrl}.patch`,
      merged_at: instantJson(pr.merged?.at),
    },
    body: pr.body,
  };
}

/** The association of an author with the repository. It does not say what they can do there now. */
function associationOf({ repository }: PullRequest, { author }: Comment): string {
  if (author === repository.owner) return 'OWNER';
  if (repository.owner.members.has(author.id)) return 'MEMBER';
  const isCollaborator = isExplicit(author, repository) && roleOf(author, repository) !== 'none';
  return isCollaborator ? 'COLLABORATOR' : 'NONE';
}

const appJson = ({ app }: World) => ({
  id: app.id,
  slug: app.slug,
  name: app.name,
  client_id: app.clientId,
  permissions: app.permissions,
  events: app.events,
});
