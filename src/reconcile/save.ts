import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { Tx } from '../database/database.ts';
import { jobs } from '../queue/jobs.ts';
import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import type { JudgedHead } from './open-pull-request-store.ts';
import type { PresentStatus } from '../github/pull-requests/present-status.ts';
import { changedAtOf } from '../github/pull-requests/pull-request.ts';
import { decideHead, holdsOf } from './judge.ts';
import { foreignIn, type Known, mustWrite, shownNow } from '../outbox/plan-write.ts';
import type { Hold, Status } from '../outbox/status.ts';
import { urgencyOf } from '../outbox/urgency.ts';
import { fullName } from '../installations/find-repository.ts';
import type { Observed } from './observe.ts';

/** What the status of a SHA should say, and what it was decided by. */
export type Verdict = {
  sha: string;
  status: Status;
  holds: Hold[];
  present: PresentStatus;
  /** The smallest is written first. */
  urgency: number;
  /** The closed pull request whose head it is; absent where an open one has it. */
  closedNumber?: number;
};

/**
 * Decides the status of every SHA of these open pull requests, for all whose head or test merge commit it is. A test
 * merge commit that is nobody's head is left alone while it shows no status of ours: with one, GitHub would ask for
 * it there as well.
 * @param among only these SHAs; null: all.
 */
export function decideVerdicts(
  { freezes, observedAt }: Pick<Observed, 'freezes' | 'observedAt'>,
  pullRequests: LoadedPullRequest[],
  among: ReadonlySet<string> | null = null,
): Verdict[] {
  const bySha = Map.groupBy(pullRequests.flatMap(commitsOf), ({ sha }) => sha);
  return [...bySha].flatMap(([sha, commits]): Verdict[] => {
    const present = newestOf(commits.map(({ status }) => status));
    if (among && !among.has(sha)) return [];
    if (!present && !commits.some(({ isHead }) => isHead)) return [];
    const sharing = commits.map(({ pullRequest }) => pullRequest);
    const facts = sharing.map((pullRequest) => pullRequest.facts);
    const { status, holds } = decideHead(freezes, facts, observedAt);
    return [{ sha, status, holds, present, urgency: urgencyOf(status, present, sharing) }];
  });
}

/** The commits whose statuses decide whether GitHub merges a pull request. */
function commitsOf(pullRequest: LoadedPullRequest) {
  const { facts, status, testMerge } = pullRequest;
  const head = { pullRequest, sha: facts.headSha, status, isHead: true };
  return testMerge ? [head, { pullRequest, ...testMerge, isHead: false }] : [head];
}

/** Pull requests that share a commit may have been read one after another. */
const newestOf = (statuses: PresentStatus[]): PresentStatus =>
  statuses.reduce((one, other) => (one && (!other || one.at >= other.at) ? one : other), null);

/** The SHAs of a pull request that others may share. */
export const shasOf = (pullRequest: LoadedPullRequest): string[] =>
  commitsOf(pullRequest).map(({ sha }) => sha);

/** The pull requests as the index keeps them: where their heads are, and what holds them. */
export function judgedHeads(
  { freezes, observedAt }: Pick<Observed, 'freezes' | 'observedAt'>,
  pullRequests: LoadedPullRequest[],
): JudgedHead[] {
  return pullRequests.map(({ facts, testMerge }) => {
    const { number, nodeId, headSha } = facts;
    return {
      number,
      nodeId,
      headSha,
      mergeSha: testMerge?.sha ?? null,
      heldBy: holdsOf(freezes, facts, observedAt).map(({ freeze }) => freeze.id),
      changedAt: changedAtOf(facts),
    };
  });
}

/**
 * Keeps the verdicts, and has those written that GitHub does not show yet. A SHA that a later observation has judged
 * is left alone, unless that one knew of no open pull request there. Call it where the repository's row is locked.
 * @returns how many are to be written.
 */
export async function saveVerdicts(
  deps: Deps,
  tx: Tx,
  observed: Observed,
  verdicts: Verdict[],
  isMergeGroup = false,
): Promise<number> {
  const { repository, observation } = observed;
  const now = nowOf(deps.clock);
  logUnjudged(deps, repository, verdicts);
  const known = await lockKnown(
    tx,
    repository.id,
    verdicts.map(({ sha }) => sha),
  );
  const rows = verdicts.map((verdict) => {
    const { present } = verdict;
    const before = known.get(verdict.sha) ?? null;
    const isWaiting = mustWrite(verdict.status, present, before, observation, now);
    const shown = shownNow(present, before, observation, now);
    return {
      ...verdict,
      isWaiting,
      foreign: foreignIn(present, before, observation, now),
      isHeld: !isWaiting && shown !== null && shown.state !== 'success',
    };
  });
  const heldAgain = rows.filter(({ isHeld }) => isHeld).map(({ sha }) => sha);
  const saved = await tx.$queryRaw<{ is_waiting: boolean }[]>`
    INSERT INTO head_statuses AS known (repository_id, installation_id, is_merge_group, observation, not_before,
      sha, state, description, urgency, is_waiting, closed_number, waiting_since, counted_id, written_state,
      written_description)
    SELECT ${repository.id}, ${repository.installation.id}, ${isMergeGroup}, ${observation}, ${now},
      sha, state, description, urgency, is_waiting, closed_number, CASE WHEN is_waiting THEN ${now}::timestamptz END,
      CASE WHEN is_foreign THEN NULL ELSE 0 END,
      CASE WHEN is_foreign THEN foreign_state END, CASE WHEN is_foreign THEN foreign_description END
    FROM unnest(
      ${rows.map(({ sha }) => sha)}::text[],
      ${rows.map(({ status }) => status.state)}::text[],
      ${rows.map(({ status }) => status.description)}::text[],
      ${rows.map(({ urgency }) => urgency)}::int[],
      ${rows.map(({ isWaiting }) => isWaiting)}::boolean[],
      ${rows.map(({ closedNumber }) => closedNumber ?? null)}::int[],
      ${rows.map(({ foreign }) => foreign !== null)}::boolean[],
      ${rows.map(({ foreign }) => foreign?.state ?? '')}::text[],
      ${rows.map(({ foreign }) => foreign?.description ?? '')}::text[]
    ) AS verdict(sha, state, description, urgency, is_waiting, closed_number, is_foreign, foreign_state, foreign_description)
    ON CONFLICT (repository_id, sha) DO UPDATE SET
      installation_id = excluded.installation_id, observation = excluded.observation,
      state = excluded.state, description = excluded.description, urgency = excluded.urgency,
      is_waiting = excluded.is_waiting, closed_number = excluded.closed_number,
      waiting_since = CASE WHEN excluded.is_waiting THEN coalesce(known.waiting_since, excluded.waiting_since) END,
      -- What others wrote is counted before the next write.
      counted_id = CASE WHEN excluded.counted_id IS NULL THEN NULL ELSE known.counted_id END,
      written_state = coalesce(excluded.written_state, known.written_state),
      written_description = coalesce(excluded.written_description, known.written_description),
      -- A new verdict waits for nothing; the pause is for the same text again.
      (not_before, times_written, repeat_after) = (
        SELECT CASE WHEN is_repeat THEN greatest(known.not_before, known.repeat_after) ELSE excluded.not_before END,
          CASE WHEN is_repeat THEN known.times_written ELSE 0 END, CASE WHEN is_repeat THEN known.repeat_after END
        FROM (SELECT known.is_final
          OR (known.state, known.description) = (excluded.state, excluded.description) AS is_repeat) wanted),
      not_held = CASE WHEN excluded.state = 'success' OR excluded.sha = ANY(${heldAgain}::text[])
        AND (known.not_held = 'refused' OR known.repeat_after <= ${now}) THEN NULL ELSE known.not_held END,
      not_held_told = CASE WHEN excluded.state = 'success' THEN NULL ELSE known.not_held_told END
    WHERE known.observation < excluded.observation OR (known.closed_number IS NOT NULL AND excluded.closed_number IS NULL)
    RETURNING is_waiting`;
  const differing = saved.filter((row) => row.is_waiting).length;
  if (differing === 0) return 0;
  // From here on this repository carries statuses of ours, which must be let go of when freezes are switched off.
  await tx.repository.updateMany({
    where: { id: repository.id, firstStatusAt: null },
    data: { firstStatusAt: now },
  });
  await deps.queue.send([jobs.drainOutbox(repository.installation.id)], tx);
  return differing;
}

/** What we wrote on these SHAs. Their rows stay as they are until the transaction ends: a write settles after it. */
async function lockKnown(tx: Tx, repositoryId: bigint, shas: string[]): Promise<Map<string, Known>> {
  const rows = await tx.$queryRaw<KnownRow[]>`
    SELECT sha, written_state, written_description, written_at, written_during, writes, overwrites, attempts,
      is_final, is_merge_group, not_held
    FROM head_statuses WHERE repository_id = ${repositoryId} AND sha = ANY(${shas}::text[])
    ORDER BY sha FOR UPDATE`;
  return new Map(
    rows.map((row) => [
      row.sha,
      {
        writtenState: row.written_state,
        writtenDescription: row.written_description,
        writtenAt: row.written_at,
        writtenDuring: row.written_during,
        writes: row.writes,
        overwrites: row.overwrites,
        attempts: row.attempts,
        isFinal: row.is_final,
        isMergeGroup: row.is_merge_group,
        notHeld: row.not_held,
      },
    ]),
  );
}

type KnownRow = {
  sha: string;
  written_state: string | null;
  written_description: string | null;
  written_at: Date | null;
  written_during: bigint | null;
  writes: number;
  overwrites: number;
  attempts: number;
  is_final: boolean;
  is_merge_group: boolean;
  not_held: string | null;
};

/** One line for each reason and freeze: a team that is not there holds a thousand pull requests. */
function logUnjudged(deps: Deps, repository: Observed['repository'], verdicts: Verdict[]): void {
  const unjudged = verdicts.flatMap(({ holds }) => holds.filter((hold) => hold.unjudged !== null));
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
