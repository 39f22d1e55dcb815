import { Temporal } from 'temporal-polyfill';

/** How many months a calendar shows. */
export const zooms = { month: 1, quarter: 3 } as const;
export type Zoom = keyof typeof zooms;

/** The months that a calendar shows, in its zone. */
export type CalendarWindow = {
  zoom: Zoom;
  /** IANA name. */
  zone: string;
  /** The first day of each month. */
  months: Temporal.PlainDate[];
  /** The first moment of the first week that it shows, and the one after the last week. */
  from: Date;
  to: Date;
};

/** The month of a day, or that one and the next two. */
export function windowAt(zoom: Zoom, day: Temporal.PlainDate, zone: string): CalendarWindow {
  const first = day.with({ day: 1 });
  const months = Array.from({ length: zooms[zoom] }, (_, index) => first.add({ months: index }));
  const after = first.add({ months: zooms[zoom] });
  return {
    zoom,
    zone,
    months,
    from: startOf(first.subtract({ days: first.dayOfWeek - 1 }), zone),
    to: startOf(after.add({ days: (8 - after.dayOfWeek) % 7 }), zone),
  };
}

/** The first moment of a day. In some zones, some days do not start at midnight. */
export const startOf = (day: Temporal.PlainDate, zone: string): Date =>
  new Date(day.toZonedDateTime(zone).epochMilliseconds);

/** The day that contains an instant. */
export const dayOf = (instant: Date, zone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone).toPlainDate();

/** What the URL asks for. */
export type View = { zoom: Zoom; month: Temporal.PlainDate; repositories: string[] };

/** The years that a calendar shows. */
export const years = { first: 2000, last: 2200 };

/** What a URL asks for: `?month=2026-12&show=quarter`, and each `&repository=`. */
export function readView(query: URLSearchParams, today: Temporal.PlainDate): View {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(query.get('month') ?? '') ?? [];
  const isShown = year !== undefined && Number(year) >= years.first && Number(year) <= years.last;
  return {
    zoom: query.get('show') === 'quarter' ? 'quarter' : 'month',
    month: isShown ? Temporal.PlainDate.from(`${year}-${month}-01`) : today.with({ day: 1 }),
    repositories: query.getAll('repository').slice(0, 100),
  };
}

export const monthName = (month: Temporal.PlainDate): string =>
  month.toLocaleString('en-GB', { month: 'long', year: 'numeric' });

export const monthsName = ({ months }: CalendarWindow): string =>
  months.length === 1 ? monthName(months[0]!) : `${monthName(months[0]!)} to ${monthName(months.at(-1)!)}`;
