import type { Temporal } from 'temporal-polyfill';
import { startOf } from '../calendar/calendar-window.ts';

export const zooms = ['week', 'month', 'quarter'] as const;
export type Zoom = (typeof zooms)[number];

/** The whole days that a timeline shows, in its zone, and the instants of their start and end. */
export type TimelineWindow = {
  zoom: Zoom;
  /** IANA name. */
  zone: string;
  firstDay: Temporal.PlainDate;
  /** The day after the last one. */
  nextDay: Temporal.PlainDate;
  from: Date;
  to: Date;
};

/** The week (from Monday), the month or the quarter that contains a day. */
export function windowAround(zoom: Zoom, day: Temporal.PlainDate, zone: string): TimelineWindow {
  const firstDay = firstDayOf(zoom, day);
  const nextDay = firstDay.add(lengths[zoom]);
  return { zoom, zone, firstDay, nextDay, from: startOf(firstDay, zone), to: startOf(nextDay, zone) };
}

/** The first day of the previous window. */
export const dayBefore = ({ zoom, firstDay }: TimelineWindow): Temporal.PlainDate =>
  firstDay.subtract(lengths[zoom]);

const lengths = { week: { days: 7 }, month: { months: 1 }, quarter: { months: 3 } } as const;

function firstDayOf(zoom: Zoom, day: Temporal.PlainDate): Temporal.PlainDate {
  switch (zoom) {
    case 'week':
      return day.subtract({ days: day.dayOfWeek - 1 });
    case 'month':
      return day.with({ day: 1 });
    case 'quarter':
      return day.with({ day: 1, month: day.month - ((day.month - 1) % 3) });
  }
}
