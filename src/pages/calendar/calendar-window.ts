import { Temporal } from 'temporal-polyfill';
import { isDateText } from '../../time/local-time.ts';

/** How many months a calendar shows. A week has none. */
const zooms = { week: 0, month: 1, quarter: 3 } as const;
export type Zoom = keyof typeof zooms;

/** The months that a calendar shows, in its zone. */
export type CalendarWindow = {
  zoom: Zoom;
  /** IANA name. */
  zone: string;
  /** Its first day: of a month, or the Monday of its week. */
  first: Temporal.PlainDate;
  /** The first day of each month. */
  months: Temporal.PlainDate[];
  /** The first moment of the first week that it shows, and the one after the last week. */
  from: Date;
  to: Date;
};

/** The week or the month of a day, or that month and the next two. */
export function windowAt(zoom: Zoom, day: Temporal.PlainDate, zone: string): CalendarWindow {
  const first = zoom === 'week' ? mondayOf(day) : day.with({ day: 1 });
  const months = Array.from({ length: zooms[zoom] }, (_, index) => first.add({ months: index }));
  const after = zoom === 'week' ? first.add({ weeks: 1 }) : first.add({ months: zooms[zoom] });
  return {
    ...{ zoom, zone, first, months },
    from: startOfWindow(mondayOf(first), zone),
    to: startOfWindow(after.add({ days: (8 - after.dayOfWeek) % 7 }), zone),
  };
}

const mondayOf = (day: Temporal.PlainDate): Temporal.PlainDate => day.subtract({ days: day.dayOfWeek - 1 });

/** The first moment of a day. In some zones, some days do not start at midnight. */
export const startOfWindow = (day: Temporal.PlainDate, zone: string): Date =>
  new Date(day.toZonedDateTime(zone).epochMilliseconds);

/** The day that contains an instant. */
export const dayOf = (instant: Date, zone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone).toPlainDate();

/** What the URL asks for. @property isList whether it asks for a list in the place of bars. */
export type View = { zoom: Zoom; day: Temporal.PlainDate; isList: boolean; repositories: string[] };

/** The years that a calendar shows. */
export const years = { first: 2000, last: 2200 };

/** What a URL asks for: `?month=2026-12&show=quarter`, `?show=week&day=2026-12-24`, `&as=list`, and each `&repository=`. */
export function readCalendarView(query: URLSearchParams, today: Temporal.PlainDate): View {
  const asked = query.get('show') ?? '';
  const zoom = asked === 'week' || asked === 'quarter' ? asked : 'month';
  const date = zoom === 'week' ? (query.get('day') ?? '') : `${query.get('month')}-01`;
  const year = Number(date.slice(0, 4));
  const isShown = isDateText(date) && year >= years.first && year <= years.last;
  return {
    zoom,
    day: isShown ? Temporal.PlainDate.from(date) : today,
    isList: query.get('as') === 'list',
    repositories: query.getAll('repository').slice(0, 100),
  };
}

/** The view before or after another one. Null beyond the years that are shown. */
export function stepFrom({ zoom, day }: View, direction: 1 | -1): Temporal.PlainDate | null {
  const next =
    zoom === 'week'
      ? day.add({ weeks: direction })
      : day.with({ day: 1 }).add({ months: direction * zooms[zoom] });
  return next.year >= years.first && next.year <= years.last ? next : null;
}

export const monthName = (month: Temporal.PlainDate): string =>
  month.toLocaleString('en-GB', { month: 'long', year: 'numeric' });

/** `December 2026`, `December 2026 to February 2027`, `21 to 27 December 2026`. */
export function nameOfWindow({ first, months }: CalendarWindow): string {
  const [one, last] = [months[0], months.at(-1)];
  if (one && last) return months.length === 1 ? monthName(one) : `${monthName(one)} to ${monthName(last)}`;
  const sunday = first.add({ days: 6 });
  const isOneMonth = first.month === sunday.month;
  const from = isOneMonth
    ? first.day
    : `${first.day} ${first.year === sunday.year ? first.toLocaleString('en-GB', { month: 'long' }) : monthName(first)}`;
  return `${from} to ${sunday.day} ${monthName(sunday)}`;
}

/**
 * Something that lasts from one local day to another, both included.
 * @property lastDay null if it has no end. @property rank where not all finds a lane, the lowest does first.
 */
export type Stay = {
  startsAt: Date;
  firstDay: Temporal.PlainDate;
  lastDay: Temporal.PlainDate | null;
  rank: number;
};

/** The part of a stay in one week. Columns are counted from 1 (Monday) to 7. */
export type Segment<S extends Stay> = {
  stay: S;
  from: number;
  to: number;
  /** Whether the stay began in an earlier week, and whether it goes on in a later one. */
  beginsBefore: boolean;
  endsAfter: boolean;
};

export type Week<S extends Stay> = {
  /** Monday to Sunday. */
  days: Temporal.PlainDate[];
  /** Segments that never overlap within a lane, by their ranks, then the longest first. */
  lanes: Segment<S>[][];
  /** For each day, how many stays found no lane. */
  hidden: number[];
};

/**
 * The weeks of a month as a calendar shows them: from the Monday on or before its first day, to the Sunday on or after
 * its last day.
 * @param most how many lanes a week has at most.
 */
export function layOutMonth<S extends Stay>(month: Temporal.PlainDate, stays: S[], most: number): Week<S>[] {
  const first = mondayOf(month.with({ day: 1 }));
  const count = Math.ceil(first.until(month.with({ day: 1 }).add({ months: 1 })).days / 7);
  return Array.from({ length: count }, (_, index) => layOutWeek(first.add({ weeks: index }), stays, most));
}

/** A week. @param most how many lanes it has at most. */
export function layOutWeek<S extends Stay>(monday: Temporal.PlainDate, stays: S[], most: number): Week<S> {
  const days = Array.from({ length: 7 }, (_, index) => monday.add({ days: index }));
  const segments = stays.flatMap((stay) => segmentOf(stay, monday) ?? []);
  const lanes: Segment<S>[][] = [];
  const hidden = days.map(() => 0);
  for (const segment of segments.toSorted(byRankEarliestAndLongest)) {
    const isFree = (lane: Segment<S>[]) =>
      lane.every(({ from, to }) => to < segment.from || from > segment.to);
    const lane = lanes.find(isFree);
    if (lane) lane.push(segment);
    else if (lanes.length < most) lanes.push([segment]);
    else for (let column = segment.from; column <= segment.to; column += 1) hidden[column - 1]! += 1;
  }
  return { days, lanes, hidden };
}

const byRankEarliestAndLongest = (one: Segment<Stay>, other: Segment<Stay>): number =>
  one.stay.rank - other.stay.rank ||
  one.from - other.from ||
  other.to - one.to ||
  one.stay.startsAt.getTime() - other.stay.startsAt.getTime();

function segmentOf<S extends Stay>(stay: S, monday: Temporal.PlainDate): Segment<S> | null {
  const { firstDay, lastDay } = stay;
  const begin = monday.until(firstDay).days;
  const end = lastDay ? monday.until(lastDay).days : Infinity;
  if (begin > 6 || end < 0) return null;
  return {
    stay,
    from: Math.max(0, begin) + 1,
    to: Math.min(6, end) + 1,
    beginsBefore: begin < 0,
    endsAfter: end > 6,
  };
}
