import { Temporal } from 'temporal-polyfill';
import { isDateText } from '../time/local-time.ts';
import { parseRule, type Rule } from './rule.ts';

/** How a plan repeats, in the words of people. Most rules can be said so; the others stay rules. */
type Repetition = {
  /** Every so many units. */
  every: number;
  unit: Unit;
  /** For weeks: the days, `MO` to `SU`; empty for the day of the start. */
  days: Day[];
  monthlyOn: MonthlyOn;
};

/** For months: on the date of the start, on its weekday, such as the third Saturday, or on the last such day. */
export type MonthlyOn = 'date' | 'weekday' | 'last';

export const units = { day: 'DAILY', week: 'WEEKLY', month: 'MONTHLY', year: 'YEARLY' } as const;
export type Unit = keyof typeof units;

/** The days of a week, by their names in rules. */
export const weekDays = {
  MO: 'Monday',
  TU: 'Tuesday',
  WE: 'Wednesday',
  TH: 'Thursday',
  FR: 'Friday',
  SA: 'Saturday',
  SU: 'Sunday',
} as const;
type Day = keyof typeof weekDays;
export const dayNames = Object.keys(weekDays) as Day[];

/** The RRULE of a repetition. @param start of the first occurrence: a wall-clock time. */
export function ruleOf({ every, unit, days, monthlyOn }: Repetition, start: string): string {
  const on =
    unit === 'week' && days.length > 0
      ? inOrder(days).join(',')
      : unit === 'month' && monthlyOn !== 'date'
        ? weekdayOf(start, monthlyOn)
        : '';
  return `FREQ=${units[unit]}${every === 1 ? '' : `;INTERVAL=${every}`}${on && `;BYDAY=${on}`}`;
}

/** How a rule can be said; null for a rule that needs more words than these. */
export function repetitionOf(rule: string, start: string): Repetition | null {
  const parsed = parseRule(rule);
  if (!parsed.ok) return null;
  const { parts } = parsed.rule;
  const unit = (Object.keys(units) as Unit[]).find((each) => units[each] === parts.get('FREQ'));
  const every = Number(parts.get('INTERVAL') ?? 1);
  const byDay = parts.get('BYDAY')?.split(',') ?? [];
  if (!unit) return null;
  const days = unit === 'week' ? (byDay as Day[]) : [];
  const monthlyOn = byDay.length === 0 ? 'date' : byDay[0]!.startsWith('-1') ? 'last' : 'weekday';
  const said: Repetition = { every, unit, days, monthlyOn };
  // Whatever was not understood is missing in the rule that these words make.
  return isSameRule(parsed.rule, ruleOf(said, start)) ? said : null;
}

/** A repetition as the fields of a form: how often is what people typed. */
export type RepetitionFields = Omit<Repetition, 'every'> & { every: string };

/** What a form begins with. */
export const everyWeek: RepetitionFields = { every: '1', unit: 'week', days: [], monthlyOn: 'date' };

/**
 * The rule that the fields of a form say.
 * @param start of the first occurrence. If it is not a time, the first Monday of a month stands in for its day.
 * @returns null if people did not type how often.
 */
export function ruleOfFields({ every, ...chosen }: RepetitionFields, start: string): string | null {
  if (!/^[1-9]\d{0,3}$/.test(every)) return null;
  const date = start.slice(0, 10);
  return ruleOf({ ...chosen, every: Number(every) }, isDateText(date) ? date : firstMonday);
}

const firstMonday = '2026-06-01';

/** The fields that say a rule; null for a rule that needs more than these. */
export function fieldsOfRule(rule: string, start: string): RepetitionFields | null {
  const said = repetitionOf(rule, start);
  return said && { ...said, every: String(said.every) };
}

/**
 * A rule in words: `Every 2 weeks on Friday and Saturday`, and beside it in which months or years alone it has a day, such as
 * `in months that have one`. Null for a rule that cannot be said so.
 */
export function wordsOfRule(rule: string, start: string): { often: string; only: string | null } | null {
  const said = repetitionOf(rule, start);
  if (!said) return wordsOfParts(rule, start);
  const { every, unit, days, monthlyOn } = said;
  const often = every === 1 ? `Every ${unit}` : `Every ${every} ${unit}s`;
  const always = (words: string) => ({ often: words, only: null });
  if (unit === 'week' && inOrder(days).join() === dayNames.slice(0, 5).join())
    return always(every === 1 ? 'Monday to Friday' : `${often} on Monday to Friday`);
  if (unit === 'week' && days.length > 0)
    return always(`${often} on ${listedDays(inOrder(days).map((day) => weekDays[day]))}`);
  const { day, dayOfWeek, month } = dateOf(start);
  if (unit === 'year' && month === 2 && day === 29)
    return { often: `${often} on 29 February`, only: 'in leap years' };
  if (unit !== 'month') return always(often);
  if (monthlyOn === 'date') return { often: `${often} on day ${day}`, only: day > 28 ? inSomeMonths : null };
  const place = monthlyOn === 'last' ? 5 : Math.ceil(day / 7) - 1;
  const weekday = weekDays[dayNames[dayOfWeek - 1]!];
  return { often: `${often} on the ${ordinals[place]} ${weekday}`, only: place === 4 ? inSomeMonths : null };
}

/** The same of a rule that forms have no fields for: `Every month on the second Tuesday`, `Every year on day 24 of December`. */
function wordsOfParts(rule: string, start: string): ReturnType<typeof wordsOfRule> {
  const parsed = parseRule(rule);
  if (!parsed.ok) return null;
  const { COUNT: count, ...parts } = Object.fromEntries(parsed.rule.parts) as Record<string, string>;
  if (count !== undefined) {
    const words = wordsOfRule(inParts(parts), start);
    const times = count === '1' ? 'once' : `${count} times`;
    return words && { ...words, only: [words.only, times].filter((each) => each !== null).join(', ') };
  }
  const { FREQ: frequency, INTERVAL: interval = '1', BYMONTH: byMonth, ...days } = parts;
  const on = daysOfMonth(days);
  if (on === null || (frequency !== 'MONTHLY' && !(frequency === 'YEARLY' && byMonth))) return null;
  const unit = frequency === 'MONTHLY' ? 'month' : 'year';
  const every = Number(interval) === 1 ? `Every ${unit}` : `Every ${Number(interval)} ${unit}s`;
  const months = byMonth && listedDays(numbersIn(byMonth).map((month) => monthNames[month - 1]!));
  const only = on.isRare ? inSomeMonths : null;
  if (unit === 'year') return { often: `${every} on ${on.words} of ${months}`, only };
  return { often: `${every} on ${on.words}${months ? ` in ${months}` : ''}`, only };
}

const inParts = (parts: Record<string, string>): string =>
  Object.entries(parts)
    .map(([name, value]) => `${name}=${value}`)
    .join(';');

const numbersIn = (list: string): number[] => list.split(',').map(Number);

/** Days within a month, in words, and whether some months have none such. Null for what has no words. */
function daysOfMonth(parts: Record<string, string>): { words: string; isRare: boolean } | null {
  const { BYDAY: byDay, BYMONTHDAY: byMonthDay, BYSETPOS: byPlace } = parts;
  if (byMonthDay !== undefined) {
    if (byDay !== undefined || byPlace !== undefined) return null;
    const dates = numbersIn(byMonthDay);
    const words = listedDays(dates.map(dateName));
    return { words, isRare: dates.some((day) => Math.abs(day) > 28) };
  }
  const days = (byDay ?? '')
    .split(',')
    .map((day) => ({ place: Number(day.slice(0, -2)), day: day.slice(-2) as Day }));
  if (byDay === undefined) return null;
  const names = days.map(({ day }) => weekDays[day]);
  if (days.every(({ place }) => place === 0)) {
    if (byPlace === undefined) return { words: `every ${listedDays(names)}`, isRare: false };
    const set =
      setNames[inOrder(days.map(({ day }) => day)).join()] ?? (names.length === 1 ? names[0] : null);
    const places = numbersIn(byPlace);
    if (!set || places.some((place) => Math.abs(place) > 5)) return null;
    const isRare = names.length === 1 && places.some((place) => Math.abs(place) === 5);
    return { words: `${listedDays(places.map(placeWords))} ${set}`, isRare };
  }
  if (byPlace !== undefined || days.some(({ place }) => place === 0 || Math.abs(place) > 5)) return null;
  const words = listedDays(days.map(({ place }, at) => `${placeWords(place)} ${names[at]}`));
  return { words, isRare: days.some(({ place }) => Math.abs(place) === 5) };
}

/** Sets of weekdays that have a name, in the order of the week. */
const setNames: Record<string, string> = {
  [dayNames.join()]: 'day',
  [dayNames.slice(0, 5).join()]: 'weekday',
  [dayNames.slice(5).join()]: 'weekend day',
};

/** `the second`, `the last`, `the second to last`. */
function placeWords(place: number): string {
  if (place === -1) return 'the last';
  const ordinal = ordinals[Math.abs(place) - 1];
  return place > 0 ? `the ${ordinal}` : `the ${ordinal} to last`;
}

const dateName = (day: number): string =>
  day > 0 ? `day ${day}` : day < -5 ? `day ${-day} from the end` : `${placeWords(day)} day`;

/** `Every month on day 30, in months that have one`; null for a rule that cannot be said so. */
export function describeRule(rule: string, start: string): string | null {
  const words = wordsOfRule(rule, start);
  return words && [words.often, words.only].filter(Boolean).join(', ');
}

const inSomeMonths = 'in months that have one';

/**
 * What a rule leaves out because no such date exists, in sentences: by RFC 5545, what begins on 31 January and repeats
 * each month comes seven times a year.
 */
export function datesLeftOut(rule: string, start: string): string[] {
  const parsed = parseRule(rule);
  const parts = parsed.ok ? parsed.rule.parts : new Map<string, string>();
  const frequency = parts.get('FREQ');
  if ((frequency !== 'MONTHLY' && frequency !== 'YEARLY') || parts.has('BYDAY') || parts.has('BYSETPOS'))
    return [];
  const first = dateOf(start);
  const numbers = (name: string, otherwise: number[]) => parts.get(name)?.split(',').map(Number) ?? otherwise;
  const every = Number(parts.get('INTERVAL') ?? 1);
  const monthsOfStart = Array.from(
    { length: frequency === 'MONTHLY' ? 12 : 1 },
    (_, step) => ((first.month - 1 + step * every) % 12) + 1,
  );
  const months = [...new Set(numbers('BYMONTH', monthsOfStart))].toSorted((one, other) => one - other);
  return numbers('BYMONTHDAY', [first.day]).flatMap((day) => sentenceOfDay(day, months));
}

/** The most days of each month. */
const lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const monthNames =
  'January February March April May June July August September October November December'.split(' ');

function sentenceOfDay(day: number, months: number[]): string[] {
  const short = months.filter((month) => lengths[month - 1]! < day);
  const february = day === 29 && months.includes(2) ? ['February, except in leap years'] : [];
  const names = [...short.map((month) => monthNames[month - 1]!), ...february];
  return names.length === 0 ? [] : [`No freeze starts in months without a day ${day}: ${listedDays(names)}.`];
}

/** Whether two rules have the same parts, in whatever order. */
const isSameRule = (one: Rule, other: string): boolean => {
  const parsed = parseRule(other);
  return parsed.ok && inAnyOrder(one) === inAnyOrder(parsed.rule);
};

const inAnyOrder = ({ parts }: Rule): string =>
  [...parts]
    .filter(([name, value]) => name !== 'INTERVAL' || Number(value) !== 1)
    .map(([name, value]) => `${name}=${value.split(',').sort().join()}`)
    .sort()
    .join(';');

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'last'];

const inOrder = (days: Day[]): Day[] => dayNames.filter((day) => days.includes(day));

const listedDays = (names: string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

const dateOf = (start: string): Temporal.PlainDate => Temporal.PlainDate.from(start.slice(0, 10));

/** The weekday of a date within its month, such as `3SA` for the third Saturday and `-1SA` for the last. */
function weekdayOf(start: string, monthlyOn: 'weekday' | 'last'): string {
  const { day, dayOfWeek } = dateOf(start);
  return `${monthlyOn === 'last' ? -1 : Math.ceil(day / 7)}${dayNames[dayOfWeek - 1]}`;
}
