// RFC 5545 by asking of each day whether the rule yields it: slow, plain, and nothing of the service's.
import { Temporal } from 'temporal-polyfill';

const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];

/** The first so many dates of a rule from `start` to `to`. */
export function dayByDay(rule: string, start: string, to: string, most: number): string[] {
  const parts = new Map(rule.split(';').map((part) => part.split('=') as [string, string]));
  const first = Temporal.PlainDate.from(start);
  const list = (name: string) => parts.get(name)?.split(',') ?? null;
  const numbers = (name: string) => list(name)?.map(Number) ?? null;
  const frequency = parts.get('FREQ')!;
  const interval = Number(parts.get('INTERVAL') ?? 1);
  const [byDay, byMonthDay, byMonth] = [list('BYDAY'), numbers('BYMONTHDAY'), numbers('BYMONTH')];
  const [byYearDay, byWeek] = [numbers('BYYEARDAY'), numbers('BYWEEKNO')];
  const positions = numbers('BYSETPOS');

  const firstWeekday = weekdays.indexOf(parts.get('WKST') ?? 'MO') + 1;
  const beginOfWeek = (date: Temporal.PlainDate) =>
    date.subtract({ days: (date.dayOfWeek - firstWeekday + 7) % 7 });
  const period = (date: Temporal.PlainDate): number => {
    switch (frequency) {
      case 'DAILY':
        return first.until(date, { largestUnit: 'day' }).days;
      case 'WEEKLY':
        return beginOfWeek(first).until(beginOfWeek(date), { largestUnit: 'day' }).days / 7;
      case 'MONTHLY':
        return (date.year - first.year) * 12 + date.month - first.month;
      default:
        return date.year - first.year;
    }
  };
  /** Which of its weekday it is, from the front and from the back. */
  const places = (date: Temporal.PlainDate): number[] => {
    const inYear = frequency === 'YEARLY' && byMonth === null;
    const [at, of] = inYear ? [date.dayOfYear, date.daysInYear] : [date.day, date.daysInMonth];
    return [Math.ceil(at / 7), -Math.ceil((of - at + 1) / 7)];
  };
  const isDay = (date: Temporal.PlainDate) =>
    byDay!.some((item) => {
      if (weekdays[date.dayOfWeek - 1] !== item.slice(-2)) return false;
      return item.length === 2 || places(date).includes(Number(item.slice(0, -2)));
    });
  const isMonthDay = (date: Temporal.PlainDate) =>
    byMonthDay!.some((day) => (day > 0 ? day : date.daysInMonth + 1 + day) === date.day);
  const isYearDay = (date: Temporal.PlainDate) =>
    byYearDay!.some((day) => (day > 0 ? day : date.daysInYear + 1 + day) === date.dayOfYear);
  /** A week belongs to the year that has four of its days. */
  const isWeek = (date: Temporal.PlainDate) => {
    const middle = beginOfWeek(date).add({ days: 3 });
    const number = Math.ceil(middle.dayOfYear / 7);
    let of = number;
    for (let each = middle.add({ days: 7 }); each.year === middle.year; each = each.add({ days: 7 })) of += 1;
    return byWeek!.includes(number) || byWeek!.includes(number - of - 1);
  };
  const isYielded = (date: Temporal.PlainDate): boolean => {
    if (byYearDay && !isYearDay(date)) return false;
    if (byWeek && !isWeek(date)) return false;
    if (byMonth && !byMonth.includes(date.month)) return false;
    if (byMonthDay && !isMonthDay(date)) return false;
    if (byDay && !isDay(date)) return false;
    if (byMonthDay || byYearDay || byDay || frequency === 'DAILY') return true;
    if (byWeek) return date.dayOfWeek === first.dayOfWeek;
    if (frequency === 'WEEKLY') return date.dayOfWeek === first.dayOfWeek;
    if (frequency === 'YEARLY' && !byMonth && date.month !== first.month) return false;
    return date.day === first.day;
  };

  const begin =
    { DAILY: first, WEEKLY: beginOfWeek(first), MONTHLY: first.with({ day: 1 }) }[frequency] ??
    first.with({ month: 1, day: 1 });
  const found: string[] = [];
  let set: string[] = [];
  let current = 0;
  const close = () => {
    const chosen = positions
      ? set.filter((_, at) => positions.includes(at + 1) || positions.includes(at - set.length))
      : set;
    found.push(...chosen.filter((date) => date >= start && date <= to));
    set = [];
  };
  const end = Temporal.PlainDate.from(to).add({ years: 1 });
  for (
    let date = begin;
    Temporal.PlainDate.compare(date, end) <= 0 && found.length < most;
    date = date.add({ days: 1 })
  ) {
    if (period(date) !== current) {
      close();
      current = period(date);
    }
    if (current % interval === 0 && isYielded(date)) set.push(date.toString());
  }
  return found.slice(0, Math.min(most, Number(parts.get('COUNT') ?? Infinity)));
}
