import type { CommitStatus, PullRequest, Repository } from './model.ts';

export type MergeableState = 'blocked' | 'clean' | 'draft' | 'unstable' | 'unknown';

/** The newest status of each context on a SHA. Contexts differ only by more than case. */
export function latestStatuses(repository: Repository, sha: string): CommitStatus[] {
  const latest = new Map<string, CommitStatus>();
  for (const status of repository.statuses.get(sha) ?? []) latest.set(status.context.toLowerCase(), status);
  return [...latest.values()];
}

/** The state of all statuses together, as `GET /commits/{ref}/status` gives it; no status counts as pending. */
export function combinedState(statuses: CommitStatus[]): 'failure' | 'pending' | 'success' {
  if (statuses.some((status) => status.state === 'failure' || status.state === 'error')) return 'failure';
  if (statuses.length === 0 || statuses.some((status) => status.state === 'pending')) return 'pending';
  return 'success';
}

/** What each context that a branch requires says of a SHA; nothing where it has not been posted. */
export function requiredStates(repository: Repository, branch: string, sha: string) {
  const latest = latestStatuses(repository, sha);
  return (repository.protection.get(branch) ?? []).map((context) => {
    const status = latest.find((each) => each.context.toLowerCase() === context.toLowerCase());
    return { context, state: status?.state };
  });
}

/** Why a pull request may not be merged, in the words of GitHub's 405, or null. */
export function mergeBlocker(pr: PullRequest): string | null {
  if (pr.state === 'closed') return 'Pull Request is not mergeable';
  if (pr.draft) return 'Pull Request is still a draft';
  for (const { context, state } of requiredStates(pr.repository, pr.base, pr.head.sha)) {
    if (!state) return `Required status check "${context}" is expected.`;
    if (state === 'success') continue;
    return `Required status check "${context}" is ${state === 'pending' ? 'pending' : 'failing'}.`;
  }
  return null;
}

/** `mergeable_state` as REST gives it. */
export function mergeableState(pr: PullRequest): MergeableState {
  if (pr.state === 'closed') return 'unknown';
  if (pr.draft) return 'draft';
  if (mergeBlocker(pr)) return 'blocked';
  const passing = latestStatuses(pr.repository, pr.head.sha).every((status) => status.state === 'success');
  return passing ? 'clean' : 'unstable';
}
