import { latest, toInstant, toLocalTime } from '../time/local-time.ts';
import { badEnd, type FreezeWindow, type WindowResult } from './freeze.ts';

const hour = 3_600_000;

/** The end so many hours after a window begins, by its wall clock and as an instant. */
export function endAfter(
  { startsAt, timezone }: Pick<FreezeWindow, 'startsAt' | 'timezone'>,
  hours: number,
): { end: string; endsAt: Date } {
  const end = toLocalTime(new Date(Math.min(startsAt.getTime() + hours * hour, latest)), timezone);
  return { end, endsAt: toInstant(end, timezone, 'end') };
}

/**
 * Gives a window without an end the one that the settings of its repository ask for.
 * @param hours `longest_open_end_hours`: it ends so many hours after it begins; null: it stays without end.
 */
export function limitOpenEnd(result: WindowResult, hours: number | null, now: Date): WindowResult {
  if (!result.ok || result.value.end !== null || hours === null) return result;
  const given = endAfter(result.value, hours);
  // It would be over at once, which nobody means who asks for no end.
  if (given.endsAt <= now)
    return badEnd(`${whatIsLimited(hours)}: it would have ended at ${given.end}. Send an end.`);
  return { ok: true, value: { ...result.value, ...given } };
}

/** What to say of a window that was asked for without an end. @returns no sentence where it stayed so. */
export const warningsOfOpenEnd = ({ end }: FreezeWindow, hours: number | null): string[] =>
  end === null || hours === null ? [] : [`${whatIsLimited(hours)}: this one ends at ${end}.`];

const whatIsLimited = (hours: number): string =>
  `Here a freeze without an end is given one ${hours} ${hours === 1 ? 'hour' : 'hours'} after it begins (\`longest_open_end_hours\`)`;
