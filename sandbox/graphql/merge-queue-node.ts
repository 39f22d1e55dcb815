import type { GraphQLResolveInfo } from 'graphql';
import { accountNode } from './account-node.ts';
import { commitNode } from './commit-node.ts';
import { connection, type ConnectionArguments } from './connection.ts';
import { pullRequestNode } from './pull-request-node.ts';
import { nodeId } from '../state/ids.ts';
import type { MergeQueue, MergeQueueEntry } from '../state/model.ts';
import type { View } from './view.ts';

/** The merge queue of a branch as GraphQL gives it. */
export function mergeQueueNode(view: View, queue: MergeQueue): object {
  return {
    __typename: 'MergeQueue',
    id: `${nodeId('MergeQueue', queue.repository.id)}_${queue.branch}`,
    configuration: {
      __typename: 'MergeQueueConfiguration',
      checkResponseTimeout: queue.checkResponseTimeoutMinutes,
      mergingStrategy: queue.mergingStrategy,
      maximumEntriesToBuild: queue.maxEntriesToBuild,
      maximumEntriesToMerge: queue.maxEntriesToMerge,
      minimumEntriesToMerge: 1,
      minimumEntriesToMergeWaitTime: 0,
      mergeMethod: 'MERGE',
    },
    entries: (args: ConnectionArguments, _: unknown, info: GraphQLResolveInfo) =>
      connection(
        queue.entries,
        args,
        info,
        (entry) => queueEntryNode(view, entry),
        ({ id }) => id,
      ),
  };
}

export function queueEntryNode(view: View, entry: MergeQueueEntry): object {
  const { group, pullRequest } = entry;
  const { repository } = pullRequest;
  return {
    __typename: 'MergeQueueEntry',
    id: nodeId('MergeQueueEntry', entry.id),
    position: entry.position,
    state: entry.state,
    jump: entry.jump,
    solo: false,
    enqueuedAt: entry.enqueuedAt.toISOString(),
    enqueuer: () => accountNode(entry.by),
    headCommit: () => group && commitNode(repository, group.headSha),
    baseCommit: () => group && commitNode(repository, group.baseSha),
    pullRequest: () => pullRequestNode(view, pullRequest),
  };
}
