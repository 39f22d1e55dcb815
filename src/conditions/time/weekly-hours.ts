import { oneDay } from './calendar.ts';
import type { WallTest } from './wall-clock.ts';

export type WeeklyHours = {
  /** Seven, from Monday: whether hours begin on this day. */
  days: boolean[];
  /** Milliseconds after midnight, both included. Hours that pass midnight have an `end` beyond `oneDay`. */
  start: number;
  end: number;
};

// 1970-01-01 was a Thursday.
const daysToThursday = 3;

/** Whether the wall clock shows one of these hours. */
export function withinWeeklyHours({ days, start, end }: WeeklyHours): WallTest {
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
