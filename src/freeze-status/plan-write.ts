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
};

/** GitHub takes 1,000 statuses for a SHA and context: the last hundred are kept for changes of the state. */
const mostTexts = 900;

/** Whether a verdict must be written. */
export function mustWrite(
  verdict: Status,
  present: PresentStatus,
  known: Known | null,
  reading: bigint,
): boolean {
  const shown = shownNow(present, known, reading);
  if (shown?.state !== verdict.state) return true;
  if (shown.description === verdict.description) return false;
  return !known || known.writes + known.overwrites < mostTexts;
}

/**
 * What GitHub shows: as the reading saw it, or what we wrote where that is newer. A reading may overlap with a write,
 * and GitHub may answer with what stood some seconds ago.
 */
function shownNow(
  present: PresentStatus,
  known: Known | null,
  reading: bigint,
): { state: string; description: string } | null {
  if (!known || known.writtenState === null) return present;
  const written = { state: known.writtenState, description: known.writtenDescription ?? '' };
  const isOverlapping = known.writtenDuring !== null && known.writtenDuring >= reading;
  const isStale = !present || (known.writtenAt !== null && present.at < known.writtenAt);
  return isOverlapping || isStale ? written : present;
}
