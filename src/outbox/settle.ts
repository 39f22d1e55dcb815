import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import { inSteps, jobs } from '../queue/jobs.ts';
import { askSoon } from '../reconcile/merge-states/ask-merge-states.ts';
import type { StatusList } from './list-statuses.ts';
import type { Settled } from './write-status.ts';
import { pauseAfter, timesOf } from './status-budget.ts';
import { mostKept } from './written-statuses.ts';

/** Keeps what GitHub's own list says of how many statuses a SHA has had. */
export async function keepCount(
  { db }: Pick<Deps, 'db'>,
  { repositoryId, sha }: HeadStatus,
  { statuses, count }: StatusList,
): Promise<void> {
  if (!count) return;
  const countedId = statuses[0]?.id ?? 0n;
  await db.headStatus.updateMany({ where: { repositoryId, sha }, data: { ...count, countedId } });
}

/** A hold that is fought for is looked at again after its pause, to see whether it stood. */
const lookAfter = 30_000;

/**
 * Remembers what stands on a SHA, among the latest of ours there. A verdict that changed meanwhile waits now. So does
 * one that somebody wrote over meanwhile: the next write looks first which of the two came later. Only what GitHub
 * answered to us counts as the order, never the id of an event.
 * @param head as it was before the write.
 */
export async function settleStatus(deps: Deps, head: HeadStatus, settled: Settled): Promise<void> {
  const { repositoryId, sha } = head;
  const { state, description, isFinal, isNew } = settled;
  const now = nowOf(deps.clock);
  const isSameText = head.isFinal === isFinal;
  const times = (isSameText ? timesOf(head, now) : 0) + (isNew ? 1 : 0);
  const repeatAfter = isNew ? new Date(now.getTime() + pauseAfter(times)) : head.repeatAfter;
  const [row] = await deps.db.$queryRaw<{ not_held: string | null }[]>`
    WITH before AS (
      SELECT contradicted_by IS DISTINCT FROM ${head.contradictedBy}::bigint AS is_contradicted,
        ${isFinal} OR (state, description) = (${state}, ${description}) AS is_wanted
      FROM head_statuses WHERE repository_id = ${repositoryId} AND sha = ${sha} FOR UPDATE
    ), settled AS (
      UPDATE head_statuses SET
        is_waiting = is_contradicted OR NOT is_wanted,
        waiting_since = CASE WHEN is_contradicted OR NOT is_wanted THEN coalesce(waiting_since, ${now}) END,
        written_state = CASE WHEN is_contradicted THEN written_state ELSE ${state} END,
        written_description = CASE WHEN is_contradicted THEN written_description ELSE ${description} END,
        written_at = ${settled.at},
        written_id = ${settled.id},
        contradicted_by = CASE WHEN is_contradicted THEN contradicted_by END,
        attempts = CASE WHEN is_contradicted THEN 1 ELSE 0 END,
        writes = writes + ${isNew ? 1 : 0},
        times_written = CASE WHEN is_wanted THEN ${times} ELSE 0 END,
        repeat_after = CASE WHEN is_wanted THEN ${repeatAfter}::timestamptz END,
        not_before = CASE WHEN is_contradicted AND is_wanted THEN greatest(not_before, ${repeatAfter}::timestamptz)
          ELSE not_before END,
        is_final = is_final OR ${isFinal},
        not_held = CASE WHEN is_contradicted OR not_held = 'contested' THEN not_held END,
        written_during = (SELECT observations FROM repositories WHERE id = ${repositoryId})
      FROM before WHERE repository_id = ${repositoryId} AND sha = ${sha}
      RETURNING not_held
    ), kept AS (
      INSERT INTO written_statuses (repository_id, sha, id, state, description, at)
      SELECT ${repositoryId}, ${sha}, ${settled.id}, ${state}, ${description}, ${settled.at} FROM settled
      ON CONFLICT DO NOTHING
    ), forgotten AS (
      DELETE FROM written_statuses WHERE repository_id = ${repositoryId} AND sha = ${sha} AND id IN (
        SELECT id FROM written_statuses
        WHERE repository_id = ${repositoryId} AND sha = ${sha} AND id <> ${settled.id}
        ORDER BY at DESC, id DESC OFFSET ${mostKept - 1})
    )
    SELECT not_held FROM settled`;
  if (head.writtenState === 'success' && state !== 'success') await askSoon(deps, repositoryId, sha);
  if (row?.not_held !== 'contested' || !repeatAfter) return;
  const after = new Date(Math.max(now.getTime(), repeatAfter.getTime()));
  await deps.queue.send([jobs.reconcileRepository(repositoryId, inSteps(after, lookAfter))]);
}
