import { nowOf } from '../time/clock.ts';
import { changeOfRepository, tellOf } from '../database/changes.ts';
import type { Tx } from '../database/database.ts';
import type { SqlTx } from '../database/sql.ts';
import type { HeadStatus, Prisma } from '../generated/prisma/client.ts';
import { askStep, inSteps, jobs, type ForeignStatus } from '../database/queue/jobs.ts';
import { insertJobsOf } from '../database/queue/queue.ts';
import { askSoon, pullRequestsAt } from './open-pull-request-store.ts';
import { pauseAfter, writeTimesOf } from './plan-write.ts';
import { type Status, wantedOn } from './status.ts';
import { isDue } from './take-writes.ts';
import type { Posted, StatusList } from './write-status.ts';
import type { StatusDeps } from './status-deps.ts';

// What the writer settles, and what GitHub shows. With `take-writes.ts` and `desired-store.ts` the only code that knows
// the table `head_statuses`.

type Key = Pick<HeadStatus, 'repositoryId' | 'sha'>;

/** A status that is due, with what the write needs. */
export type Write = Pick<
  HeadStatus,
  | ('repositoryId' | 'sha' | 'state' | 'description' | 'observation' | 'isFinal' | 'isMergeGroup')
  | ('closedNumber' | 'attempts' | 'writes' | 'overwrites' | 'countedId' | 'contradictedBy')
  | ('writtenState' | 'writtenDescription' | 'writtenId' | 'timesWritten' | 'repeatAfter' | 'notHeld')
  | ('waitingSince' | 'tier' | 'headOwner')
> & {
  owner: string;
  repo: string;
  /** The lowest number of a held open pull request with the SHA, else the lowest number. */
  openNumber: number | null;
  /** The pull request of the merge group's own entry. */
  groupNumber: number | null;
};

/** The current status of a commit. `isNew` if we wrote it, rather than found it. */
export type SettledWrite = { write: Write; isNew: boolean; isFinal: boolean } & Status & Posted;

/** Saves the number of statuses on a SHA according to GitHub's list. */
export async function keepCount(
  { db }: Pick<StatusDeps, 'db'>,
  { repositoryId, sha }: Key,
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
 * What waited for a status to ask GitHub about its pull request is asked about soon.
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
    RETURNING head.repository_id, head.sha, head.state
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
      before.at, before.closes, before.repeat_after, ${tellOf(changeOfRepository('head.repository_id', 'head.sha'))}
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
  ), standing AS (
    SELECT repository_id, sha, state FROM settled UNION ALL SELECT repository_id, sha, state FROM returned
  ), asked AS (${insertJobsOf(`
    SELECT DISTINCT '${jobs.askMergeStates.task}', repository_id || $5::text, repository_id::text,
      jsonb_build_object('repositoryId', repository_id::text), 0, $4::timestamptz
    FROM standing WHERE state <> 'success' AND EXISTS (
      SELECT FROM (${pullRequestsAt('standing.sha', 'standing.repository_id')}) open
      WHERE merge_state_due_at <= $4::timestamptz)
    ORDER BY 2`)})
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
export async function settle(deps: StatusDeps, outcomes: SettledWrite[], returned: Write[]): Promise<void> {
  const now = nowOf(deps.clock);
  const askAt = inSteps(now, askStep);
  const rows = [
    ...outcomes.map((outcome) => ({ ...writeKeyOf(outcome.write), ...settledRow(outcome, now) })),
    ...returned.map(writeKeyOf),
  ];
  if (rows.length === 0) return;
  const { key } = jobs.askMergeStates(0n, askAt);
  const values = [JSON.stringify(rows), now, mostStatusesKept, askAt, key.slice(1)];
  const most = 10 ** Math.ceil(Math.log10(rows.length));
  const following = await deps.sql.query<Following>(`outbox-settle ${most}`, settleSql(most), values);
  for (const { repositoryId, sha, repeatAfter, isContested, holdsAgain } of following) {
    if (holdsAgain) await askSoon(deps, repositoryId, sha, askAt);
    if (!isContested || !repeatAfter) continue;
    const after = repeatAfter > now ? repeatAfter : now;
    await deps.queue.send([jobs.reconcileRepository(repositoryId, inSteps(after, lookAfter))]);
  }
}

const writeKeyOf = ({ repositoryId, sha, contradictedBy }: Write) => ({
  repository_id: String(repositoryId),
  sha,
  contradicted_by: contradictedBy === null ? null : String(contradictedBy),
});

function settledRow({ write, state, description, id, at, isNew, isFinal }: SettledWrite, now: Date) {
  const isSameText = write.isFinal === isFinal;
  const times = (isSameText ? writeTimesOf(write, now) : 0) + (isNew ? 1 : 0);
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

/** A status that we wrote, as GitHub accepted it. */
export type WrittenStatus = { state: string; description: string; at: Date };

/** How many statuses of a SHA we keep. */
const mostStatusesKept = 20;

/** The latest statuses that we wrote on a SHA, newest first. `settle` saves them. */
export async function writtenStatuses(tx: Tx, repositoryId: bigint, sha: string): Promise<WrittenStatus[]> {
  return tx.writtenStatus.findMany({
    where: { repositoryId, sha },
    select: { state: true, description: true, at: true },
    orderBy: [{ at: 'desc' }, { id: 'desc' }],
    take: mostStatusesKept,
  });
}

/** The status of a SHA; null before its first verdict. */
export const statusOn = (tx: Tx, repositoryId: bigint, sha: string): Promise<HeadStatus | null> =>
  tx.headStatus.findUnique({ where: { repositoryId_sha: { repositoryId, sha } } });

/** The same, locked until the transaction ends. */
export async function lockStatusOn(tx: Tx, repositoryId: bigint, sha: string): Promise<HeadStatus | null> {
  await tx.$queryRaw`SELECT 1 FROM head_statuses WHERE repository_id = ${repositoryId} AND sha = ${sha} FOR UPDATE`;
  return statusOn(tx, repositoryId, sha);
}

/** Saves what the event of another status says about a head. @returns the head. */
export const saveForeign = (
  tx: Tx,
  { repositoryId, sha }: Key,
  data: Prisma.HeadStatusUncheckedUpdateInput,
): Promise<HeadStatus> => tx.headStatus.update({ where: { repositoryId_sha: { repositoryId, sha } }, data });

/**
 * Marks a head as not held, unless its verdict changed to free meanwhile.
 * @returns whether the audit log has not been told yet.
 */
export async function markHead(tx: Tx, { repositoryId, sha }: Key, notHeld: string): Promise<boolean> {
  await tx.headStatus.updateMany({
    where: { repositoryId, sha, state: { not: 'success' } },
    data: { notHeld },
  });
  const { count } = await tx.headStatus.updateMany({
    where: { repositoryId, sha, notHeld, OR: [{ notHeldTold: null }, { notHeldTold: { not: notHeld } }] },
    data: { notHeldTold: notHeld },
  });
  return count > 0;
}

/**
 * Ends a write that GitHub refuses for good. What we learned about the commit counts even if the verdict changed meanwhile.
 * @returns whether the verdict is still that of the write.
 */
export async function endRefused(
  tx: Tx,
  { repositoryId, sha, observation }: Key & Pick<Write, 'observation'>,
  learned: Partial<Pick<HeadStatus, 'writtenState' | 'writtenDescription' | 'isFinal'>>,
  { isHeld, now }: { isHeld: boolean; now: Date },
): Promise<boolean> {
  await tx.headStatus.updateMany({
    where: { repositoryId, sha },
    data: { ...learned, contradictedBy: null },
  });
  const { count } = await tx.headStatus.updateMany({
    where: { repositoryId, sha, observation },
    data: {
      isWaiting: false,
      waitingSince: null,
      attempts: 0,
      notBefore: now,
      ...(isHeld && { notHeld: null }),
    },
  });
  return count > 0;
}

/**
 * Tries a write again later, because GitHub is down. It may have arrived, so the next attempt checks first, even if the
 * verdict changes, or another worker took or wrote it meanwhile because our lease seemed lost.
 */
export const putOff = (db: Tx, { repositoryId, sha, attempts }: Write, notBefore: Date) => db.$executeRaw`
  UPDATE head_statuses SET not_before = ${notBefore}, is_waiting = true,
    attempts = greatest(attempts, ${attempts + 1}::int)
  WHERE repository_id = ${repositoryId} AND sha = ${sha}`;

/**
 * Drops the writes of a repository that we cannot write to. A new observation may add others. A hold that was never
 * written keeps an attempt, so that it does not count as held and the next write checks first. So does what may have
 * arrived.
 */
export const giveUp = (db: Tx, repositoryId: bigint) => db.$executeRaw`
  UPDATE head_statuses SET is_waiting = false, waiting_since = NULL,
    attempts = CASE WHEN state <> 'success' AND written_state IS NULL THEN greatest(1, attempts) ELSE attempts END
  WHERE repository_id = ${repositoryId} AND is_waiting`;

/** Whether an installation has a status that may be written. */
export async function hasDue(sql: SqlTx, installationId: bigint, now: Date): Promise<boolean> {
  const text = `SELECT FROM head_statuses WHERE ${isDue('$2')} LIMIT 1`;
  return (await sql.query('outbox-due', text, [installationId, now])).length > 0;
}

/** Installations with a waiting status that may be written now. */
export async function installationsWithWaiting(db: Tx, now: Date): Promise<bigint[]> {
  const rows = await db.$queryRaw<{ id: bigint }[]>`
    SELECT id FROM installations i WHERE deleted_at IS NULL AND suspended_at IS NULL AND EXISTS (
      SELECT 1 FROM head_statuses WHERE installation_id = i.id AND is_waiting AND not_before <= ${now})`;
  return rows.map(({ id }) => id);
}

/**
 * SQL that counts the statuses that are late, and since when the oldest waits. `not_before` moves with `repeat_after`
 * where the same text is repeated on purpose: nothing is late then.
 * @param now the parameter with the instant.
 */
export const lateStatuses = (now: string): string => `
  SELECT count(*)::int AS waiting, min(head.waiting_since) AS since
  FROM installations JOIN head_statuses head ON head.installation_id = installations.id AND head.is_waiting
  WHERE suspended_at IS NULL AND deleted_at IS NULL
    AND NOT coalesce(head.not_before > ${now}::timestamptz AND head.repeat_after >= head.not_before, false)`;

const isOpenWrite = 'installation_id IS NOT NULL AND is_waiting';

/** How far ahead of now the instants of what waits can be, for `server/instants-ahead.ts`. */
export const waitingInstants = {
  head_statuses: [
    { column: 'waiting_since', most: 0, instead: '$1', of: isOpenWrite },
    // The longest pause between two writes of one text.
    { column: 'not_before', most: 5 * 60_000, instead: '$1', of: isOpenWrite },
    { column: 'repeat_after', most: 5 * 60_000, instead: '$1', of: isOpenWrite },
  ],
};

export type StatusEvent = Pick<ForeignStatus, 'id' | 'at' | 'state' | 'description'>;

export const saysWanted = (head: HeadStatus, { state, description }: StatusEvent): boolean => {
  const wanted = wantedOn(head);
  return state === wanted.state && description === wanted.description;
};

/**
 * Whether an event of a status with our context needs work: it is on a head that we know, and is not the echo of one of
 * our writes, including writes in progress.
 */
export async function isOfConsequence(
  db: Tx,
  repositoryId: bigint,
  sha: string,
  event: ForeignStatus,
): Promise<boolean> {
  const head = await statusOn(db, repositoryId, sha);
  if (!head || head.writtenId === BigInt(event.id)) return false;
  const mayBeUnderWay = head.attempts > 0 && event.by.endsWith('[bot]') && saysWanted(head, event);
  return !mayBeUnderWay;
}
