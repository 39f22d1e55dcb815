import type { Temporal } from 'temporal-polyfill';
import { startOf, type TimelineWindow } from './timeline-window.ts';

/** What is drawn as a bar. `endsAt: null`: without end. */
export type Span = { id: string; startsAt: Date; endsAt: Date | null };

/** Positions are fractions of the window's time: 0 is its beginning, 1 its end. */
export type Bar<S extends Span> = {
  span: S;
  from: number;
  to: number;
  /** What lies beyond the window. */
  beginsBefore: boolean;
  endsAfter: boolean;
};

/** A line where a day begins. */
export type Tick = { at: number; day: Temporal.PlainDate };

export type Timeline<S extends Span> = {
  /** As few as there can be. The bars of one never overlap, and stand in the order of time. */
  lanes: Bar<S>[][];
  ticks: Tick[];
  /** null: outside of the window. */
  now: number | null;
};

/** The narrowest bar: what is shorter is drawn so wide, that it may be seen and hit. */
export const narrowest = 0.008;

/**
 * Where everything stands: a bar for each span that touches the window, and a tick for each of its days (of a
 * quarter: each Monday).
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

/** Each bar, in the order of their beginnings (the longest of several first), goes to the first lane that is free: no other way needs fewer. */
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
      // A day that a zone left out (Samoa's 2011-12-30) has no beginning of its own: the next day's line stands there.
      .filter(({ at }, index, all) => at !== all[index + 1]?.at)
  );
}
