import type { MergeQueue, MergeQueueConfiguration } from '../state/model.ts';
import type { World } from '../state/world.ts';
import type { MergeQueues } from './merge-queues.ts';

export type MergeQueueOptions = Partial<MergeQueueConfiguration>;

const defaults: MergeQueueConfiguration = {
  mergingStrategy: 'ALLGREEN',
  mergeMethod: 'MERGE',
  checkResponseTimeoutMinutes: 60,
  minEntriesToMerge: 1,
  minEntriesToMergeWaitMinutes: 5,
  maxEntriesToMerge: 5,
  maxEntriesToBuild: 5,
};

/** The merge queue verbs of the sandbox's interface. `enqueue` and `dequeue` are among those of pull requests. */
export function mergeQueueVerbs(world: World, queues: MergeQueues) {
  function find(fullName: string, branch: string): MergeQueue {
    const queue = world.repository(fullName).mergeQueues.get(branch);
    if (!queue) throw new Error(`${fullName} has no merge queue on ${branch}`);
    return queue;
  }

  return {
    /** Requires a merge queue on a branch. If there is one, changes the given settings. */
    enableMergeQueue(fullName: string, branch: string, options: MergeQueueOptions = {}) {
      const repository = world.repository(fullName);
      const { mergeQueues, branches } = repository;
      if (!branches.has(branch)) branches.set(branch, world.ids.sha());
      const id = () => world.ids.next('merge queue', 600_000);
      const queue = mergeQueues.get(branch) ?? { id: id(), repository, branch, entries: [], ...defaults };
      mergeQueues.set(branch, Object.assign(queue, options));
      queues.settle(queue);
    },

    /** Removes the queue, and its pull requests leave it. */
    disableMergeQueue(fullName: string, branch: string) {
      const queue = find(fullName, branch);
      queues.clear(queue);
      queue.repository.mergeQueues.delete(branch);
    },

    /** Moves a queued pull request to the front. All groups are rebuilt. */
    jump(fullName: string, number: number) {
      queues.jump(world.pullRequest(fullName, number));
    },

    /**
     * Applies time-outs: call it after moving the clock. A group that is built because of a time-out starts to wait
     * now, so several time-outs in a row need several calls.
     */
    advanceQueues() {
      for (const repository of world.repositories.values()) queues.settleAll(repository);
    },

    /** The entries of a queue, front first. */
    mergeQueue(fullName: string, branch: string) {
      return find(fullName, branch).entries.map(({ pullRequest, position, state, group }) => ({
        number: pullRequest.number,
        position,
        state,
        headSha: group?.headSha ?? null,
        baseSha: group?.baseSha ?? null,
        ref: group?.ref ?? null,
      }));
    },

    /** The merge groups in flight, each with the pull requests that it would merge. */
    mergeGroups(fullName: string, branch?: string) {
      const all = [...world.repository(fullName).mergeQueues.values()];
      return all
        .filter((queue) => branch === undefined || queue.branch === branch)
        .flatMap((queue) => queue.entries)
        .flatMap(({ queue, group, position }) => {
          if (!queue || !group) return [];
          const { headSha, ref: headRef, baseSha, requestedAt } = group;
          const pullRequests = queue.entries.slice(0, position).map((each) => each.pullRequest.number);
          return [{ headSha, headRef, baseSha, branch: queue.branch, pullRequests, requestedAt }];
        });
    },
  };
}
