import { isDeepStrictEqual } from 'node:util';
import type { ConditionInput } from '../conditions/ast.ts';
import { isSameLocalTime, isTimeZone, parseLocalTime, toInstant, toLocalTime } from '../time/local-time.ts';
import { suggestTimeZones } from './suggest-time-zones.ts';

/** A merge freeze of one repository. */
export type Freeze = {
  id: string;
  repositoryId: bigint;
  reason: string;
  /** What everybody but admins and insiders reads instead; undefined: it was never set, null: it was taken away. */
  publicReason?: string | null;
  matchingConditions: ConditionInput[];
  excludeConditions: ConditionInput[];
  /** What it holds; undefined: it was never set, which is merges. */
  holds?: Holdable[];
  /** Globs over the environments whose deployments it holds; undefined: it was never set, which is all of them. */
  environments?: string[];
  /** Whether it was made by the call that pauses the merge queue. */
  isPause?: boolean;
  /** The plan that made it; absent where a person or a key did. */
  planId?: string;
} & FreezeWindow;

/** What a freeze can hold. */
export const holdables = ['merges', 'deployments'] as const;
export type Holdable = (typeof holdables)[number];

/** Whether a freeze can hold pull requests. */
export const holdsMerges = ({ holds }: Pick<Freeze, 'holds'>): boolean => holds?.includes('merges') ?? true;

/** From when to when: the wall-clock times that were sent, and the instants that they name. */
export type FreezeWindow = {
  start: string;
  /** null: until it is removed. */
  end: string | null;
  timezone: string;
  startsAt: Date;
  endsAt: Date | null;
};

/** A freeze as everybody may read it: with its public reason, where it has one, in the place of the reason. */
export const asPublic = <F extends Pick<Freeze, 'reason' | 'publicReason'>>(freeze: F): F => ({
  ...freeze,
  reason: freeze.publicReason ?? freeze.reason,
});

export type Phase = 'scheduled' | 'ongoing' | 'ended';

/** A freeze holds from its start on and no longer at its end. */
export function phaseOf({ startsAt, endsAt }: Pick<FreezeWindow, 'startsAt' | 'endsAt'>, now: Date): Phase {
  if (endsAt !== null && endsAt <= now) return 'ended';
  return startsAt <= now ? 'ongoing' : 'scheduled';
}

export type WindowProblem = { field: 'start' | 'end' | 'timezone'; message: string };

export type WindowResult =
  | { ok: true; value: FreezeWindow }
  /** The start of a freeze that has begun would move. */
  | { ok: false; reason: 'start-already-passed' }
  | { ok: false; reason: 'invalid'; problems: WindowProblem[] };

/** The times of a request. `start: null` begins now; `end: null` never ends. */
export type WindowInput = { start: string | null; end: string | null; timezone: string };

/**
 * The window of a new freeze: any start, also a past one; an end after it and in the future.
 * @returns every problem, not only the first.
 */
export function planWindow(input: WindowInput, now: Date): WindowResult {
  const result = readWindow(input, now);
  if (!result.ok || result.value.endsAt === null || result.value.endsAt > now) return inOrder(result);
  return badEnd('The end has passed. Send one in the future, or null for no end.');
}

/**
 * The window of a changed freeze. `undefined` leaves a field as it is. The start of a freeze that has begun stays
 * at its instant, whether `start` or `timezone` would move it. Its end may be set to the past: that ends it.
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
  const result = readWindow(input, now);
  if (!result.ok) return result;
  const isSameText = result.value.start === freeze.start && input.timezone === freeze.timezone;
  // A start of "now" in a repeated hour may have a text that names the hour before: the instant stays.
  const value = isSameText ? { ...result.value, startsAt: freeze.startsAt } : result.value;
  const isMoved = value.startsAt.getTime() !== freeze.startsAt.getTime();
  if (isMoved && phaseOf(freeze, now) !== 'scheduled') return { ok: false, reason: 'start-already-passed' };
  // Of a freeze that has begun, an end in the past says when it ended; of one that has not, it says nothing.
  if (phaseOf({ ...value, endsAt: null }, now) === 'scheduled' && value.endsAt && value.endsAt <= now) {
    return badEnd(
      'The end has passed, and the freeze has not begun. Send one after the start, or delete it.',
    );
  }
  return inOrder({ ok: true, value });
}

/**
 * Whether two versions of a freeze say the same. The spelling of a time makes no difference (`10:00:00.000`), nor do the
 * letters of a zone; another wall-clock time or zone does, even where it names the same instant.
 */
export function saysTheSame(one: Freeze, other: Freeze): boolean {
  const { start, end, timezone, ...rest } = one;
  const { start: otherStart, end: otherEnd, timezone: otherZone, ...otherRest } = other;
  return (
    isSameLocalTime(start, otherStart) &&
    (end === null || otherEnd === null ? end === otherEnd : isSameLocalTime(end, otherEnd)) &&
    timezone.toLowerCase() === otherZone.toLowerCase() &&
    isDeepStrictEqual(rest, otherRest)
  );
}

/** The instants of both times, not yet compared with each other. */
function readWindow({ start, end, timezone }: WindowInput, now: Date): WindowResult {
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
  if (problems.length > 0) return invalid(problems);
  // To the second: a start that is shown without fractions is one that can be sent back.
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

/** The refusal of a window whose end cannot be. */
export const badEnd = (message: string): WindowResult => invalid([{ field: 'end', message }]);

const invalid = (problems: WindowProblem[]): WindowResult => ({ ok: false, reason: 'invalid', problems });
