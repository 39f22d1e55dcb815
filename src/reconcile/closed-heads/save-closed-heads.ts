import { nowOf } from '../../clock.ts';
import type { Tx } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import { jobs } from '../../queue/jobs.ts';
import type { LoadedPullRequest } from '../../github/pull-requests/load-pull-requests.ts';
import { asOpen } from '../../github/pull-requests/pull-request.ts';
import { decideHead } from '../judge.ts';
import type { Observed } from '../observe.ts';
import { closedUrgency } from '../../outbox/urgency.ts';
import { saveVerdicts, type Verdict } from '../save.ts';
import { freeText } from '../../outbox/status.ts';

// A pull request that is opened again, or a second one that is opened on the head of a closed one, could be merged by an
// old success in the moment before our answer. So those heads are held while a freeze would hold them, after
// everything else.

/** Pull requests that were closed longer ago are left alone. Milliseconds. */
const longestAgo = 30 * 86_400_000;

/** Pull requests that were closed before this instant are left alone. */
export const closedSince = (observedAt: Date): Date => new Date(observedAt.getTime() - longestAgo);

/**
 * Holds the heads of these closed pull requests that a freeze would hold and that no open one has, and lets go of
 * those that none holds any more. Part of the transaction that saves what was read, after the open ones.
 * @param which whether these are all that there are, so that what is held beside them is let go.
 */
export async function saveClosedHeads(
  deps: Deps,
  tx: Tx,
  observed: Observed,
  closed: LoadedPullRequest[],
  which: 'all' | 'some',
): Promise<void> {
  const judged = closed.map(({ facts }) => facts.headSha);
  if (which === 'some' && judged.length === 0) return;
  const taken = await shasOfOpen(tx, observed, judged);
  const held = decideClosed(observed, closed).filter(({ sha }) => !taken.has(sha));
  await saveVerdicts(deps, tx, observed, held);
  await letGo(deps, tx, observed, {
    kept: held.map(({ sha }) => sha),
    among: which === 'all' ? null : judged,
  });
}

/** What holds these heads. One without a status of ours, such as one that we never saw open, blocks as it is. */
export function decideClosed(
  { freezes, observedAt }: Pick<Observed, 'freezes' | 'observedAt'>,
  closed: LoadedPullRequest[],
): Verdict[] {
  const bySha = Map.groupBy(
    closed.filter(mayBeOpenedAgain(closedSince(observedAt))),
    ({ facts }) => facts.headSha,
  );
  return [...bySha].flatMap(([sha, sharing]): Verdict[] => {
    const facts = sharing.map((pullRequest) => asOpen(pullRequest.facts));
    const { status, holds } = decideHead(freezes, facts, observedAt);
    const present = sharing[0]!.status;
    if (status.state !== 'pending' || !present) return [];
    // Its text is not worth a write.
    const { description } = present.state === 'pending' ? present : status;
    const closedNumber = holds[0]!.pullRequest;
    return [
      { sha, status: { ...status, description }, holds, present, urgency: closedUrgency, closedNumber },
    ];
  });
}

const mayBeOpenedAgain =
  (since: Date) =>
  ({ isOpen, facts: { values } }: LoadedPullRequest): boolean =>
    !isOpen && values.merged !== true && Number(values['closed-at'] ?? 0) >= since.getTime();

/** Those of these SHAs that open pull requests have, which are judged with them. */
async function shasOfOpen(tx: Tx, { repository }: Observed, shas: string[]): Promise<Set<string>> {
  const open = await tx.openPullRequest.findMany({
    where: { repositoryId: repository.id, OR: [{ headSha: { in: shas } }, { mergeSha: { in: shas } }] },
    select: { headSha: true, mergeSha: true },
  });
  return new Set(open.flatMap(({ headSha, mergeSha }) => [headSha, mergeSha ?? []].flat()));
}

/**
 * Lets go of held heads of closed pull requests; what was not written yet is not written any more.
 * @param kept those that stay.
 * @param among only these; null: all of the repository.
 */
async function letGo(
  deps: Deps,
  tx: Tx,
  { repository, observation }: Observed,
  { kept, among }: { kept: string[]; among: string[] | null },
): Promise<void> {
  const now = nowOf(deps.clock);
  const released = await tx.$queryRaw<{ is_waiting: boolean }[]>`
    UPDATE head_statuses SET
      state = 'success', description = ${freeText}, urgency = ${closedUrgency}, observation = ${observation},
      is_waiting = shown.is_pending, waiting_since = CASE WHEN shown.is_pending THEN ${now}::timestamptz END
    FROM (
      SELECT sha, NOT is_waiting OR attempts > 0 OR written_state IS NOT DISTINCT FROM 'pending' AS is_pending
      FROM head_statuses
      WHERE repository_id = ${repository.id} AND closed_number IS NOT NULL AND state = 'pending'
        AND observation < ${observation} AND sha <> ALL(${kept}::text[])
        AND (${among}::text[] IS NULL OR sha = ANY(${among}::text[]))
    ) shown
    WHERE head_statuses.repository_id = ${repository.id} AND head_statuses.sha = shown.sha
    RETURNING head_statuses.is_waiting`;
  if (released.some((row) => row.is_waiting))
    await deps.queue.send([jobs.drainOutbox(repository.installation.id)], tx);
}
