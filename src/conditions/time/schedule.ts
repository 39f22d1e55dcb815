import { oneDay } from './calendar.ts';
import type { ClockTest } from './clock-test.ts';
import type { Parsed } from './parsed.ts';
import { isSameZone, parsed, takeZone, type TimeText } from './time-text.ts';
import { onWallClock } from './wall-clock.ts';
import { withinWeeklyHours } from './weekly-hours.ts';

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const expected = 'Send days, times or both, such as `Mon-Fri 09:00-17:00[Europe/Paris]`';
const oneMinute = 60_000;

/**
 * Reads `DAYS`, `TIMES` or `DAYS TIMES`. Days are `Mon-Fri`, `Saturday` or ISO numbers from Monday as 1; times are
 * `HH:MM-HH:MM`, both included; a zone in brackets stands at the end, without one it is UTC. Day and time are those
 * of the wall clock in that zone. Days may wrap around the week. Times may wrap around midnight: they belong to the
 * day on which they begin.
 */
export const parseSchedule = (text: string): Parsed<ClockTest> =>
  parsed(text, (from) => {
    if (from.isAtEnd()) fail(from, 'It is empty');
    const days = takeDays(from);
    const wholeDays = days && takeZoneAlone(from);
    if (wholeDays) return onWallClock(withinWeeklyHours({ days, start: 0, end: oneDay - 1 }), wholeDays);
    const { start, end, zone } = takeTimes(from);
    const everyDay = weekdays.map(() => true);
    return onWallClock(withinWeeklyHours({ days: days ?? everyDay, start, end }), zone);
  });

/** What ends a schedule without times; null: times follow. */
function takeZoneAlone(from: TimeText): string | null {
  const zone = takeZone(from);
  if (from.isAtEnd()) return zone ?? 'UTC';
  if (zone) fail(from, 'The zone stands at the end, behind the times');
  return null;
}

function takeDays(from: TimeText): boolean[] | null {
  const first = takeDay(from);
  if (first === null) return null;
  const days = weekdays.map(() => false);
  days[first] = true;
  if (takeHyphen(from)) {
    const last = takeDay(from) ?? fail(from, 'Here a day is missing');
    for (let day = first; day !== last; day = (day + 1) % 7) days[(day + 1) % 7] = true;
    from.skipSpace();
  }
  if (from.text[from.at] === ',')
    fail(from, 'Send one day or one range of days; for several schedules use `or`');
  return days;
}

function takeHyphen(from: TimeText): boolean {
  from.skipSpace();
  const isHere = from.takeCharacter('-');
  from.skipSpace();
  return isHere;
}

/** Steps over a day; from Monday as 0. Null: here is no word and no number of a day. */
function takeDay(from: TimeText): number | null {
  const begins = from.at;
  const [word] = from.take(/[a-z]+|[1-7](?![\d:])/iy) ?? [];
  if (word === undefined) return null;
  if (/\d/.test(word)) return Number(word) - 1;
  const name = word.toLowerCase();
  const day = weekdays.findIndex((weekday) => name === weekday || name === weekday.slice(0, 3));
  return day >= 0
    ? day
    : fail(from, 'This is not a day: days are Mon, Monday or 1, to Sun, Sunday or 7', begins);
}

function takeTimes(from: TimeText): { start: number; end: number; zone: string } {
  const start = takeTime(from);
  if (start === oneDay)
    fail(from, '24:00 is only for an end; the day begins at 00:00', from.at - '24:00'.length);
  const zoneAt = from.at;
  const zoneOfStart = takeZone(from);
  if (!takeHyphen(from)) fail(from, 'Times are a range, such as 09:00-17:00');
  const endAt = from.at;
  const end = takeTime(from);
  const zone = takeZone(from);
  if (!from.isAtEnd()) fail(from, 'Nothing may follow here; for several schedules use `or`');
  if (zoneOfStart !== null && (zone === null || !isSameZone(zoneOfStart, zone))) {
    fail(from, 'One zone is for both times, and stands at the end', zoneAt);
  }
  if (end === start) {
    fail(from, 'It ends when it begins. For whole days leave the times out, or send 00:00-24:00', endAt);
  }
  return { start, end: end > start ? end : end + oneDay, zone: zone ?? 'UTC' };
}

/** Steps over a time; milliseconds after midnight. */
function takeTime(from: TimeText): number {
  const begins = from.at;
  const time = from.take(/(\d{1,2}):(\d{2})(?![\d:.])/y);
  if (!time) return fail(from, 'Here a time such as 09:00 is missing');
  const [hours, minutes] = [Number(time[1]), Number(time[2])];
  const exists = minutes < 60 && (hours < 24 || (hours === 24 && minutes === 0));
  if (!exists) fail(from, 'There is no such time', begins);
  return (hours * 60 + minutes) * oneMinute;
}

const fail = (from: TimeText, what: string, at?: number): never =>
  from.fail(`Invalid schedule. ${what}. ${expected}`, at);
