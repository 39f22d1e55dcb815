import { Scanner } from '../scanner.ts';
import { oneDay, type ClockTest, onWallClock } from './wall-clock.ts';
import { isSameZone, takeZone } from './timestamp.ts';

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const expected = 'Send days, times or both, such as `Mon-Fri 09:00-17:00[Europe/Paris]`';
const oneMinute = 60_000;

/**
 * Reads `DAYS`, `TIMES` or `DAYS TIMES`. Days are `Mon-Fri`, `Saturday` or ISO numbers from Monday as 1; times are
 * `HH:MM-HH:MM`, both included; a zone in brackets stands at the end, without one it is UTC. Day and time are those
 * of the wall clock in that zone. Days may wrap around the week. Times may wrap around midnight: they belong to the
 * day on which they begin.
 * @throws ParseError
 */
export function parseSchedule(text: string): ClockTest {
  const scanner: Scanner = new Scanner(text);
  if (scanner.isAtEnd()) fail(scanner, 'It is empty');
  const days = takeDays(scanner);
  const wholeDays = days && takeZoneAlone(scanner);
  if (wholeDays) return onWallClock(withinWeeklyHours({ days, start: 0, end: oneDay - 1 }), wholeDays);
  const { start, end, zone } = takeTimes(scanner);
  const everyDay = weekdays.map(() => true);
  return onWallClock(withinWeeklyHours({ days: days ?? everyDay, start, end }), zone);
}

/** What ends a schedule without times; null: times follow. */
function takeZoneAlone(scanner: Scanner): string | null {
  const zone = takeZone(scanner);
  if (scanner.isAtEnd()) return zone ?? 'UTC';
  if (zone) fail(scanner, 'The zone stands at the end, behind the times');
  return null;
}

function takeDays(scanner: Scanner): boolean[] | null {
  const first = takeDay(scanner);
  if (first === null) return null;
  const days = weekdays.map(() => false);
  days[first] = true;
  if (takeHyphen(scanner)) {
    const last = takeDay(scanner) ?? fail(scanner, 'Here a day is missing');
    for (let day = first; day !== last; day = (day + 1) % 7) days[(day + 1) % 7] = true;
    scanner.skipSpace();
  }
  if (scanner.text[scanner.at] === ',')
    fail(scanner, 'Send one day or one range of days; for several schedules use `or`');
  return days;
}

function takeHyphen(scanner: Scanner): boolean {
  scanner.skipSpace();
  return scanner.take('-');
}

/** Steps over a day; from Monday as 0. Null: here is no word and no number of a day. */
function takeDay(scanner: Scanner): number | null {
  const begins = scanner.at;
  const [word] = scanner.match(/[a-z]+|[1-7](?![\d:])/iy) ?? [];
  if (word === undefined) return null;
  if (/\d/.test(word)) return Number(word) - 1;
  const name = word.toLowerCase();
  const day = weekdays.findIndex((weekday) => name === weekday || name === weekday.slice(0, 3));
  return day >= 0
    ? day
    : fail(scanner, 'This is not a day: days are Mon, Monday or 1, to Sun, Sunday or 7', begins);
}

function takeTimes(scanner: Scanner): { start: number; end: number; zone: string } {
  const start = takeTime(scanner);
  if (start === oneDay)
    fail(scanner, '24:00 is only for an end; the day begins at 00:00', scanner.at - '24:00'.length);
  const zoneAt = scanner.at;
  const zoneOfStart = takeZone(scanner);
  if (!takeHyphen(scanner)) fail(scanner, 'Times are a range, such as 09:00-17:00');
  const endAt = scanner.at;
  const end = takeTime(scanner);
  const zone = takeZone(scanner);
  if (!scanner.isAtEnd()) fail(scanner, 'Nothing may follow here; for several schedules use `or`');
  if (zoneOfStart !== null && (zone === null || !isSameZone(zoneOfStart, zone))) {
    fail(scanner, 'One zone is for both times, and stands at the end', zoneAt);
  }
  if (end === start) {
    fail(scanner, 'It ends when it begins. For whole days leave the times out, or send 00:00-24:00', endAt);
  }
  return { start, end: end > start ? end : end + oneDay, zone: zone ?? 'UTC' };
}

/** Steps over a time; milliseconds after midnight. */
function takeTime(scanner: Scanner): number {
  const begins = scanner.at;
  const time = scanner.match(/(\d{1,2}):(\d{2})(?![\d:.])/y);
  if (!time) return fail(scanner, 'Here a time such as 09:00 is missing');
  const [hours, minutes] = [Number(time[1]), Number(time[2])];
  const exists = minutes < 60 && (hours < 24 || (hours === 24 && minutes === 0));
  if (!exists) fail(scanner, 'There is no such time', begins);
  return (hours * 60 + minutes) * oneMinute;
}

const fail = (scanner: Scanner, what: string, at?: number): never =>
  scanner.fail(`Invalid schedule. ${what}. ${expected}`, at);

type WeeklyHours = {
  /** Seven, from Monday: whether hours begin on this day. */
  days: boolean[];
  /** Milliseconds after midnight, both included. Hours that pass midnight have an `end` beyond `oneDay`. */
  start: number;
  end: number;
};

// 1970-01-01 was a Thursday.
const daysToThursday = 3;

/** Whether the wall clock shows one of these hours. */
function withinWeeklyHours({ days, start, end }: WeeklyHours): ClockTest {
  const beginsOn = (day: number) => days[(((day + daysToThursday) % 7) + 7) % 7]!;

  const holds = (wall: number) => {
    const day = Math.floor(wall / oneDay);
    const time = wall - day * oneDay;
    return (beginsOn(day) && start <= time && time <= end) || (beginsOn(day - 1) && time + oneDay <= end);
  };

  return {
    holds,
    nextChange: (wall) => {
      const today = Math.floor(wall / oneDay);
      const answer = holds(wall);
      let next: number | null = null;
      // Yesterday's hours may last until today, and those of one day a week are over seven days before the next.
      for (let day = today - 1; day <= today + 8; day += 1) {
        for (const edge of [day * oneDay + start, day * oneDay + end + 1]) {
          if (edge > wall && (next === null || edge < next) && holds(edge) !== answer) next = edge;
        }
      }
      return next;
    },
  };
}
