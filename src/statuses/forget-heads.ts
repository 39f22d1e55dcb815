import type { SqlTx } from '../database/sql.ts';
import { longestLag } from './plan-write.ts';
import { pullRequestsAt } from './pull-requests-at.ts';
import type { Observed } from './observe.ts';

/**
 * Removes the wanted statuses of commits that no open pull request, no merge group and no closed head needs any more.
 * Keeps what was written on them for some minutes, without writing again: an older answer from GitHub may still show
 * them, and must not bring them back as if nothing had been written. Runs in the transaction that saves an observation,
 * after it.
 */
export async function forgetHeads(
  tx: SqlTx,
  { repository, observation, observedAt }: Pick<Observed, 'repository' | 'observation' | 'observedAt'>,
): Promise<void> {
  await tx.query(
    'forget-heads',
    `WITH unseen AS (
      SELECT sha, greatest(written_at, not_before) < $3 AS is_over
      FROM head_statuses head WHERE repository_id = $1 AND observation < $2
        AND NOT EXISTS (${pullRequestsAt('head.sha', '$1')})
        AND (closed_number IS NULL OR (state = 'success' AND NOT is_waiting))
        AND NOT EXISTS (SELECT 1 FROM merge_groups merge_group
          WHERE merge_group.repository_id = $1 AND merge_group.head_sha = head.sha)
    ), forgotten AS (
      DELETE FROM head_statuses head USING unseen
      WHERE head.repository_id = $1 AND head.sha = unseen.sha AND is_over
    )
    UPDATE head_statuses head SET is_waiting = false, waiting_since = NULL FROM unseen
    WHERE head.repository_id = $1 AND head.sha = unseen.sha AND NOT is_over`,
    [repository.id, observation, new Date(observedAt.getTime() - longestLag)],
  );
}
