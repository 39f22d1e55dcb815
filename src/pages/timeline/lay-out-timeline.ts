import type { Temporal } from 'temporal-polyfill';
import { startOf } from '../calendar/calendar-window.ts';
import type { TimelineWindow } from './timeline-window.ts';

/** A period to draw as a bar. `endsAt` is null if it has no end. */
export type Span = { id: string; startsAt: Date; endsAt: Date | null };

/** Positions are fractions of the window: 0 is its start, 1 its end. */
export type Bar<S extends Span> = {
  span: S;
  from: number;
  to: number;
  /** Whether the span starts before the window, and ends after it. */
  beginsBefore: boolean;
  endsAfter: boolean;
};

/** A line where a day begins. */
export type Tick = { at: number; day: Temporal.PlainDate };

export type Timeline<S extends Span> = {
  /** As few lanes as possible. The bars of a lane are in the order of time and never overlap. */
  lanes: Bar<S>[][];
  ticks: Tick[];
  /** Null if now is outside the window. */
  now: number | null;
};

/** The minimum width of a bar, so that people can see and click it. */
export const narrowest = 0.008;

/**
 * The positions of everything: a bar for each span that overlaps the window, and a tick for each day (in a quarter, for
 * each Monday).
 */
export function layOutTimeline<S extends Span>(
  spans: readonly S[],
  window: TimelineWindow,
  now: Date,
): Timeline<S> {
  const bars = spans.filter((span) => touches(span, window)).map((span) => barOf(span, window));
  const isShown = window.from <= now && now < window.to;
  return {
    lanes: inLanes(bars),
    ticks: ticksOf(window),
    now: isShown ? fractionOf(now, window) : null,
  };
}

const touches = ({ startsAt, endsAt }: Span, { from, to }: TimelineWindow): boolean =>
  startsAt < to && (endsAt === null || (endsAt > from && endsAt > startsAt));

function fractionOf(instant: Date, { from, to }: TimelineWindow): number {
  const fraction = (instant.getTime() - from.getTime()) / (to.getTime() - from.getTime());
  return Math.min(1, Math.max(0, fraction));
}

function barOf<S extends Span>(span: S, window: TimelineWindow): Bar<S> {
  const from = Math.min(1 - narrowest, fractionOf(span.startsAt, window));
  const end = span.endsAt === null ? 1 : fractionOf(span.endsAt, window);
  return {
    span,
    from,
    to: Math.min(1, Math.max(end, from + narrowest)),
    beginsBefore: span.startsAt < window.from,
    endsAfter: span.endsAt === null || span.endsAt > window.to,
  };
}

/** Puts each bar into the first free lane, in the order of their starts, longest first. This needs the fewest lanes. */
function inLanes<S extends Span>(bars: Bar<S>[]): Bar<S>[][] {
  const lanes: Bar<S>[][] = [];
  const inOrder = bars.toSorted(
    (one, other) =>
      one.from - other.from ||
      one.span.startsAt.getTime() - other.span.startsAt.getTime() ||
      other.to - one.to,
  );
  for (const bar of inOrder) {
    const free = lanes.find((lane) => lane.at(-1)!.to <= bar.from);
    if (free) free.push(bar);
    else lanes.push([bar]);
  }
  return lanes;
}

function ticksOf(window: TimelineWindow): Tick[] {
  const { zoom, zone, firstDay, nextDay } = window;
  const step = zoom === 'quarter' ? 7 : 1;
  const toFirst = zoom === 'quarter' ? (8 - firstDay.dayOfWeek) % 7 : 0;
  const count = Math.ceil((firstDay.until(nextDay).days - toFirst) / step);
  const days = Array.from({ length: count }, (_, index) => firstDay.add({ days: toFirst + index * step }));
  return (
    days
      .map((day) => ({ day, at: fractionOf(startOf(day, zone), window) }))
      // A day that a zone skipped (Samoa's 2011-12-30) has no start of its own: keep the tick of the next day.
      .filter(({ at }, index, all) => at !== all[index + 1]?.at)
  );
}
