import type { PresentStatus } from '../github/pull-requests/present-status.ts';
import { type Status, wantedOn } from './status.ts';
import { inSeconds } from '../time/in-seconds.ts';
import { isFull, type StatusCount, takesTexts } from './status-budget.ts';

/** What we know of the statuses on a SHA. `writtenState` and `writtenDescription` are what stands, ours or not. */
export type Known = StatusCount & {
  writtenState: string | null;
  writtenDescription: string | null;
  writtenAt: Date | null;
  writtenDuring: bigint | null;
  /** Writes whose answer did not come: one may have arrived, and the next looks first. */
  attempts: number;
  /** The last status that GitHub takes was written, or refused: nothing else is wanted there. */
  isFinal: boolean;
  isMergeGroup: boolean;
  notHeld: string | null;
};

/** GitHub's answers are behind for seconds; this is generous. */
export const longestLag = 5 * 60_000;

const never = new Date(0);

/** Whether a verdict must be written. */
export function mustWrite(
  verdict: Status,
  present: PresentStatus,
  known: Known | null,
  observation: bigint,
  now: Date,
): boolean {
  if (known && known.attempts > 0) return true;
  const shown = shownNow(present, known, observation, now);
  // GitHub takes nothing more there. It is tried once, where a freeze begins, so that the refusal is told of.
  if (known?.isFinal && isFull(known))
    return verdict.state !== 'success' && shown?.state === 'success' && known.notHeld !== 'refused';
  const wanted = known ? wantedOn({ ...known, ...verdict }) : verdict;
  if (shown?.state !== wanted.state) return true;
  if (shown.description === wanted.description) return false;
  return !known || takesTexts(known);
}

/** A status under our context that somebody else must have written, as the observation saw it; null where there is none. */
export function foreignIn(
  present: PresentStatus,
  known: Known | null,
  observation: bigint,
  now: Date,
): PresentStatus {
  // One of ours may have arrived without its answer.
  if (known && known.attempts > 0) return null;
  if (!present || !known || known.writtenState === null) return present;
  if (shownNow(present, known, observation, now) !== present) return null;
  const isNewer = inSeconds(present.at) > inSeconds(known.writtenAt ?? never);
  const isOther =
    present.state !== known.writtenState || present.description !== (known.writtenDescription ?? '');
  return isNewer || isOther ? present : null;
}

/**
 * What GitHub shows: as the observation saw it, or what we wrote where that is newer. An observation may overlap with a write,
 * and GitHub may answer with what stood some seconds ago. GitHub's times are whole seconds: of the same second ours
 * counts, and that it knows of none at all is an old answer, but only for some minutes. Then somebody may have
 * overwritten ours in that second, or the name of our context has changed.
 */
export function shownNow(
  present: PresentStatus,
  known: Known | null,
  observation: bigint,
  now: Date,
): { state: string; description: string } | null {
  if (!known || known.writtenState === null) return present;
  const written = { state: known.writtenState, description: known.writtenDescription ?? '' };
  const isOverlapping = known.writtenDuring !== null && known.writtenDuring >= observation;
  const writtenAt = known.writtenAt ?? never;
  const isRecent = now.getTime() - writtenAt.getTime() < longestLag;
  const behind = Math.sign(inSeconds(writtenAt) - inSeconds(present?.at ?? never));
  const isStale = present && behind !== 0 ? behind > 0 : isRecent;
  return isOverlapping || isStale ? written : present;
}
