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

    /**
     * Somebody renames a branch: pull requests into it and its classic protection follow, rulesets do not. GitHub says so
     * of no pull request, and leads from the former name to the present one.
     */
    renameBranch(fullName: string, from: string, to: string) {
      const repository = world.repository(fullName);
      const sender = ownerSender(world, repository.owner);
      const sha = repository.branches.get(from) ?? world.ids.sha();
      repository.branches.delete(from);
      moveBranch(world, repository, to, sha, sender);
      const protection = repository.protection.get(from);
      repository.protection.delete(from);
      if (protection) repository.protection.set(to, protection);
      repository.renamedBranches.set(from, to).delete(to);
      const wasDefault = repository.defaultBranch === from;
      if (wasDefault) repository.defaultBranch = to;
      for (const pr of repository.pullRequests.values()) if (pr.base === from) pr.base = to;
      const none = '0'.repeat(40);
      const push = (branch: string, change: object) =>
        webhooks.emit({
          event: 'push',
          repository,
          sender,
          payload: { ref: `refs/heads/${branch}`, created: false, deleted: false, forced: false, ...change },
        });
      push(to, { before: none, after: sha, created: true });
      push(from, { before: sha, after: none, deleted: true });
      const changes = { default_branch: { from } };
      if (wasDefault)
        webhooks.emit({ event: 'repository', action: 'edited', repository, sender, payload: { changes } });
    },
  };
}
