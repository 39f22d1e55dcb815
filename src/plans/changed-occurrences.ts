import { toLocalTime } from '../time/local-time.ts';
import type { Occurrence } from './occurrences.ts';

/**
 * What somebody did to one occurrence of a plan that repeats or follows a calendar.
 * @property start where the plan had it: a wall-clock time.
 * @property window where it was moved to, in ISO 8601; null if it stayed.
 */
export type OccurrenceChange = {
  start: string;
  window: { startsAt: string; endsAt: string } | null;
  isSkipped: boolean;
};

/** By the keys of the occurrences. Null if there are none. */
export type OccurrenceChanges = Record<string, OccurrenceChange> | null;

type Changed = { timezone: string; changes?: OccurrenceChanges };

/** The window of an occurrence that was moved. */
export const movedTo = (
  key: string,
  { startsAt, endsAt }: NonNullable<OccurrenceChange['window']>,
  timezone: string,
): Occurrence => ({
  key,
  start: toLocalTime(new Date(startsAt), timezone),
  end: toLocalTime(new Date(endsAt), timezone),
  startsAt: new Date(startsAt),
  endsAt: new Date(endsAt),
  isMoved: true,
});

/** The occurrences that were moved, and not skipped since, the earliest first. */
const movedOnes = ({ timezone, changes }: Changed): Occurrence[] =>
  Object.entries(changes ?? {})
    .flatMap(([key, { window, isSkipped }]) => (window && !isSkipped ? [movedTo(key, window, timezone)] : []))
    .toSorted((one, other) => one.startsAt.getTime() - other.startsAt.getTime());

/** What is left of the occurrences that a plan itself has, in order: without skipped ones, and with moved ones where they are now. Lazy. */
export function* withChanges(
  planned: Iterable<Occurrence>,
  schedule: Changed,
  now: Date,
): Generator<Occurrence> {
  const moved = movedOnes(schedule).filter(({ endsAt }) => endsAt! > now);
  for (const occurrence of planned) {
    if (schedule.changes?.[occurrence.key]) continue;
    while (moved[0] && moved[0].startsAt <= occurrence.startsAt) yield moved.shift()!;
    yield occurrence;
  }
  yield* moved;
}

/** A plan as if nothing of it were skipped: whether it is over does not depend on that. */
export const withoutSkips = <Of extends Changed>(schedule: Of): Of => ({
  ...schedule,
  changes: Object.fromEntries(
    Object.entries(schedule.changes ?? {}).filter(([, { isSkipped }]) => !isSkipped),
  ),
});
