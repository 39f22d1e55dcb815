import type { FreezeWindow } from './freeze.ts';

const day = 86_400_000;

/** Whoever made a freeze without an end that has been on for so long may have forgotten it. Milliseconds. */
const forgottenAfter = 14 * day;
/** How often the audit log is told of it. Milliseconds. */
const toldEvery = 7 * day;

/** Freezes without an end that began by then may be forgotten. */
export const forgottenSince = (now: Date): Date => new Date(now.getTime() - forgottenAfter);

/** Those of them that the audit log was last told of by then are told of again. */
export const toldAgainSince = (now: Date): Date => new Date(now.getTime() - toldEvery);

/** Whether a freeze that is not over may be forgotten. */
export const isForgotten = (
  { startsAt, endsAt }: Pick<FreezeWindow, 'startsAt' | 'endsAt'>,
  now: Date,
): boolean => endsAt === null && startsAt <= forgottenSince(now);
