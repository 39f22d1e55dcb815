import { endAfter } from '../freezes/freeze-window.ts';
import type { Occurrence, Schedule } from './occurrences.ts';

/**
 * An occurrence in the repositories whose `longest_open_end_hours` gives it the same end.
 * @property hours the setting; 0 if it does not apply.
 */
export type Window = Occurrence & { hours: number };

/** The setting of a repository that decides the ends of a plan's freezes; 0 if the plan decides. */
export const hoursIn = (
  plan: Pick<Schedule, 'end'>,
  { longestOpenEndHours }: { longestOpenEndHours: number | null },
): number => (plan.end === null ? (longestOpenEndHours ?? 0) : 0);

/** The occurrences of a plan in repositories with these settings. */
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
