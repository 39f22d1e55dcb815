import type { Tx } from '../database/database.ts';
import { longestLag } from '../outbox/plan-write.ts';
import type { Observed } from './observe.ts';

/**
 * Takes out what commits should say that no open pull request and no merge group has any more, and no closed pull
 * request's head that is held or still to be let go. What was written on them
 * is kept for some minutes, but not written again: an older answer may still show them, and must not bring them back
 * as if nothing had been written. Part of the transaction that saves what was read, after it.
 */
export async function forgetHeads(tx: Tx, { repository, observation, observedAt }: Observed): Promise<void> {
  await tx.$executeRaw`
    WITH unseen AS (
      SELECT sha, greatest(written_at, not_before) < ${new Date(observedAt.getTime() - longestLag)} AS is_over
      FROM head_statuses head WHERE repository_id = ${repository.id} AND observation < ${observation}
        AND NOT EXISTS (SELECT 1 FROM open_pull_requests open
          WHERE open.repository_id = head.repository_id AND head.sha IN (open.head_sha, open.merge_sha))
        AND (closed_number IS NULL OR (state = 'success' AND NOT is_waiting))
        AND NOT EXISTS (SELECT 1 FROM merge_groups merge_group
          WHERE merge_group.repository_id = head.repository_id AND merge_group.head_sha = head.sha)
    ), forgotten AS (
      DELETE FROM head_statuses head USING unseen
      WHERE head.repository_id = ${repository.id} AND head.sha = unseen.sha AND is_over
    )
    UPDATE head_statuses head SET is_waiting = false, waiting_since = NULL FROM unseen
    WHERE head.repository_id = ${repository.id} AND head.sha = unseen.sha AND NOT is_over`;
}
