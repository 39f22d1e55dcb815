import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import type { PresentStatus } from '../github/pull-requests/present-status.ts';
import type { Status } from './status.ts';

// The order of writes. We compare urgencies within an installation and write the smallest first. Merge groups are far
// below zero. Holes that an event opened come before the statuses of a freeze that begins, which have 0 to 3.

/** The ranks of a tier, by how close a pull request is to merging. */
const ranks = 4;
const tiers = { closes: 0, letsGo: 1, isFirst: 2, changesText: 3, isClosed: 4 } as const;

/**
 * Merge groups come before everything else, because GitHub merges as soon as it sees their status. Groups at the front
 * of the queue come first: a failure at the front rebuilds the groups behind it, while a failure further back could
 * remove a pull request that is not frozen.
 * @param position in the queue, from 1.
 */
export const groupUrgency = (position: number): number => position - 1_000_000;

/** Comes even before merge groups, because groups do not merge while they wait. */
const returnUrgency = -2_000_000;

/**
 * Holds a pull request first whose exemption just ended, because somebody was about to merge it.
 * @param isReturning whether it was exempt from the freezes that hold it now.
 */
export const returningFirst = (
  urgency: number,
  status: Status,
  present: PresentStatus,
  isReturning: boolean,
): number =>
  isReturning && status.state !== 'success' && present?.state === 'success' ? returnUrgency : urgency;

/** Comes after everything about open pull requests. */
export const closedUrgency = ranks * tiers.isClosed;

/** The facts that say how close a pull request is to merging. */
type Close = Pick<LoadedPullRequest, 'isAutoMerging' | 'queueBranch' | 'isMergeable' | 'isDraft'>;

/** The urgency of a status for open pull requests: by what it changes, then by how close they are to merging. */
export const urgencyOf = (status: Status, present: PresentStatus, sharing: Close[]): number =>
  ranks * tierOf(status, present) + Math.min(...sharing.map(closenessOf));

/**
 * Closes a hole that an event just opened before the holes of a freeze that begins. For example, somebody retargets a
 * green pull request to a frozen branch: it takes one write, and somebody may be about to merge.
 */
export const beforeTheRest = <Verdict extends { status: Status; present: PresentStatus; urgency: number }>(
  verdict: Verdict,
): Verdict =>
  verdict.status.state === 'pending' && verdict.present?.state === 'success'
    ? { ...verdict, urgency: verdict.urgency - ranks }
    : verdict;

/** The urgency of correcting a status that somebody else wrote. */
export const correctionUrgency = (closesHole: boolean): number =>
  ranks * (closesHole ? tiers.closes : tiers.letsGo);

/**
 * Sorts writes by effect, the most urgent first: closing a hole, releasing, a first success, a new text. So an emergency
 * freeze never waits behind the first statuses of a new installation.
 */
function tierOf(status: Status, present: PresentStatus): number {
  if (status.state === present?.state) return tiers.changesText;
  if (status.state === 'pending') return tiers.closes;
  return present ? tiers.letsGo : tiers.isFirst;
}

/** The closest to merging comes first: queued or auto-merge, then mergeable, then the rest, and drafts last. */
function closenessOf({ isAutoMerging, queueBranch, isMergeable, isDraft }: Close): number {
  if (isAutoMerging || queueBranch !== null) return 0;
  if (isDraft) return 3;
  return isMergeable ? 1 : 2;
}
