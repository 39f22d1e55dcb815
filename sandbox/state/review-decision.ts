import { atLeast, roleOf } from './access.ts';
import type { PullRequest } from './model.ts';

/** GitHub's verdict on the reviews, if a branch requires one: here, if it is protected. */
export function reviewDecision(pr: PullRequest): 'APPROVED' | 'CHANGES_REQUESTED' | 'REVIEW_REQUIRED' | null {
  if (!pr.repository.protection.has(pr.base)) return null;
  const opinions = pr.reviews.filter(
    ({ state, by }) =>
      state !== 'COMMENTED' && state !== 'PENDING' && atLeast(roleOf(by, pr.repository), 'write'),
  );
  const latest = [...new Map(opinions.map((review) => [review.by.id, review.state])).values()];
  if (latest.includes('CHANGES_REQUESTED')) return 'CHANGES_REQUESTED';
  return latest.includes('APPROVED') ? 'APPROVED' : 'REVIEW_REQUIRED';
}
