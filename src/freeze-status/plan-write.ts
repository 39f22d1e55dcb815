import type { PresentStatus } from '../pull-requests/present-status.ts';
import type { Status } from './decide-status.ts';

/** What we know of our own writes on a SHA. */
export type Known = {
  writtenState: string | null;
  writtenDescription: string | null;
  writtenAt: Date | null;
  writtenDuring: bigint | null;
  writes: number;
  overwrites: number;
  /** Writes whose answer did not come: one may have arrived, and the next looks first. */
  attempts: number;
};

/** GitHub's answers are behind for seconds; this is generous. */
export const longestLag = 5 * 60_000;

/** GitHub takes 1,000 statuses for a SHA and context: the last hundred are kept for changes of the state. */
const mostTexts = 900;

/** Whether a verdict must be written. */
export function mustWrite(
  verdict: Status,
  present: PresentStatus,
  known: Known | null,
  reading: bigint,
  now: Date,
): boolean {
  if (known && known.attempts > 0) return true;
  const shown = shownNow(present, known, reading, now);
  if (shown?.state !== verdict.state) return true;
  if (shown.description === verdict.description) return false;
  return !known || known.writes + known.overwrites < mostTexts;
}

const inSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);

/**
 * What GitHub shows: as the reading saw it, or what we wrote where that is newer. A reading may overlap with a write,
 * and GitHub may answer with what stood some seconds ago. GitHub's times are whole seconds: of the same second ours
 * counts, and that it knows of none at all is an old answer, but only for some minutes. Then somebody may have
 * overwritten ours in that second, or the name of our context has changed.
 */
export function shownNow(
  present: PresentStatus,
  known: Known | null,
  reading: bigint,
  now: Date,
): { state: string; description: string } | null {
  if (!known || known.writtenState === null) return present;
  const written = { state: known.writtenState, description: known.writtenDescription ?? '' };
  const isOverlapping = known.writtenDuring !== null && known.writtenDuring >= reading;
  const writtenAt = known.writtenAt?.getTime() ?? 0;
  const isRecent = now.getTime() - writtenAt < longestLag;
  const behind = Math.sign(inSeconds(writtenAt) - inSeconds(present?.at.getTime() ?? 0));
  const isStale = present && behind !== 0 ? behind > 0 : isRecent;
  return isOverlapping || isStale ? written : present;
}
