import { queueOf, throughTheQueue } from '../state/merge-queue-rules.ts';
import { bypassBlocker, mergeBlocker } from '../state/mergeability.ts';
import { mergedWith } from '../state/stacks.ts';
import type { Account, PullRequest } from '../state/model.ts';
import type { PullRequests } from './pull-requests.ts';

/** Why the merge button does not merge a pull request, in the words of GitHub's 405, or null. */
export const buttonBlocker = (pr: PullRequest): string | null =>
  mergeBlocker(pr) ?? (queueOf(pr) ? throughTheQueue : null);

type Merged = { sha: string } | { status: 405 | 409; message: string };

/**
 * Presses the merge button, on a page or through REST. It merges what is below in the stack, too.
 * @param head the head that the person saw; null for any.
 * @returns the SHA of the merge; or why it does not merge, with the status of REST.
 */
export function pressMergeButton(
  pullRequests: PullRequests,
  pr: PullRequest,
  by: Account,
  head: string | null = null,
): Merged {
  const blocker = buttonBlocker(pr);
  if (blocker) return { status: 405, message: blocker };
  if (head !== null && head !== pr.head.sha)
    return { status: 409, message: 'Head branch was modified. Review and try the merge again.' };
  return { sha: mergedWith(pr).reduce((_, each) => pullRequests.merge(each, by), '') };
}

/** Merges past the requirements for people who can do that, or says why not. */
export function mergePastRequirements(pullRequests: PullRequests, pr: PullRequest, by: Account): Merged {
  const blocker = bypassBlocker(pr, by);
  if (blocker) return { status: 405, message: blocker };
  return { sha: pullRequests.merge(pr, by, 'bypass') };
}
