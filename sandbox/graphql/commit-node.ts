import { instantJson } from '../json/instant-json.ts';
import { accountNode } from './account-node.ts';
import { gitNode } from './git-node.ts';
import { reportsNode } from './reports-node.ts';
import type { View } from './view.ts';
import { combinedState, latestStatuses } from '../state/mergeability.ts';
import { testMergeOf } from '../state/test-merge.ts';
import { fullNameOf } from '../state/world.ts';
import { nodeId } from '../state/ids.ts';
import type { CommitStatus, PullRequest, Repository } from '../state/model.ts';

/** A commit with its statuses in the repository of the query. */
export function commitNode(repository: Repository, sha: string) {
  return {
    __typename: 'Commit',
    id: `${nodeId('Commit', repository.id)}_${sha}`,
    oid: sha,
    abbreviatedOid: sha.slice(0, 7),
    url: `https://github.com/${fullNameOf(repository)}/commit/${sha}`,
    committedDate: () =>
      instantJson(repository.commitDetails.get(sha)?.committer.date ?? repository.createdAt),
    messageHeadline: `Commit ${sha.slice(0, 7)}`,
    status: () => statusNode(repository, sha),
    ...gitNode(repository, sha),
  };
}

/** The test merge commit of a pull request; null if it conflicts, is not open, or GitHub is still making it. */
export function testMergeNode(view: View, pr: PullRequest) {
  const sha = pr.isMergeUnderWay ? null : testMergeOf(pr);
  if (sha === null) return null;
  const latest = view.world.formerVersions.statuses(pr.repository, sha, view.asOf);
  return { ...commitNode(pr.repository, sha), status: () => statusNode(pr.repository, sha, latest) };
}

export function pullRequestCommitNode(view: View, pr: PullRequest, sha: string) {
  return {
    __typename: 'PullRequestCommit',
    id: `${pr.nodeId}_${sha}`,
    commit: () => ({
      ...commitNode(pr.repository, sha),
      status: () =>
        statusNode(pr.repository, sha, view.world.formerVersions.statuses(pr.repository, sha, view.asOf)),
      ...reportsNode(view, pr, sha),
    }),
  };
}

/** Null before the first status, as on GitHub. */
function statusNode(repository: Repository, sha: string, latest = latestStatuses(repository, sha)) {
  if (latest.length === 0) return null;
  return {
    __typename: 'Status',
    id: `${nodeId('StatusContext', repository.id)}_${sha}`,
    state: combinedState(latest).toUpperCase(),
    contexts: () => latest.map(contextNode),
    context: ({ name }: { name: string }) => {
      const status = latest.find((each) => each.context.toLowerCase() === name.toLowerCase());
      return status ? contextNode(status) : null;
    },
  };
}

export function contextNode(status: CommitStatus) {
  return {
    __typename: 'StatusContext',
    id: nodeId('StatusContext', status.id),
    context: status.context,
    state: status.state.toUpperCase(),
    description: status.description,
    targetUrl: status.targetUrl,
    createdAt: instantJson(status.createdAt),
    creator: () => accountNode(status.creator),
    avatarUrl: status.creator.avatarUrl,
  };
}
