import type { Temporal } from 'temporal-polyfill';

/** Something that lasts from one local day to another, both included; `lastDay` is null if it has no end. */
export type Stay = { startsAt: Date; firstDay: Temporal.PlainDate; lastDay: Temporal.PlainDate | null };

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
  /** Segments that never overlap within a lane, the longest first. */
  lanes: Segment<S>[][];
  /** For each day, how many stays found no lane. */
  hidden: number[];
};

/** The first day of a month. */
const monthOf = (day: Temporal.PlainDate): Temporal.PlainDate => day.with({ day: 1 });

/**
 * The weeks of a month as a calendar shows them: from the Monday on or before its first day, to the Sunday on or after
 * its last day.
 * @param most how many lanes a week has at most.
 */
export function layOutMonth<S extends Stay>(month: Temporal.PlainDate, stays: S[], most: number): Week<S>[] {
  const first = mondayOf(monthOf(month));
  const next = monthOf(month).add({ months: 1 });
  const count = Math.ceil(first.until(next).days / 7);
  return Array.from({ length: count }, (_, index) => layOutWeek(first.add({ weeks: index }), stays, most));
}

const mondayOf = (day: Temporal.PlainDate): Temporal.PlainDate => day.subtract({ days: day.dayOfWeek - 1 });

function layOutWeek<S extends Stay>(monday: Temporal.PlainDate, stays: S[], most: number): Week<S> {
  const days = Array.from({ length: 7 }, (_, index) => monday.add({ days: index }));
  const segments = stays.flatMap((stay) => segmentOf(stay, monday) ?? []);
  const lanes: Segment<S>[][] = [];
  const hidden = days.map(() => 0);
  for (const segment of segments.toSorted(earliestAndLongest)) {
    const isFree = (lane: Segment<S>[]) =>
      lane.every(({ from, to }) => to < segment.from || from > segment.to);
    const lane = lanes.find(isFree);
    if (lane) lane.push(segment);
    else if (lanes.length < most) lanes.push([segment]);
    else for (let column = segment.from; column <= segment.to; column += 1) hidden[column - 1]! += 1;
  }
  return { days, lanes, hidden };
}

const earliestAndLongest = (one: Segment<Stay>, other: Segment<Stay>): number =>
  one.from - other.from || other.to - one.to || one.stay.startsAt.getTime() - other.stay.startsAt.getTime();

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
