import { Temporal } from 'temporal-polyfill';
import { isDate } from '../time/local-time.ts';
import { parseRule } from './rule.ts';

/** How a plan repeats, in the words of people. Most rules can be said so; the others stay rules. */
type Repetition = {
  /** Every so many units. */
  every: number;
  unit: Unit;
  /** For weeks: the days, `MO` to `SU`; empty for the day of the start. */
  days: Day[];
  /** For months: on the date of the start, or on its weekday, such as the third Saturday. */
  monthlyOn: 'date' | 'weekday';
};

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
      : unit === 'month' && monthlyOn === 'weekday'
        ? weekdayOf(start)
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
  const said: Repetition = { every, unit, days, monthlyOn: byDay.length > 0 ? 'weekday' : 'date' };
  // Whatever was not understood is missing in the rule that these words make.
  return isSameRule(ruleOf(said, start), rule) ? said : null;
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
  return ruleOf({ ...chosen, every: Number(every) }, isDate(date) ? date : firstMonday);
}

const firstMonday = '2026-06-01';

/** The fields that say a rule; null for a rule that needs more than these. */
export function fieldsOfRule(rule: string, start: string): RepetitionFields | null {
  const said = repetitionOf(rule, start);
  return said && { ...said, every: String(said.every) };
}

/** `Every 2 weeks on Friday and Saturday`; null for a rule that cannot be said so. */
export function describeRule(rule: string, start: string): string | null {
  const said = repetitionOf(rule, start);
  if (!said) return null;
  const { every, unit, days, monthlyOn } = said;
  const often = every === 1 ? `Every ${unit}` : `Every ${every} ${unit}s`;
  if (unit === 'week' && inOrder(days).join() === dayNames.slice(0, 5).join())
    return every === 1 ? 'Monday to Friday' : `${often} on Monday to Friday`;
  if (unit === 'week' && days.length > 0)
    return `${often} on ${listed(inOrder(days).map((day) => weekDays[day]))}`;
  if (unit !== 'month') return often;
  const { day, dayOfWeek } = dateOf(start);
  return monthlyOn === 'date'
    ? `${often} on day ${day}`
    : `${often} on the ${ordinals[Math.ceil(day / 7) - 1]} ${weekDays[dayNames[dayOfWeek - 1]!]}`;
}

/** Whether two rules have the same parts, in whatever order. */
const isSameRule = (one: string, other: string): boolean =>
  [one, other].map((rule) => rule.split(/[;,=]/).sort().join()).every((parts, _, [first]) => parts === first);

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth'];

const inOrder = (days: Day[]): Day[] => dayNames.filter((day) => days.includes(day));

const listed = (names: string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

const dateOf = (start: string): Temporal.PlainDate => Temporal.PlainDate.from(start.slice(0, 10));

/** The weekday of a date within its month, such as `3SA` for the third Saturday. */
function weekdayOf(start: string): string {
  const { day, dayOfWeek } = dateOf(start);
  return `${Math.ceil(day / 7)}${dayNames[dayOfWeek - 1]}`;
}
