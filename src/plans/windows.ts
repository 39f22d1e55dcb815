import { endAfter } from '../freezes/open-end.ts';
import type { Occurrence, Schedule } from './occurrences.ts';

/**
 * An occurrence as it is in some repositories: those whose `longest_open_end_hours` gives it its end.
 * @property hours that setting; 0 where it says nothing of it.
 */
export type Window = Occurrence & { hours: number };

/** The setting of a repository that decides on the ends of a plan's freezes there; 0: the plan does. */
export const hoursIn = (
  plan: Pick<Schedule, 'end'>,
  { longestOpenEndHours }: { longestOpenEndHours: number | null },
): number => (plan.end === null ? (longestOpenEndHours ?? 0) : 0);

/** Occurrences of a plan as they are in repositories with these settings. */
export function windowsOf(plan: Schedule, occurrences: Occurrence[], settings: Iterable<number>): Window[] {
  const all = [...new Set(settings)];
  return occurrences.flatMap((occurrence) =>
    all.map((hours) => ({
      ...occurrence,
      ...(hours > 0 && endAfter({ startsAt: occurrence.startsAt, timezone: plan.timezone }, hours)),
      hours,
    })),
  );
}
