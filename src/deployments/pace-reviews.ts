import { nowOf } from '../time/clock.ts';
import type { SqlTx } from '../database/sql.ts';
import type { Deps } from '../deps.ts';
import {
  afterAccepted,
  afterRefusal,
  isPressed,
  type Pace,
  paceAt,
  placesIn,
} from '../statuses/plan-write.ts';
import { isAnyDue } from '../statuses/write-store.ts';

// How fast we review the deployments of an installation. GitHub limits all writes together, so statuses that wait go on
// at their own pace, and reviews get the rest.

/** GitHub takes 900 points a minute from an installation, and a write costs 5. */
const range = { least: 20, most: 180 };

/** Milliseconds in which refusals are one: several reviews were under way. */
const oneRefusal = 60_000;

type Stored = { pace: Pace; statuses: number; isPaused: boolean };

/** Locks the row: reviews of several processes are counted one after another. */
const readText = `
  SELECT review_pace AS pace, CASE WHEN lease_until > $2::timestamptz OR ${isAnyDue('$2')}
    THEN coalesce(pace_per_minute, 0) ELSE 0 END AS statuses,
    coalesce(paused_until > $2::timestamptz, false) AS is_paused
  FROM installations WHERE id = $1::int8 FOR NO KEY UPDATE`;

async function read(tx: SqlTx, installationId: bigint, now: Date): Promise<Stored> {
  type Row = { pace: { [Field in keyof Pace]: unknown } | null; statuses: number; is_paused: boolean };
  const [row] = await tx.query<Row>('read-review-pace', readText, [installationId, now]);
  const unused: Pace = { perMinute: range.most, tokens: Infinity, countedAt: now, refused: null };
  const { pace, statuses, is_paused: isPaused } = row!;
  return { pace: pace ? fromJson(pace as never) : unused, statuses, isPaused };
}

const fromJson = ({ countedAt, refused, ...pace }: Pace): Pace => ({
  ...pace,
  countedAt: new Date(countedAt),
  refused: refused && { ...refused, at: new Date(refused.at) },
});

const save = (tx: SqlTx, installationId: bigint, pace: Pace) =>
  tx.query('keep-review-pace', 'UPDATE installations SET review_pace = $2::jsonb WHERE id = $1::int8', [
    installationId,
    JSON.stringify(pace),
  ]);

type Needed = Pick<Deps, 'sql' | 'clock'>;

/** Takes a place in the pace for a review. @returns false if there is none now. */
export function takeReview({ sql, clock }: Needed, installationId: bigint): Promise<boolean> {
  const now = nowOf(clock);
  return sql.transaction(async (tx) => {
    const { pace: stored, statuses, isPaused } = await read(tx, installationId, now);
    const left = { ...range, most: Math.max(range.least, range.most - statuses) };
    const pace = paceAt(stored, left, now);
    if (isPaused || placesIn(pace) === 0) return false;
    // GitHub accepted the reviews before this one, or the pace would be lower.
    const { perMinute } = isPressed(pace) ? afterAccepted(stored, 1, range, now) : stored;
    await save(tx, installationId, { ...pace, perMinute, tokens: pace.tokens - 1 });
    return true;
  });
}

/** GitHub refused a review, because too many came. */
export async function slowReviews({ sql, clock }: Needed, installationId: bigint): Promise<void> {
  const now = nowOf(clock);
  await sql.transaction(async (tx) => {
    const { pace } = await read(tx, installationId, now);
    if (pace.refused && now.getTime() - pace.refused.at.getTime() < oneRefusal) return;
    await save(tx, installationId, afterRefusal(paceAt(pace, range, now), range, now));
  });
}
