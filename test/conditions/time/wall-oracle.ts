// Another way to the same answers: what `Intl` shows each minute, compared as text.

/** What the wall clock shows: `2026-03-29T03:00:00.000`, and the day of the week from Monday as 0. */
export type Shown = { at: number; text: string; weekday: number };

const oneMinute = 60_000;
const formats = new Map<string, Intl.DateTimeFormat>();

function show(zone: string, at: number): Shown {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hourCycle: 'h23',
      weekday: 'short',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const date = `${parts['year']!.padStart(4, '0')}-${parts['month']}-${parts['day']}`;
  const weekday = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(parts['weekday']!);
  return { at, text: `${date}T${parts['hour']}:${parts['minute']}:00.000`, weekday };
}

const shown = new Map<string, Shown[]>();

/** Some days from a whole minute on: each minute and the millisecond behind it, where an end that is included ends. */
export function watch(zone: string, from: number, days: number): Shown[] {
  const key = `${zone} ${from} ${days}`;
  const known = shown.get(key);
  if (known) return known;
  const all = Array.from({ length: days * 1440 }, (_, index) => show(zone, from + index * oneMinute));
  const both = all.flatMap((one) => [one, { ...one, at: one.at + 1, text: one.text.replace(/000$/, '001') }]);
  shown.set(key, both);
  return both;
}

/** From Monday as 0; `from` and `to` as `09:00`; null: all day. */
export type Hours = { first: number; last: number; times: { from: string; to: string } | null };

const isDay = ({ first, last }: Hours, day: number) =>
  first <= last ? first <= day && day <= last : day >= first || day <= last;

export function isWithinHours(hours: Hours, { text, weekday }: Shown): boolean {
  if (!hours.times) return isDay(hours, weekday);
  const time = text.slice(11);
  const from = `${hours.times.from}:00.000`;
  const to = `${hours.times.to}:00.000`;
  if (from < to && to !== '24:00:00.000') return isDay(hours, weekday) && from <= time && time <= to;
  const until = to === '24:00:00.000' ? '00:00:00.000' : to;
  return (isDay(hours, weekday) && time >= from) || (isDay(hours, (weekday + 6) % 7) && time <= until);
}

/** Both ends as `XXXX-07-XXT14:00:00.000`. */
export function isBetween(start: string, end: string, { text }: Shown): boolean {
  const ends = [start, end].map((one) => one.replaceAll(/X/g, (_, index: number) => text[index]!));
  return ends.every(exists) && ends[0]! <= text && text <= ends[1]!;
}

const known = new Map<string, boolean>();

function exists(text: string): boolean {
  let answer = known.get(text);
  if (answer === undefined) {
    const date = new Date(`${text}Z`);
    answer = !Number.isNaN(date.getTime()) && date.toISOString() === `${text}Z`;
    known.set(text, answer);
  }
  return answer;
}
