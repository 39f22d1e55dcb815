import { leftForPrompt } from './plan-write.ts';
import { type Holds, isAnyDue, mostTaken, take } from './take-writes.ts';

// The parameters of every statement about the lease: $1 the installation, $2 the holder, $3 to $7 the pace that the
// holder knows, $8 the turns that it knows, $9 the end of the lease, $10 now. Of a take, $11 how many writes may go, and
// $12 how many of them may be of those that can wait.
const isHolder = 'id = $1::int8 AND lease_holder = $2::uuid';
const keepsPace = (tokens = '$4::float8') => `pace_per_minute = $3::float8, pace_tokens = ${tokens},
  pace_counted_at = $5::timestamptz, pace_refused = $6::float8, pace_refused_at = $7::timestamptz,
  write_turns = $8::text[]`;

/** Among the turns: holes of large freezes took all that the pace allowed, so more of them wait. */
export const manyTurn = 'many';

/**
 * The first take gets the lease and as many writes as the pace allowed when it was last counted. Under instant holds it
 * gets the lease alone.
 */
export const firstTake = take(
  'without holds',
  'id = $1::int8 AND (lease_until IS NULL OR lease_until <= $10::timestamptz)',
  'least($11::int, greatest(0, floor(coalesce(pace_tokens, $4::float8))::int))',
  `CASE WHEN '${manyTurn}' = ANY (write_turns) AND pace_tokens < floor(pace_per_minute / 4) / 2 + 1
    THEN floor(pace_tokens - floor(pace_per_minute * ${leftForPrompt}::float8))::int ELSE ${mostTaken} END`,
  `pace_per_minute = coalesce(pace_per_minute, $3::float8),
    pace_tokens = coalesce(pace_tokens, $4::float8) - (SELECT count(*) FROM taken),
    pace_counted_at = coalesce(pace_counted_at, $5::timestamptz),
    pace_refused = coalesce(pace_refused, $6::float8),
    pace_refused_at = coalesce(pace_refused_at, $7::timestamptz),
    write_turns = coalesce(write_turns, $8::text[])`,
  'write_turns',
);

const nextTake = (holds: Holds) =>
  take(
    holds,
    isHolder,
    '$11::int',
    '$12::int',
    keepsPace('$4::float8 - (SELECT count(*) FROM taken)'),
    '$8::text[]',
  );
export const takeWithoutHolds = nextTake('without holds');
export const takeUnderHolds = nextTake('under holds');

export const keepText = `UPDATE installations SET ${keepsPace()}, lease_until = $9::timestamptz WHERE ${isHolder} RETURNING id`;

export const releaseText = `UPDATE installations SET ${keepsPace()}, lease_until = NULL, lease_holder = NULL WHERE ${isHolder}`;

/** Of a take whose answer was lost: the pace that it left is in the database. */
export const forgetText = `UPDATE installations SET lease_until = NULL, lease_holder = NULL WHERE ${isHolder}`;

export const releaseUnlessDueText = `
  UPDATE installations SET ${keepsPace()}, (lease_holder, lease_until) = (
    SELECT CASE WHEN is_due THEN $2::uuid END, CASE WHEN is_due THEN $9::timestamptz END
    FROM (SELECT ${isAnyDue('$10')} AS is_due) AS left_over)
  WHERE ${isHolder} RETURNING lease_holder AS holder`;
