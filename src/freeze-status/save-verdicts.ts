import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { Tx } from '../database/database.ts';
import { postStatuses } from '../jobs/tasks.ts';
import type { LoadedPullRequest } from '../pull-requests/load-pull-requests.ts';
import { decideHead, type Hold, type Status } from './decide-status.ts';
import { fullName } from '../repositories/find-repository.ts';
import type { Refreshable } from './refreshable.ts';

export type Verdict = { sha: string; status: Status; unjudged: Hold[]; differs: boolean; urgency: number };

/** Decides the status of every head SHA among these open pull requests. */
export function decideVerdicts(
  { freezes, readAt }: Pick<Refreshable, 'freezes' | 'readAt'>,
  pullRequests: LoadedPullRequest[],
): Verdict[] {
  const bySha = Map.groupBy(pullRequests, ({ facts }) => facts.headSha);
  return [...bySha].map(([sha, sharing]) => {
    const facts = sharing.map((pullRequest) => pullRequest.facts);
    const { status, unjudged } = decideHead(freezes, facts, readAt);
    const present = sharing[0]!.status;
    const differs = present?.state !== status.state || present.description !== status.description;
    const closeness = Math.min(...sharing.map(closenessOf));
    return { sha, status, unjudged, differs, urgency: 4 * tierOf(status, present) + closeness };
  });
}

/**
 * What a write changes, the most pressing first: it closes a hole, it lets go, it is a first success, it only
 * changes the text. So an emergency freeze never waits behind the first statuses of a new installation.
 */
function tierOf(status: Status, present: LoadedPullRequest['status']): number {
  if (status.state === present?.state) return 3;
  if (status.state === 'pending') return 0;
  return present ? 1 : 2;
}

/** Closest to merging first: queued or auto-merge, then mergeable, then the rest, drafts last. */
function closenessOf({ isQueued, isMergeable, isDraft }: LoadedPullRequest): number {
  if (isQueued) return 0;
  if (isDraft) return 3;
  return isMergeable ? 1 : 2;
}

/**
 * Keeps the verdicts, and has those written that GitHub does not show yet. A SHA that a later reading has judged
 * is left alone. Where we wrote while this reading was under way, what we wrote counts and not what it saw.
 */
export async function saveVerdicts(
  deps: Deps,
  tx: Tx,
  refresh: Refreshable,
  verdicts: Verdict[],
): Promise<void> {
  const { repository, reading } = refresh;
  const now = nowOf(deps.clock);
  logUnjudged(deps, repository, verdicts);
  const saved = await tx.$queryRaw<{ is_waiting: boolean }[]>`
    INSERT INTO head_statuses AS known
      (repository_id, sha, state, description, urgency, is_waiting, reading, not_before)
    SELECT ${repository.id}, verdict.*, ${reading}, ${now} FROM unnest(
      ${verdicts.map(({ sha }) => sha)}::text[],
      ${verdicts.map(({ status }) => status.state)}::text[],
      ${verdicts.map(({ status }) => status.description)}::text[],
      ${verdicts.map(({ urgency }) => urgency)}::int[],
      ${verdicts.map(({ differs }) => differs)}::boolean[]
    ) AS verdict
    ON CONFLICT (repository_id, sha) DO UPDATE SET
      state = excluded.state, description = excluded.description, urgency = excluded.urgency,
      reading = excluded.reading,
      is_waiting = CASE WHEN known.written_during >= excluded.reading
        THEN (known.written_state, known.written_description) IS DISTINCT FROM (excluded.state, excluded.description)
        ELSE excluded.is_waiting END
    WHERE known.reading < excluded.reading
    RETURNING is_waiting`;
  if (!saved.some((row) => row.is_waiting)) return;
  // From here on this repository carries statuses of ours, which must be let go of when freezes are switched off.
  await tx.repository.updateMany({
    where: { id: repository.id, firstStatusAt: null },
    data: { firstStatusAt: now },
  });
  await deps.jobs.send([postStatuses(repository.installation.id)], tx);
}

/** One line for each reason and freeze: a team that is not there holds a thousand pull requests. */
function logUnjudged(deps: Deps, repository: Refreshable['repository'], verdicts: Verdict[]): void {
  const unjudged = verdicts.flatMap((verdict) => verdict.unjudged);
  const groups = Map.groupBy(unjudged, (hold) => `${hold.freeze.id} ${hold.unjudged}`);
  for (const holds of groups.values()) {
    const { freeze, unjudged: why } = holds[0]!;
    const pullRequests = holds.slice(0, mostNamed).map(({ pullRequest }) => pullRequest);
    deps.log.warn(
      { repository: fullName(repository), freeze: freeze.id, why, count: holds.length, pullRequests },
      'conditions could not be judged, so the freeze holds',
    );
  }
}

const mostNamed = 20;
