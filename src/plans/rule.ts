import { cutText } from '../cut-text.ts';

/** The supported parts of a rule. Plans have their own field for `UNTIL`, and weeks begin on Monday. */
const partNames = ['FREQ', 'INTERVAL', 'BYDAY', 'BYMONTHDAY', 'BYMONTH', 'BYSETPOS', 'COUNT'] as const;
type PartName = (typeof partNames)[number];

const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'];
const mostRuleCharacters = 1000;
const mostInterval = 9999;
/** The highest COUNT. Larger counts would take too long, and nobody needs them. */
const mostCount = 1000;

/** What rules of calendars may have too. */
type OtherPart = 'WKST' | 'BYYEARDAY' | 'BYWEEKNO';

/** A valid rule: its parts by name, in capitals. */
export type Rule = { parts: Map<PartName | OtherPart, string> };

type RuleResult = { ok: true; rule: Rule } | { ok: false; message: string };

const bad = (message: string) => ({ ok: false, message }) as const;

const isPartName = (name: string): name is PartName => partNames.includes(name as PartName);

/** Messages for parts of RFC 5545 that plans do not support. */
const otherParts: Record<string, string> = {
  UNTIL: 'Send the last date in `until`, beside the rule.',
  DTSTART: 'The rule counts from the `start` of the plan.',
  WKST: 'Weeks begin on Monday. Another first day changes what every second week is, so leave it out.',
};

/** The parts of a rule as people paste it: perhaps with `RRULE:` in front, a `;` at the end, and blanks. */
const partsOf = (text: string): string[] =>
  text
    .toUpperCase()
    .replace(/\s/g, '')
    .replace(/^RRULE:/, '')
    .replace(/;$/, '')
    .split(';');

/** The first day of a week matters only where weeks are left out. */
const isFirstDayUsual = (parts: string[]): boolean =>
  parts.includes('WKST=MO') ||
  !parts.includes('FREQ=WEEKLY') ||
  !parts.some((part) => /^INTERVAL=(?!0*1$)/.test(part));

/**
 * Reads a recurrence rule: an RRULE of RFC 5545 without DTSTART, in any letter case.
 * @returns the first problem, which names the part.
 */
export function parseRule(text: string): RuleResult {
  if (text.length > mostRuleCharacters) return bad(`A rule has at most ${mostRuleCharacters} characters.`);
  const parts = new Map<PartName, string>();
  const given = partsOf(text);
  for (const part of given) {
    if (/^WKST=(?:MO|TU|WE|TH|FR|SA|SU)$/.test(part) && isFirstDayUsual(given)) continue;
    const [, name = part, value = ''] = /^([^=]*)=(.*)$/s.exec(part) ?? [];
    const shown = cutText(name, 40);
    if (!isPartName(name)) {
      const advice =
        otherParts[name] ?? `A rule has ${partNames.join(', ')}, such as FREQ=MONTHLY;BYDAY=3SA.`;
      return bad(`\`${shown}\` is not a part of a plan's rule. ${advice}`);
    }
    if (parts.has(name)) return bad(`${shown} stands twice in the rule. Send it once.`);
    const wrong = wrongValue[name](value);
    if (wrong) return bad(`${shown} ${wrong}`);
    parts.set(name, value);
  }
  const frequency = parts.get('FREQ');
  if (frequency === undefined) return bad(`FREQ is missing. Send one of ${frequencies.join(', ')}.`);
  const wrong = wrongTogether(parts, frequency);
  return wrong ? bad(wrong) : { ok: true, rule: { parts } };
}

function wrongTogether(parts: Rule['parts'], frequency: string): string | null {
  const isLong = frequency === 'MONTHLY' || frequency === 'YEARLY';
  if (/\d/.test(parts.get('BYDAY') ?? '') && !isLong)
    return `BYDAY takes a number such as 3SA with FREQ=MONTHLY and FREQ=YEARLY only. Send days without numbers.`;
  if (frequency === 'WEEKLY' && parts.has('BYMONTHDAY'))
    return 'BYMONTHDAY does not go with FREQ=WEEKLY. Use FREQ=DAILY or FREQ=MONTHLY.';
  if (
    parts.has('BYSETPOS') &&
    !['BYDAY', 'BYMONTHDAY', 'BYMONTH'].some((name) => parts.has(name as PartName))
  )
    return 'BYSETPOS chooses among days that BYDAY, BYMONTHDAY or BYMONTH name. Send one of them too.';
  return null;
}

/** The problem with the value of each part, as the end of a sentence; null if it is valid. */
const wrongValue: Record<PartName, (value: string) => string | null> = {
  FREQ: (value) =>
    frequencies.includes(value)
      ? null
      : `takes one of ${frequencies.join(', ')}: a plan begins once a day at most.`,
  INTERVAL: (value) => wrongNumber(value, mostInterval),
  COUNT: (value) => wrongNumber(value, mostCount),
  BYDAY: (value) =>
    everyItem(value, (item) => {
      const [, digits = null] = /^(?:[+-]?(\d{1,2}))?(?:MO|TU|WE|TH|FR|SA|SU)$/.exec(item) ?? [null, '0'];
      return digits === null || (Number(digits) >= 1 && Number(digits) <= 53);
    })
      ? null
      : 'takes days such as MO,3SA,-1FR: MO, TU, WE, TH, FR, SA or SU, each with a number up to 53 or none.',
  BYMONTHDAY: (value) => wrongNumbers(value, 31, true),
  BYMONTH: (value) => wrongNumbers(value, 12, false),
  BYSETPOS: (value) => wrongNumbers(value, 366, true),
};

const isNumber = (text: string, most: number): boolean =>
  /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= most;

const wrongNumber = (value: string, most: number): string | null =>
  isNumber(value, most) ? null : `takes a whole number from 1 to ${most}.`;

const everyItem = (value: string, isRight: (item: string) => boolean): boolean =>
  value.split(',').every(isRight);

function wrongNumbers(value: string, most: number, isSigned: boolean): string | null {
  const isRight = (item: string) => isNumber(isSigned ? item.replace(/^[+-]/, '') : item, most);
  if (everyItem(value, isRight)) return null;
  return `takes whole numbers from 1 to ${most}${isSigned ? ', also negative ones, which count from the end' : ''}.`;
}

// The dates of a rule (RFC 5545, 3.3.10), on the calendar without times. docs/decisions/0018 says why this is no library.

/** A date with the parts that rules use. `number` counts days since 1970. */
type Day = { number: number; year: number; month: number; day: number; weekday: number };

const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
const milliseconds = 86_400_000;

const numberOf = (year: number, month: number, day: number): number =>
  new Date(0).setUTCFullYear(year, month - 1, day) / milliseconds;

function dayOf(number: number): Day {
  const date = new Date(number * milliseconds);
  return {
    number,
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    // 1970 began on a Thursday.
    weekday: (((number + 3) % 7) + 7) % 7,
  };
}

const readPart = (date: string): Day => {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  return dayOf(numberOf(year, month, day));
};
const write = (number: number): string => new Date(number * milliseconds).toISOString().slice(0, 10);

/**
 * The days of the `index`-th period of a frequency, counted from the period of a date: [from, to).
 * @param firstWeekday the one that weeks begin on.
 */
const periods: Record<string, (first: Day, index: number, firstWeekday: number) => [number, number]> = {
  DAILY: ({ number }, index) => [number + index, number + index + 1],
  WEEKLY({ number, weekday }, index, firstWeekday) {
    const begin = number - ((weekday - firstWeekday + 7) % 7) + 7 * index;
    return [begin, begin + 7];
  },
  MONTHLY: ({ year, month }, index) => [
    numberOf(year, month + index, 1),
    numberOf(year, month + index + 1, 1),
  ],
  YEARLY: ({ year }, index) => [numberOf(year + index, 1, 1), numberOf(year + index + 1, 1, 1)],
};

/** The longest period in days, to estimate how many periods have passed. */
const longestRule: Record<string, number> = { DAILY: 1, WEEKLY: 7, MONTHLY: 31, YEARLY: 366 };

/**
 * The dates of a rule in order, without COUNT. Checks each day between `from` and `to` once.
 * @param first the date that the rule counts from, `2026-12-24`. @param from the earliest date. @param to the latest date.
 */
export function* datesOfRule(rule: Rule, first: string, from: string, to: string): Generator<string> {
  const frequency = rule.parts.get('FREQ')!;
  const interval = Number(rule.parts.get('INTERVAL') ?? 1);
  const start = readPart(first);
  const firstWeekday = weekdays.indexOf(rule.parts.get('WKST') ?? 'MO');
  const isYielded = testOf(rule, start, firstWeekday);
  const choose = chooser(rule);
  const [earliest, last] = [Math.max(start.number, readPart(from).number), readPart(to).number];
  const passed = Math.floor((earliest - start.number) / longestRule[frequency]!) - 1;
  for (let index = Math.max(0, Math.floor(passed / interval)) * interval; ; index += interval) {
    const [begin, end] = periods[frequency]!(start, index, firstWeekday);
    if (begin > last) return;
    const set: number[] = [];
    for (let number = begin; number < end; number++) if (isYielded(dayOf(number))) set.push(number);
    for (const number of choose(set)) if (number >= earliest && number <= last) yield write(number);
  }
}

/** The days of a period that BYSETPOS selects. */
function chooser({ parts }: Rule): (set: number[]) => number[] {
  const positions = parts.get('BYSETPOS')?.split(',').map(Number);
  if (!positions) return (set) => set;
  return (set) => set.filter((_, at) => positions.includes(at + 1) || positions.includes(at - set.length));
}

/** Whether a day of a period is in its set. */
function testOf({ parts }: Rule, start: Day, firstWeekday: number): (day: Day) => boolean {
  const frequency = parts.get('FREQ')!;
  const numbers = (name: PartName | OtherPart) => parts.get(name)?.split(',').map(Number) ?? null;
  const [months, monthDays] = [numbers('BYMONTH'), numbers('BYMONTHDAY')];
  const [yearDays, weeks] = [numbers('BYYEARDAY'), numbers('BYWEEKNO')];
  const days = parts
    .get('BYDAY')
    ?.split(',')
    .map((item) => ({
      weekday: weekdays.indexOf(item.slice(-2)),
      place: item.length > 2 ? Number(item.slice(0, -2)) : null,
    }));
  const placesIn = frequency === 'YEARLY' && !months ? placesInYear : placesInMonth;
  /** The start decides what the rule leaves open. */
  const isAsStart = (day: Day): boolean => {
    if (frequency === 'DAILY') return true;
    if (frequency === 'WEEKLY') return day.weekday === start.weekday;
    return day.day === start.day && (frequency === 'MONTHLY' || months !== null || day.month === start.month);
  };
  return (day) => {
    if (months && !months.includes(day.month)) return false;
    if (monthDays && !monthDays.some((each) => each === day.day || each === day.day - 1 - daysOfMonth(day)))
      return false;
    if (yearDays && !dayOfYear(day).some((each) => yearDays.includes(each))) return false;
    if (weeks && !weekOfYear(day, firstWeekday).some((each) => weeks.includes(each))) return false;
    if (!days && weeks && !monthDays && !yearDays) return day.weekday === start.weekday;
    if (!days) return monthDays !== null || yearDays !== null || isAsStart(day);
    return days.some(
      ({ weekday, place }) => weekday === day.weekday && (place === null || placesIn(day).includes(place)),
    );
  };
}

const daysOfMonth = ({ year, month }: Day): number => numberOf(year, month + 1, 1) - numberOf(year, month, 1);

/** The position of a day among the same weekdays of its period: from the front, and from the back. */
const places = (at: number, of: number): number[] => [Math.ceil(at / 7), -Math.ceil((of - at + 1) / 7)];
const placesInMonth = (day: Day): number[] => places(day.day, daysOfMonth(day));
const placesInYear = ({ number, year }: Day): number[] => {
  const before = numberOf(year, 1, 1);
  return places(number - before + 1, numberOf(year + 1, 1, 1) - before);
};

/** The number of a day in its year, from the front and from the back. */
const dayOfYear = ({ number, year }: Day): number[] => [
  number - numberOf(year, 1, 1) + 1,
  number - numberOf(year + 1, 1, 1),
];

/** The number of a day's week in the year that has most of its days, from the front and from the back. */
function weekOfYear({ number, weekday }: Day, firstWeekday: number): number[] {
  const middle = number - ((weekday - firstWeekday + 7) % 7) + 3;
  const { year } = dayOf(middle);
  const [begin, end] = [numberOf(year, 1, 1), numberOf(year + 1, 1, 1)];
  return [Math.floor((middle - begin) / 7) + 1, -Math.floor((end - 1 - middle) / 7) - 1];
}
