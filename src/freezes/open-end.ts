import { latest, toInstant, toLocalTime } from '../time/local-time.ts';
import { badEnd, type FreezeWindow, type WindowResult } from './freeze.ts';

const hour = 3_600_000;

/** The end this many hours after a window begins, as wall-clock time and as an instant. */
export function endAfter(
  { startsAt, timezone }: Pick<FreezeWindow, 'startsAt' | 'timezone'>,
  hours: number,
): { end: string; endsAt: Date } {
  const end = toLocalTime(new Date(Math.min(startsAt.getTime() + hours * hour, latest)), timezone);
  return { end, endsAt: toInstant(end, timezone, 'end') };
}

/**
 * Gives a window without an end the end that the repository's settings require.
 * @param hours `longest_open_end_hours`: the window ends this many hours after it begins; null if it keeps no end.
 */
export function limitOpenEnd(result: WindowResult, hours: number | null, now: Date): WindowResult {
  if (!result.ok || result.value.end !== null || hours === null) return result;
  const given = endAfter(result.value, hours);
  // The freeze would be over at once, which is not what a person wants who sends no end.
  if (given.endsAt <= now)
    return badEnd(`${whatIsLimited(hours)}: it would have ended at ${given.end}. Send an end.`);
  return { ok: true, value: { ...result.value, ...given } };
}

/** The warning about a window that was sent without an end. @returns no sentence if it still has none. */
export const warningsOfOpenEnd = ({ end }: FreezeWindow, hours: number | null): string[] =>
  end === null || hours === null ? [] : [`${whatIsLimited(hours)}: this one ends at ${end}.`];

const whatIsLimited = (hours: number): string =>
  `Here a freeze without an end is given one ${hours} ${hours === 1 ? 'hour' : 'hours'} after it begins (\`longest_open_end_hours\`)`;
