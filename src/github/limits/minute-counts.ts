import { createHmac } from 'node:crypto';
import { nowOf } from '../../time/clock.ts';
import { minute } from '../../time/units.ts';
import { deriveKey } from '../../database/secret-key.ts';
import type { Ground } from '../../database/ground.ts';

// The only access to the table of counts. It is in the database so that limits hold for all replicas together.

/** Seconds until the current minute ends. */
export const secondsLeft = (now: Date): number =>
  Math.max(1, Math.ceil((minute - (now.getTime() % minute)) / 1000));

const minuteOf = (now: Date): Date => new Date(now.getTime() - (now.getTime() % minute));

/**
 * Takes one of the `most` of the current minute.
 * @param name each has a row, so there must be few names.
 * @returns false if all are taken.
 */
export async function takeOne(
  deps: Pick<Ground, 'db' | 'clock'>,
  name: string,
  most: number,
): Promise<boolean> {
  const present = minuteOf(nowOf(deps.clock));
  // Clocks of replicas differ: a count from a minute ago still counts, and one from far ahead is dropped.
  const taken = await deps.db.$queryRaw<{ count: number }[]>`
    INSERT INTO minute_counts AS known (name, minute, count) VALUES (${name}, ${present}::timestamptz, 1)
    ON CONFLICT (name) DO UPDATE SET
      count = CASE WHEN EXCLUDED.minute = known.minute OR EXCLUDED.minute = known.minute - INTERVAL '1 minute'
        THEN known.count + 1 ELSE 1 END,
      minute = CASE WHEN EXCLUDED.minute = known.minute - INTERVAL '1 minute' THEN known.minute ELSE EXCLUDED.minute END
    WHERE known.count < ${most} OR EXCLUDED.minute NOT IN (known.minute, known.minute - INTERVAL '1 minute')
    RETURNING count`;
  return taken.length > 0;
}

/** Gives back one that was taken at `since`, if its minute is not over. */
export async function giveBackCount({ db }: Pick<Ground, 'db'>, name: string, since: Date): Promise<void> {
  await db.minuteCount.updateMany({
    where: { name, minute: { gte: minuteOf(since) }, count: { gt: 0 } },
    data: { count: { decrement: 1 } },
  });
}

type Keyed = Pick<Ground, 'config'>;

/** The number of rows for a kind of stranger, for any number of strangers. */
export const mostBuckets = 4096;

/** The same on every replica, and not in the database. Each replica has SECRET_KEY, or the App's private key. */
const bucketKeyOf = ({ config }: Keyed, use: string): Buffer =>
  deriveKey(config.secretKey ?? config.app.privateKey, use);

/** HMAC-SHA-256 in hexadecimal. A reader learns nothing about the text, and cannot make an HMAC. */
export const hmacOf = (deps: Keyed, use: string, text: string): string =>
  createHmac('sha256', bucketKeyOf(deps, use)).update(text).digest('hex');

/** Which of a fixed number of rows counts for a stranger. It is keyed, so nobody can choose another one's row. */
export const bucketOf = (deps: Keyed, kind: string, stranger: string): string =>
  `${kind} ${parseInt(hmacOf(deps, 'buckets', `${kind} ${stranger}`).slice(0, 8), 16) % mostBuckets}`;
