import { instantJson } from './instant-json.ts';
import { accountJson } from './account-json.ts';
import { repositoryJson } from './repository-json.ts';
import { stackPlaceJson } from './stack-json.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { mergeableState, mergeBlocker } from '../state/mergeability.ts';
import { nodeId } from '../state/ids.ts';
import type { ChangedFile, Label, PullRequest, Repository, Review } from '../state/model.ts';

/** A pull request in a REST list. */
export function pullRequestSummary(world: World, pr: PullRequest) {
  const fullName = fullNameOf(pr.repository);
  const url = `${world.url}/repos/${fullName}/pulls/${pr.number}`;
  return {
    url,
    id: pr.id,
    node_id: pr.nodeId,
    html_url: `${world.url}/${fullName}/pull/${pr.number}`,
    issue_url: `${world.url}/repos/${fullName}/issues/${pr.number}`,
    number: pr.number,
    state: pr.state,
    locked: pr.locked,
    title: pr.title,
    user: accountJson(world, pr.author),
    body: pr.body,
    created_at: instantJson(pr.createdAt),
    updated_at: instantJson(pr.updatedAt),
    closed_at: instantJson(pr.closedAt),
    merged_at: instantJson(pr.merged?.at),
    merge_commit_sha: pr.merged?.sha ?? null,
    assignee: pr.assignees[0] ? accountJson(world, pr.assignees[0]) : null,
    assignees: pr.assignees.map((account) => accountJson(world, account)),
    requested_reviewers: pr.reviewRequests.map((account) => accountJson(world, account)),
    requested_teams: [],
    labels: pr.labels.map((label) => labelJson(world, pr.repository, label)),
    milestone: milestoneJson(pr),
    draft: pr.draft,
    head: side(world, pr.head.repository, pr.head.ref, pr.head.sha),
    base: side(world, pr.repository, pr.base, pr.repository.branches.get(pr.base) ?? ''),
    author_association: 'CONTRIBUTOR',
    auto_merge: pr.autoMerge && {
      enabled_by: accountJson(world, pr.autoMerge.enabledBy),
      merge_method: 'merge',
      commit_title: pr.title,
      commit_message: '',
    },
    active_lock_reason: null,
    ...stackPlaceJson(pr),
    _links: {
      self: { href: url },
      html: { href: `${world.url}/${fullName}/pull/${pr.number}` },
      statuses: { href: `${world.url}/repos/${fullName}/statuses/${pr.head.sha}` },
    },
  };
}

/** A single pull request. GitHub sends webhooks before it knows the mergeability, so they say unknown. */
export function pullRequestJson(world: World, pr: PullRequest, { forWebhook = false } = {}) {
  const judged = !forWebhook && pr.state === 'open';
  return {
    ...pullRequestSummary(world, pr),
    merged: pr.merged !== null,
    mergeable: judged ? true : null,
    rebaseable: judged ? mergeBlocker(pr) === null : null,
    mergeable_state: judged ? mergeableState(pr) : 'unknown',
    merged_by: pr.merged ? accountJson(world, pr.merged.by) : null,
    comments: pr.comments.length,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: pr.commits.length,
    additions: pr.files.reduce((sum, file) => sum + file.additions, 0),
    deletions: pr.files.reduce((sum, file) => sum + file.deletions, 0),
    changed_files: pr.files.length,
  };
}

export function labelJson(world: World, repository: Repository, label: Label) {
  return {
    id: label.id,
    node_id: nodeId('Label', repository.id, label.id),
    url: `${world.url}/repos/${fullNameOf(repository)}/labels/${encodeURIComponent(label.name)}`,
    name: label.name,
    color: label.color,
    default: false,
    description: null,
  };
}

export function milestoneJson({ milestone }: PullRequest) {
  if (!milestone) return null;
  const { id, number, title } = milestone;
  return { id, node_id: nodeId('Milestone', id), number, title, state: 'open' };
}

export function fileJson(file: ChangedFile) {
  return {
    sha: null,
    filename: file.path,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    ...(file.previousPath && { previous_filename: file.previousPath }),
  };
}

/** A review in webhooks, with its state in lower case. */
export function reviewJson(world: World, pr: PullRequest, review: Review) {
  const htmlUrl = `${world.url}/${fullNameOf(pr.repository)}/pull/${pr.number}#pullrequestreview-${review.id}`;
  return {
    id: review.id,
    node_id: nodeId('PullRequestReview', pr.repository.id, review.id),
    user: accountJson(world, review.by),
    body: review.body || null,
    commit_id: review.commitSha,
    submitted_at: instantJson(review.submittedAt),
    state: review.state.toLowerCase(),
    html_url: htmlUrl,
    pull_request_url: `${world.url}/repos/${fullNameOf(pr.repository)}/pulls/${pr.number}`,
    author_association: 'COLLABORATOR',
    _links: { html: { href: htmlUrl } },
  };
}

function side(world: World, repository: Repository, ref: string, sha: string) {
  return {
    label: `${repository.owner.login}:${ref}`,
    ref,
    sha,
    user: accountJson(world, repository.owner),
    repo: repositoryJson(world, repository),
  };
}
