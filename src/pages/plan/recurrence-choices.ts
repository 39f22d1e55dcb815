import { Temporal } from 'temporal-polyfill';

/** The choices for how a plan repeats. The rule takes its day from the start. */
export const repeats = {
  once: 'Once',
  daily: 'Every day',
  workdays: 'Monday to Friday',
  weekly: 'Every week',
  monthly: 'Every month on the same date',
  weekday: 'Every month on the same weekday',
  yearly: 'Every year',
  rule: 'Custom rule',
} as const;
export type Repeat = keyof typeof repeats;

export const isRepeat = (text: string): text is Repeat => Object.hasOwn(repeats, text);

const days = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

/**
 * The rule of a choice.
 * @param start of the first occurrence. If it is not a time, the first Monday of a month stands in for its day.
 * @param own the rule that was typed. @returns null if the plan does not repeat.
 */
export function ruleOf(repeat: Repeat, start: string, own: string): string | null {
  switch (repeat) {
    case 'once':
      return null;
    case 'daily':
      return 'FREQ=DAILY';
    case 'workdays':
      return 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR';
    case 'weekly':
      return 'FREQ=WEEKLY';
    case 'monthly':
      return 'FREQ=MONTHLY';
    case 'weekday':
      return `FREQ=MONTHLY;BYDAY=${placeOf(start)}`;
    case 'yearly':
      return 'FREQ=YEARLY';
    case 'rule':
      return own.trim();
  }
}

/** The weekday of a date within its month, such as `3SA` for the third Saturday. */
function placeOf(start: string): string {
  const date = /^\d{4}-\d{2}-\d{2}/.exec(start)?.[0];
  if (date === undefined) return '1MO';
  try {
    const { day, dayOfWeek } = Temporal.PlainDate.from(date);
    return `${Math.ceil(day / 7)}${days[dayOfWeek - 1]}`;
  } catch {
    return '1MO';
  }
}

/** The choice that fits a stored rule. */
export function repeatOf(rule: string | null, start: string): Repeat {
  const all = Object.keys(repeats) as Repeat[];
  return all.find((repeat) => repeat !== 'rule' && ruleOf(repeat, start, '') === rule) ?? 'rule';
}
