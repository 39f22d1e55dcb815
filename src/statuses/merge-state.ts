import type { MergeState } from '../github/pull-requests/load-pull-requests.ts';
import { mergeable } from './held-pull-requests.ts';

// Whether GitHub would merge what a freeze holds. GitHub works its answer out in the background, so one that is just
// behind a status may be old: a pull request leaks where two answers, some seconds apart, say that it would be merged.

/** What is known of a held pull request, by its present head. */
export type Watched = {
  /** GitHub's last answer, `UNKNOWN` apart. */
  mergeState: string | null;
  /** Answers since the last one that settled it. */
  asks: number;
  leakingSince: Date | null;
};

/** Milliseconds to the next question. */
const unknownFor = 4_000;
const confirmAfter = 8_000;
const leakingEvery = 60_000;
/** What was required may be required no more, and no event tells. */
const settledFor = 10 * 60_000;
/** GitHub does not know for longer where it is in trouble; then asking often helps nobody. */
const mostUnknownStates = 6;

/**
 * What an answer of GitHub adds.
 * @param answer null where it gave none about this head.
 * @returns also when to ask again.
 */
export function judgeMergeState(
  { mergeState, asks, leakingSince }: Watched,
  answer: MergeState | null,
  now: Date,
): Watched & { dueAt: Date } {
  const after = (wait: number) => new Date(now.getTime() + wait);
  if (answer === null || answer === 'UNKNOWN') {
    const isPatient = asks + 1 >= mostUnknownStates;
    const dueAt = after(isPatient ? settledFor : unknownFor * 2 ** Math.max(0, asks - 1));
    return { mergeState, asks: isPatient ? 0 : asks + 1, leakingSince, dueAt };
  }
  if (!mergeable.has(answer)) {
    return { mergeState: answer, asks: 0, leakingSince: null, dueAt: after(settledFor) };
  }
  if (mergeable.has(mergeState)) {
    return { mergeState: answer, asks: 0, leakingSince: leakingSince ?? now, dueAt: after(leakingEvery) };
  }
  return { mergeState: answer, asks: asks + 1, leakingSince, dueAt: after(confirmAfter) };
}

/** Whether GitHub refuses to merge it, as far as its answers say; null if they settle nothing. */
export const refusedBy = ({ mergeState, leakingSince }: Watched): boolean | null =>
  leakingSince !== null ? false : mergeState === null || mergeable.has(mergeState) ? null : true;
