import { latest, toInstant, toLocalTime } from '../time/local-time.ts';
import { badEnd, type FreezeWindow, type WindowResult } from './freeze.ts';

const hour = 3_600_000;

/**
 * Gives a window without an end the one that the settings of its repository ask for.
 * @param hours `longest_open_end_hours`: it ends so many hours after it begins; null: it stays without end.
 */
export function limitOpenEnd(result: WindowResult, hours: number | null, now: Date): WindowResult {
  if (!result.ok || result.value.end !== null || hours === null) return result;
  const { startsAt, timezone } = result.value;
  const end = toLocalTime(new Date(Math.min(startsAt.getTime() + hours * hour, latest)), timezone);
  const endsAt = toInstant(end, timezone, 'end');
  // It would be over at once, which nobody means who asks for no end.
  if (endsAt <= now) return badEnd(`${whatIsLimited(hours)}: it would have ended at ${end}. Send an end.`);
  return { ok: true, value: { ...result.value, end, endsAt } };
}

/** What to say of a window that was asked for without an end. @returns no sentence where it stayed so. */
export const warningsOfOpenEnd = ({ end }: FreezeWindow, hours: number | null): string[] =>
  end === null || hours === null ? [] : [`${whatIsLimited(hours)}: this one ends at ${end}.`];

const whatIsLimited = (hours: number): string =>
  `Here a freeze without an end is given one ${hours} ${hours === 1 ? 'hour' : 'hours'} after it begins (\`longest_open_end_hours\`)`;
