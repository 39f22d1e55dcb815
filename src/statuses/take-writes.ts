import { hasHold, isBlockedAtOnce, lastTierBefore, passesDue, passTurn } from './instant-hold/pass-store.ts';
import { pullRequestsAt } from './open-pull-request-store.ts';
import { tiers } from './plan-write.ts';
import { inRounds, byRound } from './write-turns.ts';

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

/** SQL that selects whose statuses of a tier wait. It steps from one to the next, and does not read all that wait. */
const sharesIn = (tier: string): string => {
  const share = (after: string) => `
    SELECT repository_id, head_owner FROM head_statuses
    WHERE installation_id = $1::int8 AND is_waiting AND tier = ${tier} ${after}
    ORDER BY repository_id, head_owner LIMIT 1`;
  return `
    WITH RECURSIVE share AS (
      (${share('')}) UNION ALL
      SELECT next.* FROM share CROSS JOIN LATERAL (
        ${share('AND (repository_id, head_owner) > (share.repository_id, share.head_owner)')}) next
    ) SELECT * FROM share`;
};

/**
 * SQL that selects the due writes of a tier, in the order of their turns. The planner learns from the first `LIMIT` how
 * few it reads of each share: it could take an index that it must sort.
 */
const dueIn = (tier: string, places: string): string =>
  inRounds(
    `SELECT first.* FROM (${sharesIn(tier)}) share CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT repository_id, head_owner, urgency, waiting_since, sha FROM head_statuses
        WHERE ${isDue('$10')} AND tier = ${tier}
          AND repository_id = share.repository_id AND head_owner = share.head_owner
        ORDER BY urgency, waiting_since, sha LIMIT ${mostTaken}) few LIMIT ${places}) first`,
    tier,
    'SELECT unnest(turns) FROM allowed',
  );

/**
 * Takes due writes for the holder: those of the most urgent tier first, and of one tier in turns. Skips rows that a saving
 * transaction has locked: it may change them, and sends its own job. The tiers are looked at one after another, until
 * there are enough writes. While the context of an instant hold is to be written somewhere and it is its turn, it takes
 * only what comes before. The planner learns from the last `LIMIT`, and from conditions that are always true, how few it
 * takes: without statistics, or with those from the middle of a fan-out, it would read all heads to join them.
 * @param condition says whether the lease may be taken or kept. @param places how many writes may be taken. @param pace
 *   the columns of the pace, less what is taken. @param turns the turns so far.
 */
export const take = (condition: string, places: string, pace: string, turns: string) => `
  WITH lease AS (
    SELECT *, suspended_at IS NOT NULL OR deleted_at IS NOT NULL AS is_off, ${hasHold('$1::int8')} AS has_holds
    FROM installations WHERE ${condition} FOR NO KEY UPDATE
  ), allowed AS (
    SELECT passes, turns, CASE
        WHEN is_off OR paused_until > $10::timestamptz THEN -1
        WHEN passes IS NULL OR '${passTurn}' = ANY (turns) THEN ${tiers.isClosed}
        WHEN passes = 'urgent' THEN ${lastTierBefore.urgent} ELSE ${lastTierBefore.later} END AS last_tier
    FROM (SELECT *, CASE WHEN has_holds THEN (${passesDue}) END AS passes, ${turns} AS turns FROM lease OFFSET 0) so_far
  ), due AS (
    SELECT ordered.repository_id, ordered.sha, kind.tier, ordered.round
    FROM allowed CROSS JOIN (VALUES ${Object.values(tiers)
      .map((tier) => `(${tier})`)
      .join(', ')}) AS kind (tier)
      CROSS JOIN LATERAL (SELECT * FROM (${dueIn('kind.tier', places)}) rounds ORDER BY ${byRound}) ordered
      CROSS JOIN LATERAL (
        SELECT FROM head_statuses WHERE repository_id = ordered.repository_id AND sha = ordered.sha AND is_waiting
        FOR UPDATE SKIP LOCKED) free
    WHERE kind.tier <= allowed.last_tier AND NOT (allowed.passes IS NOT DISTINCT FROM 'urgent'
      AND kind.tier = ${tiers.closesHole} AND ${isBlockedAtOnce('ordered')})
    LIMIT ${places}
  ), taken AS (
    UPDATE head_statuses head SET attempts = head.attempts + 1 FROM (
      SELECT * FROM due WHERE tier >= 0 AND round > 0 LIMIT ${mostTaken}) due
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
    taken.head_owner AS "headOwner", taken.state,
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
