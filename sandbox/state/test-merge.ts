import { createHash } from 'node:crypto';
import type { PullRequest } from './model.ts';

/**
 * The test merge commit of a pull request: GitHub tries to merge an open one into the tip of its base, and makes
 * another commit whenever head or base moves. Everybody who can push can put it on a branch. Null if there is none.
 */
export function testMergeOf(pr: PullRequest): string | null {
  const { repository, head } = pr;
  if (pr.state === 'closed' || pr.isConflicting) return null;
  const base = repository.branches.get(pr.base) ?? '';
  const sha = createHash('sha1').update(`test merge:${pr.id}:${base}:${head.sha}`).digest('hex');
  repository.commits.add(sha);
  if (!repository.commitDetails.has(sha)) {
    const actor = { name: 'GitHub', email: 'noreply@github.com', date: pr.updatedAt };
    repository.commitDetails.set(sha, {
      message: `Merge ${head.sha} into ${base}`,
      author: { ...actor, user: null },
      committer: actor,
      isVerified: true,
      isSignedByGitHub: true,
      parents: [base, head.sha],
    });
  }
  return sha;
}
