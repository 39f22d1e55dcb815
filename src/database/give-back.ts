import { setTimeout as sleep } from 'node:timers/promises';
import { troubleOf } from './trouble.ts';

/** Milliseconds between two tries. */
const giveBackAgainAfter = 1000;

/**
 * Gives back what nobody else may have meanwhile, such as a lease. While the database is away, this goes on behind the
 * caller: otherwise everybody would wait until the lease expires, although the database is back.
 * @param lasts milliseconds until it expires by itself.
 */
export async function giveBackWithTries(lasts: number, release: () => Promise<unknown>): Promise<void> {
  try {
    await release();
  } catch (error) {
    if (!troubleOf(error)) throw error;
    void giveBackLater(performance.now() + lasts, release);
  }
}

async function giveBackLater(until: number, release: () => Promise<unknown>): Promise<void> {
  let isAway = true;
  while (isAway && performance.now() < until) {
    await sleep(giveBackAgainAfter, undefined, { ref: false });
    isAway = await release().then(
      () => false,
      (error: unknown) => troubleOf(error) !== null,
    );
  }
}

/** Takes such a thing. If nobody knows whether it was taken, it is given back. */
export async function takeOrGiveBack<Taken>(
  lasts: number,
  take: () => Promise<Taken>,
  release: () => Promise<unknown>,
): Promise<Taken> {
  try {
    return await take();
  } catch (error) {
    if (troubleOf(error)?.isUncertain) void giveBackLater(performance.now() + lasts, release);
    throw error;
  }
}
