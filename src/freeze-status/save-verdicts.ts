import type { Deps } from '../deps.ts';
import type { Tx } from '../database/database.ts';
import { postStatuses } from '../jobs/tasks.ts';
import type { LoadedPullRequest } from '../pull-requests/load-pull-requests.ts';
import { decideStatus, type Status } from './decide-status.ts';
import type { Refreshable } from './refreshable.ts';

export type Verdict = { sha: string; status: Status; differs: boolean; urgency: number };

/** Decides the status of every head SHA among these open pull requests. */
export function decideVerdicts(
  { freezes, readAt }: Refreshable,
  pullRequests: LoadedPullRequest[],
): Verdict[] {
  const bySha = Map.groupBy(pullRequests, ({ facts }) => facts.headSha);
  return [...bySha].map(([sha, sharing]) => {
    const facts = sharing.map((pullRequest) => pullRequest.facts);
    const status = decideStatus(freezes, facts, readAt);
    const present = sharing[0]!.status;
    const differs = present?.state !== status.state || present.description !== status.description;
    return { sha, status, differs, urgency: Math.min(...sharing.map(urgencyOf)) };
  });
}

/** Closest to merging first: queued or auto-merge, then mergeable, then the rest, drafts last. */
function urgencyOf({ isQueued, isMergeable, facts }: LoadedPullRequest): number {
  if (isQueued) return 0;
  if (facts.isDraft) return 3;
  return isMergeable ? 1 : 2;
}

/**
 * Makes the waiting writes agree with the verdicts: one for each SHA whose status differs, none for the others.
 * A verdict from an older reading than the waiting one's changes nothing.
 */
export async function saveVerdicts(
  deps: Deps,
  tx: Tx,
  refresh: Refreshable,
  verdicts: Verdict[],
): Promise<void> {
  const { repository, readAt } = refresh;
  const settled = verdicts.filter(({ differs }) => !differs).map(({ sha }) => sha);
  await tx.statusWrite.deleteMany({
    where: { repositoryId: repository.id, sha: { in: settled }, decidedAt: { lte: readAt } },
  });
  const differing = verdicts.filter(({ differs }) => differs);
  for (const { sha, status, urgency } of differing) {
    await tx.$executeRaw`
      INSERT INTO status_writes (repository_id, sha, state, description, urgency, decided_at, not_before)
      VALUES (${repository.id}, ${sha}, ${status.state}, ${status.description}, ${urgency}, ${readAt}, ${readAt})
      ON CONFLICT (repository_id, sha) DO UPDATE SET
        state = excluded.state, description = excluded.description, urgency = excluded.urgency,
        decided_at = excluded.decided_at,
        attempts = status_writes.attempts
      WHERE status_writes.decided_at <= excluded.decided_at`;
  }
  if (differing.length > 0) await deps.jobs.send([postStatuses(repository.installation.id)], tx);
}
