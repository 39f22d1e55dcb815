import type { MergeQueue } from '../state/model.ts';
import type { World } from '../state/world.ts';
import { type MergeQueues, queueOf } from './merge-queues.ts';

export type MergeQueueOptions = Partial<
  Pick<
    MergeQueue,
    'mergingStrategy' | 'checkResponseTimeoutMinutes' | 'maxEntriesToBuild' | 'maxEntriesToMerge'
  >
>;

/** The merge queue verbs of the sandbox's interface. `enqueue` and `dequeue` are among those of pull requests. */
export function mergeQueueVerbs(world: World, queues: MergeQueues) {
  return {
    /** Requires a merge queue on a branch. */
    enableMergeQueue(fullName: string, branch: string, options: MergeQueueOptions = {}) {
      const repository = world.repository(fullName);
      repository.mergeQueues.set(branch, {
        repository,
        branch,
        mergingStrategy: 'ALLGREEN',
        checkResponseTimeoutMinutes: 60,
        maxEntriesToBuild: 5,
        maxEntriesToMerge: 5,
        ...options,
        entries: [],
      });
    },

    /** Moves a queued pull request to the front; all groups are built anew. */
    jumpQueue(fullName: string, number: number) {
      const pr = world.pullRequest(fullName, number);
      queues.jump(queueOf(pr)!, pr);
    },

    /** Acts out time-outs: call it after moving the clock. */
    advanceQueues() {
      for (const repository of world.repositories.values()) {
        for (const queue of repository.mergeQueues.values()) queues.settle(queue);
      }
    },

    /** The entries of a queue, front first. */
    mergeQueue(fullName: string, branch: string) {
      const queue = world.repository(fullName).mergeQueues.get(branch);
      if (!queue) throw new Error(`${fullName} has no merge queue on ${branch}`);
      return queue.entries.map(({ pullRequest, position, state, group }) => ({
        number: pullRequest.number,
        position,
        state,
        headSha: group?.headSha ?? null,
        baseSha: group?.baseSha ?? null,
        ref: group?.ref ?? null,
      }));
    },

    /** The merge groups in flight, each with the pull requests that it contains. */
    mergeGroups(fullName: string) {
      const { mergeQueues } = world.repository(fullName);
      return [...mergeQueues.values()].flatMap(({ branch, entries }) =>
        entries.flatMap(({ group }, index) =>
          group
            ? [
                {
                  branch,
                  ...group,
                  pullRequests: entries.slice(0, index + 1).map((each) => each.pullRequest.number),
                },
              ]
            : [],
        ),
      );
    },
  };
}
