import { Temporal } from 'temporal-polyfill';

/** How a plan repeats, as people choose it. What the rule needs of days is the start's. */
export const repeats = {
  once: 'Once',
  daily: 'Every day',
  workdays: 'Monday to Friday',
  weekly: 'Every week',
  monthly: 'Every month, same date',
  weekday: 'Every month, same weekday',
  yearly: 'Every year',
  rule: 'A rule of my own',
} as const;
export type Repeat = keyof typeof repeats;

export const isRepeat = (text: string): text is Repeat => Object.hasOwn(repeats, text);

const days = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

/**
 * The rule of a choice.
 * @param start of the first window; where it is no time, what needs its day does as if it were the first of a Monday.
 * @param own the rule that was typed. @returns null for once.
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

/** Which weekday of its month a day is: `3SA`. */
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

/** The choice that a stored rule is. */
export function repeatOf(rule: string | null, start: string): Repeat {
  const all = Object.keys(repeats) as Repeat[];
  return all.find((repeat) => repeat !== 'rule' && ruleOf(repeat, start, '') === rule) ?? 'rule';
}
