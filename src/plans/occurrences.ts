import { Temporal } from 'temporal-polyfill';
import { isDateText, toInstant, toLocalTime } from '../time/local-time.ts';
import { datesOfRule, parseRule, type Rule } from './rule.ts';
import { endAfter } from '../freezes/freeze-window.ts';
import { type OccurrenceChanges, withChanges } from './changed-occurrences.ts';
import type { SourceWindow } from './source/source-window.ts';
import { day } from '../time/units.ts';

/** How a plan repeats. All dates are local, such as `2026-12-24`. */
export type Recurrence = {
  rule: string;
  /** No occurrence begins on these dates. They count for COUNT. */
  except: string[];
  /** The last date on which an occurrence may begin; null for no limit. */
  until: string | null;
};

/** The first window of a plan in wall-clock time, and how it repeats. */
export type Schedule = {
  start: string;
  /** Null if it has no end. */
  end: string | null;
  timezone: string;
  /** Null if it does not repeat. */
  recurrence: Recurrence | null;
  /** The events of the calendar that it follows instead; null if it follows none. */
  source: { windows: SourceWindow[] } | null;
  /** The occurrences that somebody skipped or moved. */
  changes?: OccurrenceChanges;
};

/** Whether it has one window only. */
export const isOnce = ({ recurrence, source }: Pick<Schedule, 'recurrence' | 'source'>): boolean =>
  recurrence === null && source === null;

/**
 * One window of a plan.
 * @property key tells it from the others of the plan: its local date, or the key of an event.
 */
export type Occurrence = {
  key: string;
  start: string;
  end: string | null;
  startsAt: Date;
  endsAt: Date | null;
  /** Whether somebody moved it. */
  isMoved?: true;
};

/** We ignore later occurrences, so that the expansion of any rule ends soon. */
export const yearsAhead = 50;
const lastYear = 9999;
const later = (date: string, years: number): string => {
  const { year } = Temporal.PlainDate.from(date);
  return Temporal.PlainDate.from(date)
    .add({ years: Math.min(years, lastYear - year) })
    .toString();
};

/**
 * The occurrences of a plan that are not over at an instant, earliest first, including an ongoing one. Lazy: computes
 * only what the caller takes.
 */
export const occurrencesFrom = (schedule: Schedule, now: Date): Generator<Occurrence> =>
  withChanges(plannedFrom(schedule, now), schedule, now);

/** The same as the plan itself has them, before somebody skipped or moved one. */
function* plannedFrom(schedule: Schedule, now: Date): Generator<Occurrence> {
  if (schedule.source) return yield* allOfSource(schedule).filter(({ endsAt }) => endsAt! > now);
  const today = toLocalTime(now, schedule.timezone).slice(0, 10);
  const first = schedule.start.slice(0, 10);
  const from = Temporal.PlainDate.from(today).subtract(reach(schedule)).toString();
  for (const date of datesFrom(schedule, from, later(first > today ? first : today, yearsAhead))) {
    const occurrence = occurrenceOn(schedule, date);
    if (occurrence.endsAt === null || occurrence.endsAt > now) yield occurrence;
  }
}

/** Every occurrence of a plan that follows a calendar, also those that are over, earliest first. */
export function allOfSource({ source, timezone }: Pick<Schedule, 'source' | 'timezone'>): Occurrence[] {
  return (source?.windows ?? [])
    .map((window) => occurrenceOf(window, timezone))
    .toSorted(
      (one, other) => one.startsAt.getTime() - other.startsAt.getTime() || (one.key < other.key ? -1 : 1),
    );
}

function occurrenceOf({ key, start, end }: SourceWindow, timezone: string): Occurrence {
  if (!start.endsWith('Z')) return { key, start, end, ...instantsOf(start, end, timezone) };
  const [startsAt, endsAt] = [new Date(start), new Date(end)];
  return {
    key,
    start: toLocalTime(startsAt, timezone),
    end: toLocalTime(endsAt, timezone),
    startsAt,
    endsAt,
  };
}

/** How long ago an occurrence may have begun that is not over: its length, plus a day for zones. */
const reach = ({ start, end }: Schedule): Temporal.Duration => {
  const { days } = end === null ? { days: 0 } : lengthOf(start, end);
  return Temporal.Duration.from({ days: days + 2 });
};

/** The length of a window in wall-clock time. */
const lengthOf = (start: string, end: string): Temporal.Duration =>
  Temporal.PlainDateTime.from(start).until(end, { largestUnit: 'day' });

/** The wall-clock end of a window that begins at `start` and is as long as the plan's first window. */
export const endOfOccurrence = (start: string, schedule: Pick<Schedule, 'start' | 'end'>): string | null =>
  schedule.end === null
    ? null
    : start === schedule.start
      ? schedule.end
      : Temporal.PlainDateTime.from(start).add(lengthOf(schedule.start, schedule.end)).toString();

/** The instants of a window, by the rules of freezes. A window inside a clock gap moves after the gap. */
export function instantsOf(
  start: string,
  end: string | null,
  timezone: string,
): Pick<Occurrence, 'startsAt' | 'endsAt'> {
  const startsAt = toInstant(start, timezone, 'start');
  if (end === null) return { startsAt, endsAt: null };
  const endsAt = toInstant(end, timezone, 'end');
  if (endsAt > startsAt) return { startsAt, endsAt };
  return { startsAt, endsAt: new Date(startsAt.getTime() + lengthOf(start, end).total('milliseconds')) };
}

function occurrenceOn(schedule: Schedule, date: string): Occurrence {
  const start = date + schedule.start.slice('2026-12-24'.length);
  const end = endOfOccurrence(start, schedule);
  return { key: date, start, end, ...instantsOf(start, end, schedule.timezone) };
}

/** The occurrence of this key as the plan itself has it, even if it is over; undefined if it has none. */
export const plannedAs = (schedule: Schedule, key: string): Occurrence | undefined =>
  schedule.source ? allOfSource(schedule).find((each) => each.key === key) : plannedOn(schedule, key)[0];

/**
 * The occurrences that begin at a wall-clock time as the plan itself has them, even if they are over. Several events of a
 * calendar may begin at one time.
 */
export const plannedAt = (schedule: Schedule, start: string): Occurrence[] =>
  (schedule.source ? allOfSource(schedule) : plannedOn(schedule, start.slice(0, 10))).filter(
    (each) => each.start === start,
  );

const plannedOn = (schedule: Schedule, date: string): Occurrence[] =>
  isDateText(date) ? [...datesFrom(schedule, date, date)].map((each) => occurrenceOn(schedule, each)) : [];

/** The local dates on which occurrences begin, in order. @param from the first date. @param to the last date. */
function* datesFrom(schedule: Schedule, from: string, to: string): Generator<string> {
  const first = schedule.start.slice(0, 10);
  if (schedule.recurrence === null) return yield first;
  const { except, until } = schedule.recurrence;
  const rule = ruleOf(schedule.recurrence);
  const last = [to, until ?? to, lastCounted(rule, first, to)].sort()[0]!;
  for (const date of datesOfRule(rule, first, from, last)) if (!except.includes(date)) yield date;
}

function ruleOf({ rule }: Recurrence): Rule {
  const parsed = parseRule(rule);
  if (!parsed.ok) throw new Error(`A plan has a rule that cannot be read: ${parsed.message}`);
  return parsed.rule;
}

/** The last date that COUNT allows, or `to`, whichever is earlier. */
function lastCounted(rule: Rule, first: string, to: string): string {
  const count = Number(rule.parts.get('COUNT') ?? Infinity);
  if (count === Infinity) return to;
  let counted = 0;
  for (const date of datesOfRule(rule, first, first, to)) if (++counted === count) return date;
  return to;
}

/** The calendar repeats after this many years, except around centuries. */
const yearsCompared = 28;

/** Whether two occurrences overlap in wall-clock time. Windows of at most a day cannot, as they begin on different dates. */
export function overlapsItself(schedule: Schedule): boolean {
  const { start, end, recurrence } = schedule;
  if (recurrence === null || end === null) return false;
  const length = lengthOf(start, end);
  if (length.total('hours') <= 24) return false;
  const first = start.slice(0, 10);
  let before: string | null = null;
  for (const date of datesFrom(schedule, first, later(first, yearsCompared))) {
    if (before !== null && endOfOccurrence(before + start.slice(10), schedule)! > date + start.slice(10))
      return true;
    before = date;
  }
  return false;
}

/** The very first occurrence, even if it is over; null if there is none within 50 years of the start. */
export function firstOccurrence(schedule: Schedule): Occurrence | null {
  if (schedule.source) return allOfSource(schedule)[0] ?? null;
  const first = schedule.start.slice(0, 10);
  for (const date of datesFrom(schedule, first, later(first, yearsAhead)))
    return occurrenceOn(schedule, date);
  return null;
}

/**
 * The dates of `except` on which the rule starts nothing, each with the nearest date on which it does. As with other
 * rules, only the first 50 years count.
 */
export function exceptionsOfNothing(schedule: Schedule): { date: string; nearest: string }[] {
  const { start, recurrence } = schedule;
  if (!recurrence || recurrence.except.length === 0) return [];
  const first = start.slice(0, 10);
  const end = later(first, yearsAhead);
  const dates = [...new Set(recurrence.except)].filter((date) => date <= end).sort();
  const starts: string[] = [];
  for (const date of datesFrom({ ...schedule, recurrence: { ...recurrence, except: [] } }, first, end)) {
    starts.push(date);
    if (date > dates.at(-1)!) break;
  }
  const distance = (one: string, other: string) => Math.abs(Date.parse(one) - Date.parse(other));
  return dates.flatMap((date) => {
    const at = starts.findIndex((each) => each >= date);
    if (starts[at] === date) return [];
    const [before, after] = [starts.at(at < 0 ? -1 : Math.max(0, at - 1))!, starts.at(at)!];
    return [{ date, nearest: distance(before, date) <= distance(after, date) ? before : after }];
  });
}

/** How many days ahead freezes are created. */
export const daysMade = 35;

/**
 * The occurrences that get freezes: those that begin within 35 days, and at least the next one.
 * @param slack extra days and occurrences for existing freezes, because the clocks of replicas differ.
 */
export function occurrencesToMake(schedule: Schedule, now: Date, slack = 0): Occurrence[] {
  const to = new Date(now.getTime() + (daysMade + slack) * day);
  const made: Occurrence[] = [];
  let coming = 0;
  for (const occurrence of occurrencesFrom(schedule, now)) {
    if (occurrence.startsAt > to && coming > slack) break;
    if (occurrence.startsAt > now) coming += 1;
    made.push(occurrence);
  }
  return made;
}

/**
 * An occurrence in the repositories whose `longest_open_end_hours` gives it the same end.
 * @property hours the setting; 0 if it does not apply.
 */
export type OccurrenceWindow = Occurrence & { hours: number };

/** The setting of a repository that decides the ends of a plan's freezes; 0 if the plan decides. */
export const hoursIn = (
  plan: Pick<Schedule, 'end'>,
  { longestOpenEndHours }: { longestOpenEndHours: number | null },
): number => (plan.end === null ? (longestOpenEndHours ?? 0) : 0);

/** The occurrences of a plan in repositories with these settings. */
export function windowsOf(
  plan: Schedule,
  occurrences: Occurrence[],
  settings: Iterable<number>,
): OccurrenceWindow[] {
  const all = [...new Set(settings)];
  return occurrences.flatMap((occurrence) =>
    all.map((hours) => ({
      ...occurrence,
      ...(hours > 0 && endAfter({ startsAt: occurrence.startsAt, timezone: plan.timezone }, hours)),
      hours,
    })),
  );
}
