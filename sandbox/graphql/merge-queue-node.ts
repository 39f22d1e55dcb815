import type { GraphQLResolveInfo } from 'graphql';
import { instantJson } from '../json/instant-json.ts';
import { accountNode } from './account-node.ts';
import { commitNode } from './commit-node.ts';
import { connection, type ConnectionArguments } from './connection.ts';
import { pullRequestNode } from './pull-request-node.ts';
import { repositoryNode } from './repository-node.ts';
import { nodeId } from '../state/ids.ts';
import { fullNameOf } from '../state/world.ts';
import type { MergeQueue, MergeQueueEntry } from '../state/model.ts';
import { reportsNode } from './reports-node.ts';
import type { View } from './view.ts';

/** The merge queue of a branch in GraphQL. */
export function mergeQueueNode(view: View, queue: MergeQueue): object {
  const path = `/${fullNameOf(queue.repository)}/queue/${queue.branch}`;
  return {
    __typename: 'MergeQueue',
    id: nodeId('MergeQueue', queue.id),
    url: `https://github.com${path}`,
    resourcePath: path,
    repository: () => repositoryNode(view, queue.repository),
    configuration: {
      __typename: 'MergeQueueConfiguration',
      // In minutes, as the schema says. People report 21600 for six hours from the real one: seconds.
      checkResponseTimeout: queue.checkResponseTimeoutMinutes,
      mergingStrategy: queue.mergingStrategy,
      maximumEntriesToBuild: queue.maxEntriesToBuild,
      maximumEntriesToMerge: queue.maxEntriesToMerge,
      minimumEntriesToMerge: queue.minEntriesToMerge,
      minimumEntriesToMergeWaitTime: queue.minEntriesToMergeWaitMinutes,
      mergeMethod: queue.mergeMethod,
    },
    entries: (args: ConnectionArguments, _: unknown, info: GraphQLResolveInfo) =>
      connection(
        queue.entries,
        args,
        info,
        (entry) => queueEntryNode(view, entry),
        ({ rank }) => rank,
      ),
  };
}

export function queueEntryNode(view: View, entry: MergeQueueEntry): object {
  const { group, pullRequest, queue } = entry;
  const { repository } = pullRequest;
  return {
    __typename: 'MergeQueueEntry',
    id: nodeId('MergeQueueEntry', entry.id),
    position: entry.position,
    state: entry.state,
    jump: entry.jump,
    solo: false,
    enqueuedAt: instantJson(entry.enqueuedAt),
    enqueuer: () => accountNode(entry.enqueuer),
    estimatedTimeToMerge: null,
    headCommit: () =>
      group && { ...commitNode(repository, group.headSha), ...reportsNode(view, pullRequest, group.headSha) },
    baseCommit: () => group && commitNode(repository, group.baseSha),
    pullRequest: () => pullRequestNode(view, pullRequest),
    mergeQueue: () => queue && mergeQueueNode(view, queue),
  };
}
