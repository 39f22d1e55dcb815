import type { FreezeWindow } from './freeze.ts';

const day = 86_400_000;

/** Milliseconds after which somebody may have forgotten an ongoing freeze without an end. */
const forgottenAfter = 14 * day;
/** Milliseconds between two reminders in the audit log. */
const toldEvery = 7 * day;

/** The instant before which forgotten freezes began. */
export const forgottenSince = (now: Date): Date => new Date(now.getTime() - forgottenAfter);

/** The instant before which the last reminder must be to write another one. */
export const toldAgainSince = (now: Date): Date => new Date(now.getTime() - toldEvery);

/** Whether somebody may have forgotten a freeze that is not over. */
export const isForgotten = (
  { startsAt, endsAt }: Pick<FreezeWindow, 'startsAt' | 'endsAt'>,
  now: Date,
): boolean => endsAt === null && startsAt <= forgottenSince(now);
