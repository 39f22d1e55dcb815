import { nearNames } from '../conditions/suggest-names.ts';
import { isTimeZone, latestTime, parseLocalTime, toInstant, toLocalTime } from '../time/local-time.ts';
import { hour } from '../time/units.ts';

/** The window of a freeze: the wall-clock times that were sent, and their instants. */
export type FreezeWindow = {
  start: string;
  /** Null if it has no end. */
  end: string | null;
  timezone: string;
  startsAt: Date;
  endsAt: Date | null;
};

export type FreezePhase = 'scheduled' | 'ongoing' | 'ended';

/** A freeze holds from its start, and no longer at its end. */
export function phaseOf(
  { startsAt, endsAt }: Pick<FreezeWindow, 'startsAt' | 'endsAt'>,
  now: Date,
): FreezePhase {
  if (endsAt !== null && endsAt <= now) return 'ended';
  return startsAt <= now ? 'ongoing' : 'scheduled';
}

/** What the clock does to a freeze. What comes in an hour is worth telling only until it is there. */
type Boundary = {
  type: 'freeze.starting_soon' | 'freeze.started' | 'freeze.ending_soon' | 'freeze.ended';
  at: Date;
  until?: Date;
};

/** When a freeze begins and ends, and an hour before each, in their order. A freeze of an hour or less does not end soon. */
function boundariesOf({ startsAt, endsAt }: Pick<FreezeWindow, 'startsAt' | 'endsAt'>): Boundary[] {
  const ahead = (instant: Date) => ({ at: new Date(instant.getTime() - hour), until: instant });
  return [
    { type: 'freeze.starting_soon', ...ahead(startsAt) },
    { type: 'freeze.started', at: startsAt },
    ...(endsAt === null || ahead(endsAt).at <= startsAt
      ? []
      : [{ type: 'freeze.ending_soon', ...ahead(endsAt) } as const]),
    ...(endsAt === null ? [] : [{ type: 'freeze.ended', at: endsAt } as const]),
  ];
}

/** When the clock next does something to a freeze; null for never again. */
export const nextBoundary = (window: Pick<FreezeWindow, 'startsAt' | 'endsAt'>, after: Date): Date | null =>
  boundariesOf(window).find(({ at }) => at > after)?.at ?? null;

/** What the clock did to a freeze from an instant until now. */
export const boundariesSince = (
  window: Pick<FreezeWindow, 'startsAt' | 'endsAt'>,
  since: Date,
  now: Date,
): Boundary[] =>
  boundariesOf(window).filter(
    ({ at, until }) => at >= since && at <= now && (until === undefined || until > now),
  );

type WindowProblem = { field: 'start' | 'end' | 'timezone'; message: string };

export type WindowResult =
  | { ok: true; value: FreezeWindow }
  /** The change would move the start of a freeze that has begun. */
  | { ok: false; reason: 'start-already-passed' }
  | { ok: false; reason: 'invalid'; problems: WindowProblem[] };

/** The times of a request. `start: null` means now, `end: null` means no end. */
export type WindowInput = { start: string | null; end: string | null; timezone: string };

/**
 * The window of a new freeze. The start may be in the past. The end must be after the start and in the future.
 * @returns every problem, not only the first.
 */
export function planWindow(input: WindowInput, now: Date): WindowResult {
  const result = readFreezeWindow(input, now);
  if (!result.ok || result.value.endsAt === null || result.value.endsAt > now) return inOrder(result);
  return badEnd('The end has passed. Send one in the future, or null for no end.');
}

/**
 * The window of a changed freeze. `undefined` keeps a field. Neither `start` nor `timezone` may move the start of a
 * freeze that has begun. Its end may be in the past, which ends it.
 */
export function reviseWindow(
  freeze: FreezeWindow,
  change: { start?: string | null; end?: string | null; timezone?: string },
  now: Date,
): WindowResult {
  const input = {
    start: change.start === undefined ? freeze.start : change.start,
    end: change.end === undefined ? freeze.end : change.end,
    timezone: change.timezone ?? freeze.timezone,
  };
  const result = readFreezeWindow(input, now);
  if (!result.ok) return result;
  const isSameText = result.value.start === freeze.start && input.timezone === freeze.timezone;
  // In a repeated hour, the text of a start of "now" may name the earlier hour. Keep the instant.
  const value = isSameText ? { ...result.value, startsAt: freeze.startsAt } : result.value;
  const isMoved = value.startsAt.getTime() !== freeze.startsAt.getTime();
  if (isMoved && phaseOf(freeze, now) !== 'scheduled') return { ok: false, reason: 'start-already-passed' };
  // An end in the past ends a freeze that has begun. For a freeze that has not begun, it makes no sense.
  if (phaseOf({ ...value, endsAt: null }, now) === 'scheduled' && value.endsAt && value.endsAt <= now) {
    return badEnd(
      'The end has passed, and the freeze has not begun. Send one after the start, or delete it.',
    );
  }
  return inOrder({ ok: true, value });
}

/** The instants of both times, before they are compared. */
function readFreezeWindow({ start, end, timezone }: WindowInput, now: Date): WindowResult {
  const problems: WindowProblem[] = [];
  if (!isTimeZone(timezone)) {
    const message = `This is not a time zone. ${suggestTimeZones(timezone)}`;
    problems.push({ field: 'timezone', message });
  }
  const read = (field: 'start' | 'end', text: string | null): string | null => {
    const parsed = text === null ? null : parseLocalTime(text);
    if (parsed && !parsed.ok) problems.push({ field, message: parsed.message });
    return parsed?.ok ? parsed.value : null;
  };
  const givenStart = read('start', start);
  const givenEnd = read('end', end);
  if (problems.length > 0) return invalidWindow(problems);
  // In whole seconds, so that clients can send back the start that they see.
  const wholeSecond = new Date(Math.floor(now.getTime() / 1000) * 1000);
  const value = {
    start: givenStart ?? toLocalTime(wholeSecond, timezone),
    end: givenEnd,
    timezone,
    startsAt: givenStart === null ? wholeSecond : toInstant(givenStart, timezone, 'start'),
    endsAt: givenEnd === null ? null : toInstant(givenEnd, timezone, 'end'),
  };
  return { ok: true, value };
}

function inOrder(result: WindowResult): WindowResult {
  if (!result.ok || result.value.endsAt === null || result.value.endsAt > result.value.startsAt)
    return result;
  return badEnd('The end must be after the start.');
}

/** The problem of a window with an invalid end. */
const badEnd = (message: string): WindowResult => invalidWindow([{ field: 'end', message }]);

const invalidWindow = (problems: WindowProblem[]): WindowResult => ({
  ok: false,
  reason: 'invalid',
  problems,
});

/** The end this many hours after a window begins, as wall-clock time and as an instant. */
export function endAfter(
  { startsAt, timezone }: Pick<FreezeWindow, 'startsAt' | 'timezone'>,
  hours: number,
): { end: string; endsAt: Date } {
  const end = toLocalTime(new Date(Math.min(startsAt.getTime() + hours * hour, latestTime)), timezone);
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

/** Common names that are missing from the runtime's list, which has one name for each zone, often the older one. */
const otherNames = [
  'America/Argentina/Buenos_Aires',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Etc/UTC',
  'Europe/Kyiv',
  'US/Central',
  'US/Eastern',
  'US/Mountain',
  'US/Pacific',
  'UTC',
];

const zoneNames = [...Intl.supportedValuesOf('timeZone'), ...otherNames];

/** No zone has a longer name, so longer texts get no suggestion. Digits are part of an offset, which is not a name. */
const mayBeName = (text: string): boolean => text.length <= 40 && !/\d/.test(text);
/** If there are more matches, the text is half of a name rather than a typo. */
const mostMeant = 3;

/** A sentence that suggests what to send instead of an invalid time zone. */
function suggestTimeZones(text: string): string {
  const near = mayBeName(text)
    ? nearNames(text.trim().replaceAll(' ', '_'), zoneNames).filter(isTimeZone)
    : [];
  if (near.length > 0 && near.length <= mostMeant) return `Did you mean ${near.join(' or ')}?`;
  return 'Send an IANA name such as Europe/Paris, America/New_York or UTC.';
}
