import { SourceUnreadable } from './source-window.ts';
import { datesOfRule, type Rule } from '../rule.ts';
import { type Property, shownLine, unreadable } from './calendar-objects.ts';
import { day } from '../../time/units.ts';
import { dateOf, midnight, type WrittenTime, wallOf, writtenTime } from './wall-clock.ts';

/** How an event repeats. @property timeOfDay what it has in place of the time of its start, in milliseconds. */
export type EventRule = {
  rule: Rule;
  count: number;
  until: WrittenTime | null;
  timeOfDay: (start: number) => number;
};

const frequencies = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'];
const dateParts = ['BYDAY', 'BYMONTHDAY', 'BYMONTH', 'BYSETPOS', 'BYYEARDAY', 'BYWEEKNO'] as const;
const timeParts = ['BYHOUR', 'BYMINUTE', 'BYSECOND'] as const;
const units = [3_600_000, 60_000, 1000] as const;
const otherParts = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'WKST'];
const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** @throws SourceUnreadable for a rule that no calendar of freezes needs. */
export function readRule(property: Property): EventRule {
  const data = property.values[0] as Record<string, unknown>;
  const parts = new Map(Object.entries(data).map(([name, value]) => [name.toUpperCase(), [value].flat()]));
  const frequency = String(parts.get('FREQ')?.[0] ?? '');
  if (!parts.has('FREQ')) throw unreadable(property.line, 'it has no FREQ');
  const many = timeParts.find((name) => (parts.get(name)?.length ?? 0) > 1);
  if (!frequencies.includes(frequency) || many)
    throw new SourceUnreadable(
      `repeats an event too often: line ${property.line.at}, \`${shownLine(property.line.text)}\`. Events may begin once a day (${many ? `one ${many}` : 'FREQ=DAILY'})`,
    );
  // RFC 7529 calls the calendar of everybody GREGORIAN, and what it does anyhow OMIT.
  const isUsual = /^(?:RSCALE,GREGORIAN|SKIP,OMIT)$/;
  for (const [name, value] of parts)
    if (![...otherParts, ...dateParts, ...timeParts].includes(name) && !isUsual.test(`${name},${value}`))
      throw unreadable(property.line, `nobody here knows ${shownLine(name)}`);
  const none = property.line.text
    .toUpperCase()
    .split(/[:;]/)
    .find((part) => isNone(part, frequency));
  if (none !== undefined) throw unreadable(property.line, `there is no ${shownLine(none)}`);
  const isLong = frequency === 'MONTHLY' || frequency === 'YEARLY';
  const rule: Rule['parts'] = new Map([['FREQ', frequency]]);
  for (const name of dateParts) {
    const value = parts.get(name);
    const plain = name === 'BYDAY' && !isLong ? value?.map((item) => String(item).slice(-2)) : value;
    if (plain) rule.set(name, plain.join(','));
  }
  if (parts.has('INTERVAL')) rule.set('INTERVAL', String(parts.get('INTERVAL')![0]));
  if (parts.has('WKST')) rule.set('WKST', weekdays[Number(parts.get('WKST')![0]) - 1]!);
  const until = parts.get('UNTIL')?.[0];
  const set = timeParts.map((name) => parts.get(name)?.[0]);
  return {
    rule: { parts: rule },
    count: Number(parts.get('COUNT')?.[0] ?? Infinity),
    until: until === undefined ? null : writtenTime({ ...property, params: {} }, until),
    timeOfDay: (start) =>
      units.reduce((sum, unit, at) => {
        const own = Math.floor(start / unit) % (at === 0 ? 24 : 60);
        return sum + unit * Number(set[at] ?? own);
      }, 0),
  };
}

/** Whether a part of a rule counts to nothing. `ical.js` takes these, and some for others. */
function isNone(part: string, frequency: string): boolean {
  const [name = '', value = ''] = part.replaceAll(/\s/g, '').split('=');
  const most = frequency === 'YEARLY' ? 53 : 5;
  if (name === 'COUNT' || name === 'INTERVAL') return Number(value) < 1;
  if (name === 'BYDAY')
    return value.split(',').some((day) => {
      const place = /^[+-]?\d+/.exec(day);
      return place !== null && (Number(place[0]) === 0 || Math.abs(Number(place[0])) > most);
    });
  return (
    /^BY(?:MONTHDAY|YEARDAY|WEEKNO|SETPOS|MONTH)$/.test(name) &&
    value.split(',').some((each) => Number(each) === 0)
  );
}

/**
 * The starts that a rule yields, as times of the wall clock.
 * @param first where it counts from. @param from the earliest day. @param to the latest day.
 */
export function* datesOf(
  { rule, count, timeOfDay }: EventRule,
  first: number,
  from: number,
  to: number,
): Generator<number> {
  const time = timeOfDay(first - midnight(first));
  const start = count === Infinity ? Math.max(from, first) : first;
  let counted = 0;
  for (const date of datesOfRule(rule, dateOf(first), dateOf(start), dateOf(Math.max(to, first)))) {
    const wall = wallOf(date)! + time;
    if (wall < first || (counted += 1) > count) continue;
    if (wall >= from - day) yield wall;
  }
}
