import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import type { PresentStatus } from '../github/pull-requests/present-status.ts';
import type { Status } from './status.ts';

// What is written first, in one place. Urgencies are compared within an installation; the smallest is written first.
// Merge groups are far below zero, holes that an event opened below what a freeze begins with, which is 0 to 3.

/** How many ranks a tier has: one for each closeness to merging. */
const ranks = 4;
const tiers = { closes: 0, letsGo: 1, isFirst: 2, changesText: 3, isClosed: 4 } as const;

/**
 * Merge groups come before everything else: what they show decides at once what is merged. Those at the front come
 * first: a failure there has the groups behind it built anew, while one behind would put out a pull request that is
 * not frozen itself.
 * @param position in the queue, from 1.
 */
export const groupUrgency = (position: number): number => position - 1_000_000;

/** Before everything else, merge groups too: those are not merged while they wait. */
const returnUrgency = -2_000_000;

/**
 * What an exemption let through and does no more is held first of all: it was let through to be merged.
 * @param isReturning whether it was exempt from what holds it now.
 */
export const returningFirst = (
  urgency: number,
  status: Status,
  present: PresentStatus,
  isReturning: boolean,
): number =>
  isReturning && status.state !== 'success' && present?.state === 'success' ? returnUrgency : urgency;

/** Behind everything that concerns open pull requests. */
export const closedUrgency = ranks * tiers.isClosed;

/** What of a pull request says how close it is to be merged. */
type Close = Pick<LoadedPullRequest, 'isAutoMerging' | 'queueBranch' | 'isMergeable' | 'isDraft'>;

/** The urgency of a status on a commit of open pull requests: first what it changes, then who waits for it. */
export const urgencyOf = (status: Status, present: PresentStatus, sharing: Close[]): number =>
  ranks * tierOf(status, present) + Math.min(...sharing.map(closenessOf));

/**
 * A hole that an event has just made, such as a green pull request that is retargeted into a frozen branch, is closed
 * before those of a freeze that begins: one write, and somebody may be about to use it.
 */
export const beforeTheRest = <Verdict extends { status: Status; present: PresentStatus; urgency: number }>(
  verdict: Verdict,
): Verdict =>
  verdict.status.state === 'pending' && verdict.present?.state === 'success'
    ? { ...verdict, urgency: verdict.urgency - ranks }
    : verdict;

/** The urgency of writing over what somebody else wrote. */
export const correctionUrgency = (closesHole: boolean): number =>
  ranks * (closesHole ? tiers.closes : tiers.letsGo);

/**
 * What a write changes, the most pressing first: it closes a hole, it lets go, it is a first success, it only
 * changes the text. So an emergency freeze never waits behind the first statuses of a new installation.
 */
function tierOf(status: Status, present: PresentStatus): number {
  if (status.state === present?.state) return tiers.changesText;
  if (status.state === 'pending') return tiers.closes;
  return present ? tiers.letsGo : tiers.isFirst;
}

/** Closest to merging first: queued or auto-merge, then mergeable, then the rest, drafts last. */
function closenessOf({ isAutoMerging, queueBranch, isMergeable, isDraft }: Close): number {
  if (isAutoMerging || queueBranch !== null) return 0;
  if (isDraft) return 3;
  return isMergeable ? 1 : 2;
}
