import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { lockRepository } from '../installations/lock-repository.ts';
import { askStep, inSteps, jobs } from '../queue/jobs.ts';
import type { Write } from './lease.ts';
import { pullRequestsAt } from './pull-requests-at.ts';
import type { StatusList } from './list-statuses.ts';
import { pauseAfter, timesOf } from './status-budget.ts';
import type { Status } from './status.ts';
import type { Posted } from './write-status.ts';
import { mostKept } from './written-statuses.ts';

/** The current status of a commit. `isNew` if we wrote it, rather than found it. */
export type Outcome = { write: Write; isNew: boolean; isFinal: boolean } & Status & Posted;

/** Saves the number of statuses on a SHA according to GitHub's list. */
export async function keepCount(
  { db }: Pick<Deps, 'db'>,
  { repositoryId, sha }: Pick<Write, 'repositoryId' | 'sha'>,
  { statuses, count }: StatusList,
): Promise<void> {
  if (!count) return;
  const countedId = statuses[0]?.id ?? 0n;
  await db.headStatus.updateMany({ where: { repositoryId, sha }, data: { ...count, countedId } });
}

/** Milliseconds after which we check whether a contested hold is still there. */
const lookAfter = 30_000;

/**
 * Locks rows in the same order as the transactions that save observations. A row of `outcome` without a state was taken
 * but not tried: its attempt is not counted, unless a correction wants the next write to check first, or the verdict
 * changed back to the current status meanwhile. A saving transaction only saw that a write was in progress.
 * The planner learns from `LIMIT` how few outcomes there are, and so does not read all heads to join them. It is no
 * parameter, because PostgreSQL would plan the statement at each call, for its value.
 */
const settleSql = (most: number) => `
  WITH outcome AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS outcome(repository_id int8, sha text, contradicted_by int8,
      state text, description text, id int8, at timestamptz, is_new boolean, is_final boolean, times int,
      repeat_after timestamptz, closes boolean)
  ), before AS (
    SELECT outcome.*, head.contradicted_by IS DISTINCT FROM outcome.contradicted_by AS is_contradicted,
      outcome.is_final OR (head.state, head.description) = (outcome.state, outcome.description) AS is_wanted
    FROM (SELECT * FROM outcome ORDER BY repository_id, sha LIMIT ${most}) outcome CROSS JOIN LATERAL (
      SELECT contradicted_by, state, description FROM head_statuses
      WHERE repository_id = outcome.repository_id AND sha = outcome.sha FOR UPDATE) head
  ), returned AS (
    UPDATE head_statuses head SET attempts = greatest(0, head.attempts - 1) FROM before
    WHERE head.repository_id = before.repository_id AND head.sha = before.sha
      AND before.state IS NULL AND NOT before.is_contradicted
      AND (head.written_state, head.written_description) IS DISTINCT FROM (head.state, head.description)
  ), settled AS (
    UPDATE head_statuses head SET
      is_waiting = is_contradicted OR NOT is_wanted,
      waiting_since = CASE WHEN is_contradicted OR NOT is_wanted THEN coalesce(head.waiting_since, $2::timestamptz) END,
      written_state = CASE WHEN is_contradicted THEN head.written_state ELSE before.state END,
      written_description = CASE WHEN is_contradicted THEN head.written_description ELSE before.description END,
      written_at = before.at,
      written_id = before.id,
      contradicted_by = CASE WHEN is_contradicted THEN head.contradicted_by END,
      attempts = CASE WHEN is_contradicted THEN 1 ELSE 0 END,
      writes = head.writes + CASE WHEN before.is_new THEN 1 ELSE 0 END,
      times_written = CASE WHEN is_wanted THEN before.times ELSE 0 END,
      repeat_after = CASE WHEN is_wanted THEN before.repeat_after END,
      not_before = CASE WHEN is_contradicted AND is_wanted THEN greatest(head.not_before, before.repeat_after)
        ELSE head.not_before END,
      is_final = head.is_final OR before.is_final,
      not_held = CASE WHEN is_contradicted OR head.not_held = 'contested' THEN head.not_held END,
      written_during = (SELECT observations FROM repositories WHERE id = head.repository_id)
    FROM before
    WHERE head.repository_id = before.repository_id AND head.sha = before.sha AND before.state IS NOT NULL
      -- Not what another worker, who took the lease for lost, has written over already.
      AND (head.written_id IS NULL OR before.id >= head.written_id OR before.at > head.written_at)
    RETURNING head.repository_id, head.sha, head.writes, head.not_held, before.state, before.description, before.id,
      before.at, before.closes, before.repeat_after
  ), kept AS (
    INSERT INTO written_statuses (repository_id, sha, id, state, description, at)
    SELECT repository_id, sha, id, state, description, at FROM settled
    ON CONFLICT DO NOTHING
  ), forgotten AS (
    DELETE FROM written_statuses old USING settled
    WHERE settled.writes >= $3::int AND old.repository_id = settled.repository_id AND old.sha = settled.sha
      AND old.id IN (
        SELECT id FROM written_statuses
        WHERE repository_id = settled.repository_id AND sha = settled.sha AND id <> settled.id
        ORDER BY at DESC, id DESC OFFSET $3::int - 1)
  ), following AS (
    SELECT repository_id, sha, repeat_after, coalesce(not_held = 'contested', false) AS is_contested,
      closes AND EXISTS (
        SELECT FROM (${pullRequestsAt('settled.sha', 'settled.repository_id')}) open
        WHERE merge_state_due_at > $4::timestamptz) AS holds_again
    FROM settled
  )
  SELECT repository_id AS "repositoryId", sha, repeat_after AS "repeatAfter", is_contested AS "isContested",
    holds_again AS "holdsAgain"
  FROM following WHERE holds_again OR (is_contested AND repeat_after IS NOT NULL)`;

type Following = {
  repositoryId: bigint;
  sha: string;
  repeatAfter: Date | null;
  isContested: boolean;
  holdsAgain: boolean;
};

/**
 * Saves the current statuses of commits, and adds ours to the latest ones, with one statement. A verdict that changed
 * meanwhile waits to be written. So does one that somebody overwrote meanwhile: the next write checks which came later.
 * Only GitHub's answers to us decide the order, never the id of an event.
 * @param returned writes that were taken but not tried.
 */
export async function settle(deps: Deps, outcomes: Outcome[], returned: Write[]): Promise<void> {
  const now = nowOf(deps.clock);
  const askAt = inSteps(now, askStep);
  const rows = [
    ...outcomes.map((outcome) => ({ ...keyOf(outcome.write), ...settledRow(outcome, now) })),
    ...returned.map(keyOf),
  ];
  if (rows.length === 0) return;
  const values = [JSON.stringify(rows), now, mostKept, askAt];
  const most = 10 ** Math.ceil(Math.log10(rows.length));
  const following = await deps.sql.query<Following>(`outbox-settle ${most}`, settleSql(most), values);
  for (const { repositoryId, sha, repeatAfter, isContested, holdsAgain } of following) {
    if (holdsAgain) await askSoon(deps, repositoryId, sha, askAt);
    if (!isContested || !repeatAfter) continue;
    const after = repeatAfter > now ? repeatAfter : now;
    await deps.queue.send([jobs.reconcileRepository(repositoryId, inSteps(after, lookAfter))]);
  }
}

const keyOf = ({ repositoryId, sha, contradictedBy }: Write) => ({
  repository_id: String(repositoryId),
  sha,
  contradicted_by: contradictedBy === null ? null : String(contradictedBy),
});

function settledRow({ write, state, description, id, at, isNew, isFinal }: Outcome, now: Date) {
  const isSameText = write.isFinal === isFinal;
  const times = (isSameText ? timesOf(write, now) : 0) + (isNew ? 1 : 0);
  const repeatAfter = isNew ? new Date(now.getTime() + pauseAfter(times)) : write.repeatAfter;
  return {
    state,
    description,
    at,
    times,
    id: String(id),
    is_new: isNew,
    is_final: isFinal,
    repeat_after: repeatAfter,
    closes: write.writtenState === 'success' && state !== 'success',
  };
}

/** Asks GitHub soon whether the pull requests of a SHA are held, because another status was there for a while. */
async function askSoon(deps: Deps, repositoryId: bigint, sha: string, at: Date): Promise<void> {
  const where = { repositoryId, OR: [{ headSha: sha }, { mergeSha: sha }], mergeStateDueAt: { gt: at } };
  await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repositoryId);
    const { count } = await tx.openPullRequest.updateMany({ where, data: { mergeStateDueAt: at } });
    if (count > 0) await deps.queue.send([jobs.askMergeStates(repositoryId, at)], tx);
  });
}
