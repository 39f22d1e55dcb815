import type { PresentStatus } from '../github/pull-requests/present-status.ts';
import { type Status, wantedOn } from './status.ts';
import { inSeconds } from '../time/local-time.ts';
import { isFull, type StatusCount, takesTexts } from './status-budget.ts';

/** What we know about the statuses on a SHA. `writtenState` and `writtenDescription` are the current status, ours or not. */
export type Known = StatusCount & {
  writtenState: string | null;
  writtenDescription: string | null;
  writtenAt: Date | null;
  writtenDuring: bigint | null;
  /** Writes without an answer. One of them may have arrived, so the next write checks first. */
  attempts: number;
  /** Whether the last status that GitHub accepts was written or refused, so that we want no other status there. */
  isFinal: boolean;
  isMergeGroup: boolean;
  notHeld: string | null;
};

/** GitHub's answers lag for seconds. This limit is generous. */
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
  // GitHub accepts no more statuses there. We try once when a freeze begins, so that the refusal is reported.
  if (known?.isFinal && isFull(known))
    return verdict.state !== 'success' && shown?.state === 'success' && known.notHeld !== 'refused';
  const wanted = known ? wantedOn({ ...known, ...verdict }) : verdict;
  if (shown?.state !== wanted.state) return true;
  if (shown.description === wanted.description) return false;
  return !known || takesTexts(known);
}

/** A status with our context that somebody else wrote, according to the observation; null if there is none. */
export function foreignIn(
  present: PresentStatus,
  known: Known | null,
  observation: bigint,
  now: Date,
): PresentStatus {
  // One of our writes may have arrived without its answer.
  if (known && known.attempts > 0) return null;
  if (!present || !known || known.writtenState === null) return present;
  if (shownNow(present, known, observation, now) !== present) return null;
  const isNewer = inSeconds(present.at) > inSeconds(known.writtenAt ?? never);
  const isOther =
    present.state !== known.writtenState || present.description !== (known.writtenDescription ?? '');
  return isNewer || isOther ? present : null;
}

/**
 * The status that GitHub shows: the observed one, or ours if it is newer. An observation may overlap with a write, and
 * GitHub may return a status from some seconds ago. GitHub's times are whole seconds: within the same second, ours
 * counts. If GitHub shows no status at all, we treat that as an old answer, but only for some minutes. After that,
 * somebody may have overwritten ours in that second, or the name of our context has changed.
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
