import { ownerSender } from './sender.ts';
import { moveBranch } from '../state/activities.ts';
import type { MergeQueues } from './merge-queues.ts';
import type { World } from '../state/world.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** Branches that are not the head of a pull request. */
export function branches(world: World, webhooks: Webhooks, queues: MergeQueues) {
  return {
    /** Somebody pushes to a branch: the pull requests into it are that many more commits behind, or conflict. */
    pushToBranch(fullName: string, branch: string, { commits = 1, conflictsWith = [] as number[] } = {}) {
      const repository = world.repository(fullName);
      const before = repository.branches.get(branch) ?? '0'.repeat(40);
      const after = world.ids.sha();
      const sender = ownerSender(world, repository.owner);
      moveBranch(world, repository, branch, after, sender);
      repository.commits.add(after);
      for (const pr of repository.pullRequests.values()) {
        if (pr.base !== branch || pr.state !== 'open') continue;
        pr.behind += commits;
        pr.isConflicting ||= conflictsWith.includes(pr.number);
      }
      webhooks.emit({
        event: 'push',
        repository,
        sender,
        payload: {
          ref: `refs/heads/${branch}`,
          before,
          after,
          created: false,
          deleted: false,
          forced: false,
        },
      });
      queues.settleAll(repository);
    },
  };
}
