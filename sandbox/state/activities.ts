import type { Account, Activity, Repository } from './model.ts';
import type { World } from './world.ts';

/** Moves a branch, or makes it. GitHub keeps who did that, which a commit cannot tell. */
export function moveBranch(
  world: World,
  repository: Repository,
  branch: string,
  after: string,
  actor: Account,
  how: 'push' | 'pr_merge' = 'push',
): void {
  const before = repository.branches.get(branch);
  if (before === after) return;
  repository.branches.set(branch, after);
  const activity: Activity = {
    id: world.ids.next('activity', 30_000_000),
    branch,
    before: before ?? '0'.repeat(40),
    after,
    type: before ? how : 'branch_creation',
    actor,
    at: world.now(),
  };
  repository.activities.unshift(activity);
}
