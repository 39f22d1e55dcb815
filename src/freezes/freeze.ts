import { isDeepStrictEqual } from 'node:util';
import type { ConditionInput } from '../conditions/ast.ts';
import { isSameLocalTime, isTimeZone, parseLocalTime, toInstant, toLocalTime } from '../time/local-time.ts';
import { suggestTimeZones } from './suggest-time-zones.ts';

/** A merge freeze of one repository. */
export type Freeze = {
  id: string;
  repositoryId: bigint;
  reason: string;
  /** Replaces the reason for everybody but admins and insiders. Undefined if it was never set, null if it was removed. */
  publicReason?: string | null;
  matchingConditions: ConditionInput[];
  excludeConditions: ConditionInput[];
  /** What it holds; undefined if never set, which means merges. */
  holds?: Holdable[];
  /** Globs of the environments whose deployments it holds; undefined if never set, which means all. */
  environments?: string[];
  /** Whether it is a pause of the merge queue. */
  isPause?: boolean;
  /** The plan that created it; absent if a person or a key did. */
  planId?: string;
} & FreezeWindow;

/** What a freeze can hold. */
export const holdables = ['merges', 'deployments'] as const;
export type Holdable = (typeof holdables)[number];

/** Whether a freeze can hold pull requests. */
export const holdsMerges = ({ holds }: Pick<Freeze, 'holds'>): boolean => holds?.includes('merges') ?? true;

/** The window of a freeze: the wall-clock times that were sent, and their instants. */
export type FreezeWindow = {
  start: string;
  /** Null if it has no end. */
  end: string | null;
  timezone: string;
  startsAt: Date;
  endsAt: Date | null;
};

/** A freeze for everybody to read: if it has a public reason, that replaces the reason. */
export const asPublic = <F extends Pick<Freeze, 'reason' | 'publicReason'>>(freeze: F): F => ({
  ...freeze,
  reason: freeze.publicReason ?? freeze.reason,
});

export type Phase = 'scheduled' | 'ongoing' | 'ended';

/** A freeze holds from its start, and no longer at its end. */
export function phaseOf({ startsAt, endsAt }: Pick<FreezeWindow, 'startsAt' | 'endsAt'>, now: Date): Phase {
  if (endsAt !== null && endsAt <= now) return 'ended';
  return startsAt <= now ? 'ongoing' : 'scheduled';
}

export type WindowProblem = { field: 'start' | 'end' | 'timezone'; message: string };

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
  const result = readWindow(input, now);
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
  const result = readWindow(input, now);
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

/**
 * Whether two versions of a freeze are equal. Ignores the spelling of times (`10:00:00.000`) and the case of zones.
 * Another wall-clock time or zone is a difference, even if it names the same instant.
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

/** The instants of both times, before they are compared. */
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
export const badEnd = (message: string): WindowResult => invalid([{ field: 'end', message }]);

const invalid = (problems: WindowProblem[]): WindowResult => ({ ok: false, reason: 'invalid', problems });
