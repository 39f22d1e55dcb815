import {
  hasHold,
  isBlockedAtOnce,
  lastTierBefore,
  passesDue,
  passTurn,
  duePasses,
} from './instant-hold/pass-store.ts';
import { pullRequestsAt } from './open-pull-request-store.ts';
import { tiers } from './plan-write.ts';
import { byRound, hadTurn, inRounds, startIn, startOfWrites } from './write-turns.ts';
import type { SqlTx } from '../database/sql.ts';

// What the writer takes: the statement that gives it the next writes, in their order.

/** How many writes are taken at once. */
export const mostTaken = 25;

/**
 * The SQL condition for a waiting status of the installation `$1` that may be written.
 * @param now the parameter with the instant.
 */
export const isDue = (now: string): string =>
  `installation_id = $1::int8 AND is_waiting AND not_before <= ${now}::timestamptz`;

/** The SQL condition that the installation `$1` has a status that may be written. @param now the parameter with the instant. */
export const isAnyDue = (now: string): string => `EXISTS (SELECT FROM head_statuses WHERE ${isDue(now)})`;

/**
 * SQL that selects whose turn it is, first those that had none in this round. It steps from one to the next in the order
 * of an index until it found enough of them, and does not read all that wait.
 * @param order the columns of the index: the last one says whose turn it is. @param start after which of their values it
 *   begins; null for the first ones. @param where what waits. @param had whether a row is of somebody who had a turn. @param most how many it
 *   selects.
 */
const nextTurns = (
  { order, start }: { order: string[]; start: string[] | null },
  where: string,
  had: string,
  most: string,
): string => {
  const columns = order.join(', ');
  const who = order.at(-1)!;
  const nextAfter = (values: string[] | null) => `
    SELECT ${columns}, ${had} AS had FROM head_statuses
    WHERE ${where} ${values ? `AND (${columns}) > (${values.join(', ')})` : ''} ORDER BY ${columns} LIMIT 1`;
  return `
    WITH RECURSIVE step AS (
      SELECT first.*, CASE WHEN had THEN '{}' ELSE ARRAY[${who}] END AS found FROM (${nextAfter(start)}) first
      UNION ALL
      SELECT next.*, CASE WHEN next.had OR next.${who} = ANY (found) THEN found ELSE found || next.${who} END
      FROM step CROSS JOIN LATERAL (${nextAfter(order.map((column) => `step.${column}`))}) next
      WHERE cardinality(found) < ${most}
    )
    SELECT ${who} FROM step GROUP BY ${who} ORDER BY bool_and(had), min(${order[0]}), ${who} LIMIT ${most}`;
};

/**
 * SQL that selects the due writes of a tier, in the order of their turns: of each repository whose turn it is as many as
 * may be needed, of the owners whose turn it is there. The planner learns from the first `LIMIT` how few it reads of
 * each share: it could take an index that it must sort.
 * @param isTakable the condition for a row of `head_statuses`.
 */
const dueIn = (tier: string, isTakable: string): string => {
  const waits = `${isTakable} AND tier = ${tier}`;
  const inRepository = `${waits} AND repository_id = repository.repository_id`;
  const repositories = nextTurns(
    { order: ['urgency', 'repository_id'], start: startOfWrites(tier, 'allowed') },
    waits,
    hadTurn('allowed.turns', tier, 'repository_id'),
    'allowed.places',
  );
  const owners = nextTurns(
    { order: ['head_owner'], start: null },
    inRepository,
    hadTurn('allowed.turns', tier, 'repository_id', 'head_owner'),
    'allowed.places',
  );
  return inRounds(
    `SELECT first.* FROM (
      SELECT repository_id, allowed.places / count(*) OVER () + 1 AS share FROM (${repositories}) turn
    ) repository CROSS JOIN LATERAL (${owners}) owner CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT repository_id, head_owner, urgency, waiting_since, sha FROM head_statuses
        WHERE ${inRepository} AND head_owner = owner.head_owner
        ORDER BY urgency, waiting_since, sha LIMIT ${mostTaken}) few LIMIT repository.share) first`,
    tier,
    'allowed.turns',
  );
};

/** Whether a ruleset may be in force in an installation. Only then it matters what else a commit needs. */
export type Holds = 'without holds' | 'under holds';

/** SQL for the last tier that may be taken, and which contexts of instant holds are to be written. */
const passesAndLast: Record<Holds, { passes: string; lastTier: string }> = {
  'without holds': {
    passes: 'NULL::text',
    lastTier: `CASE WHEN has_holds THEN -1 ELSE ${tiers.isClosed} END`,
  },
  'under holds': {
    passes: `CASE WHEN has_holds THEN (${passesDue}) END`,
    lastTier: `CASE
      WHEN passes IS NULL OR '${passTurn}' = ANY (turns) THEN ${tiers.isClosed}
      WHEN passes = 'urgent' THEN ${lastTierBefore.urgent} ELSE ${lastTierBefore.later} END`,
  },
};

/**
 * The condition for a row that may be taken. It takes the instant from `allowed`: PostgreSQL estimates a parameter by its
 * value, so it planned the statement at each call. While urgent contexts wait, what a ruleset blocks is no
 * hole.
 */
const takable: Record<Holds, string> = {
  'without holds': isDue('allowed.now'),
  'under holds': `${isDue('allowed.now')} AND NOT (allowed.passes IS NOT DISTINCT FROM 'urgent'
    AND tier = ${tiers.closesHole} AND ${isBlockedAtOnce('head_statuses')})`,
};

/**
 * Takes due writes for the holder: those of the most urgent tier first, and of one tier in turns. Skips rows that a saving
 * transaction has locked: it may change them, and sends its own job. The tiers are looked at one after another, until
 * there are enough writes. While the context of an instant hold is to be written somewhere and it is its turn, it takes
 * only what comes before. The planner learns from the last `LIMIT`, and from conditions that are always true, how few it
 * takes: without statistics, or with those from the middle of a fan-out, it would read all heads to join them. From
 * `OFFSET 0` it learns to lock each row by its key: with statistics from before the fan-out, it would search all that wait.
 * @param holds `without holds` takes nothing where the installation has some: PostgreSQL plans it in half the time.
 * @param condition says whether the lease may be taken or kept. @param places how many writes may be taken. @param many how
 *   many of them may be of other tiers than the first. @param pace the columns of the pace, less what is taken. @param turns
 *   the turns so far.
 */
export const take = (
  holds: Holds,
  condition: string,
  places: string,
  many: string,
  pace: string,
  turns: string,
) => `
  WITH lease AS (
    SELECT *, suspended_at IS NOT NULL OR deleted_at IS NOT NULL AS is_off, ${hasHold('$1::int8')} AS has_holds
    FROM installations WHERE ${condition} FOR NO KEY UPDATE
  ), allowed AS (
    SELECT *, CASE WHEN is_off OR paused_until > $10::timestamptz THEN -1
        ELSE least(start_tier, ${passesAndLast[holds].lastTier}) END AS last_tier
    FROM (
      SELECT *, ${passesAndLast[holds].passes} AS passes, ${turns} AS turns, ${places} AS places, ${many} AS many, ${startIn(turns)},
        $10::timestamptz AS now
      FROM lease OFFSET 0
    ) so_far
  ), due AS (
    SELECT ordered.repository_id, ordered.sha, kind.tier, ordered.round
    FROM allowed CROSS JOIN (VALUES ${Object.values(tiers)
      .map((tier) => `(${tier})`)
      .join(', ')}) AS kind (tier)
      CROSS JOIN LATERAL (SELECT * FROM (${dueIn('kind.tier', takable[holds])}) rounds ORDER BY ${byRound}) ordered
      CROSS JOIN LATERAL (
        SELECT is_waiting FROM head_statuses WHERE repository_id = ordered.repository_id AND sha = ordered.sha
        OFFSET 0 FOR UPDATE SKIP LOCKED) free
    WHERE kind.tier <= allowed.last_tier AND free.is_waiting
    LIMIT (SELECT places FROM allowed)
  ), taken AS (
    UPDATE head_statuses head SET attempts = head.attempts + 1 FROM (
      SELECT * FROM (
        SELECT *, count(*) FILTER (WHERE tier > ${tiers.cannotWait}) OVER (ROWS UNBOUNDED PRECEDING) AS of_many FROM due
      ) counted WHERE tier >= 0 AND round > 0 AND (tier = ${tiers.cannotWait} OR of_many <= (SELECT many FROM allowed))
      LIMIT ${mostTaken}) due
    WHERE head.repository_id = due.repository_id AND head.sha = due.sha
    RETURNING head.*, due.round
  ), kept AS (
    UPDATE installations SET ${pace}, lease_holder = $2::uuid, lease_until = $9::timestamptz
    WHERE id = $1::int8 AND EXISTS (SELECT FROM lease)
  )
  SELECT lease.is_off AS "isOff", lease.paused_until AS "pausedUntil",
    lease.pace_per_minute AS "perMinute", lease.pace_tokens AS "tokens", lease.pace_counted_at AS "countedAt",
    lease.pace_refused AS "refused", lease.pace_refused_at AS "refusedAt", lease.write_turns AS turns,
    lease.has_holds AS "hasHolds", allowed.passes, taken.repository_id AS "repositoryId", taken.sha, taken.tier,
    taken.head_owner AS "headOwner", taken.urgency, taken.state,
    taken.description, taken.observation, taken.is_final AS "isFinal", taken.is_merge_group AS "isMergeGroup",
    taken.closed_number AS "closedNumber", taken.attempts - 1 AS attempts, taken.writes, taken.overwrites,
    taken.counted_id AS "countedId", taken.contradicted_by AS "contradictedBy", taken.written_state AS "writtenState",
    taken.written_description AS "writtenDescription", taken.written_id AS "writtenId",
    taken.times_written AS "timesWritten", taken.repeat_after AS "repeatAfter", taken.not_held AS "notHeld",
    taken.waiting_since AS "waitingSince",
    account.login AS owner, repository.name AS repo, (
      SELECT number FROM (${pullRequestsAt('taken.sha', 'taken.repository_id')}) open
      ORDER BY cardinality(held_by) = 0, number LIMIT 1
    ) AS "openNumber", CASE WHEN taken.is_merge_group THEN (
      SELECT merging.pull_requests[array_upper(merging.pull_requests, 1)] FROM merge_groups merging
      WHERE merging.repository_id = taken.repository_id AND merging.head_sha = taken.sha
    ) END AS "groupNumber"
  FROM lease CROSS JOIN allowed LEFT JOIN taken ON true
    LEFT JOIN repositories repository ON repository.id = taken.repository_id
    LEFT JOIN accounts account ON account.id = repository.account_id
  ORDER BY taken.tier, taken.round, taken.urgency, taken.waiting_since, taken.repository_id, taken.sha`;

/** How many writes of an installation wait, and how many it makes a minute, as far as it learned. */
export async function readWaiting(
  sql: SqlTx,
  installationId: bigint,
): Promise<{ waiting: number; pacePerMinute: number | null }> {
  const [row] = await sql.query<{ waiting: number; pacePerMinute: number | null }>(
    'read-waiting',
    `SELECT (
        (SELECT count(*) FROM head_statuses WHERE installation_id = $1 AND is_waiting)
        + (SELECT count(*) FROM (${duePasses}) due)
      )::int AS waiting, (SELECT pace_per_minute FROM installations WHERE id = $1) AS "pacePerMinute"`,
    [installationId],
  );
  return row!;
}
