import { requiredStates } from './mergeability.ts';
import { stackOf, trunkOf } from './stacks.ts';
import type { MergeGroup, MergeQueue, MergeQueueEntry, PullRequest } from './model.ts';

/** GitHub's answer to the merge button on a branch with a queue. */
export const throughTheQueue = 'Changes must be made through the merge queue';

/** The queue that a pull request must pass; undefined if its base has none. */
export const queueOf = (pr: PullRequest): MergeQueue | undefined =>
  pr.repository.mergeQueues.get(trunkOf(pr));

type Verdict = 'passed' | 'failed' | 'waiting' | 'timed out';

/** The result of the required checks of an entry's group. The head of the pull request counts only when it enters. */
function verdictOf(queue: MergeQueue, { group }: MergeQueueEntry, now: Date): Verdict {
  if (!group) return 'waiting';
  const states = requiredStates(queue.repository, queue.branch, group.headSha).map(({ state }) => state);
  if (states.some((state) => state === 'failure' || state === 'error')) return 'failed';
  if (states.every((state) => state === 'success')) return 'passed';
  return isLate(queue, group, now) ? 'timed out' : 'waiting';
}

const minutesAfter = (instant: Date, minutes: number) => instant.getTime() + minutes * 60_000;

function isLate(queue: MergeQueue, { requestedAt }: MergeGroup, now: Date): boolean {
  return now.getTime() >= minutesAfter(requestedAt, queue.checkResponseTimeoutMinutes);
}

export function stateOf(queue: MergeQueue, entry: MergeQueueEntry, now: Date): MergeQueueEntry['state'] {
  if (!entry.group) return 'QUEUED';
  const verdict = verdictOf(queue, entry, now);
  if (verdict === 'passed') return 'MERGEABLE';
  return verdict === 'waiting' ? 'AWAITING_CHECKS' : 'UNMERGEABLE';
}

/**
 * The entries that merge now, from the front. ALLGREEN: as long as each one passes. HEADGREEN: up to the last one that
 * passes within the limit, no matter whether those ahead of it pass.
 */
export function mergingNow(queue: MergeQueue, now: Date): MergeQueueEntry[] {
  const within = queue.entries.slice(0, mostMerged(queue));
  const passes = [...within.map((entry) => verdictOf(queue, entry, now) === 'passed'), false];
  const count = queue.mergingStrategy === 'ALLGREEN' ? passes.indexOf(false) : passes.lastIndexOf(true) + 1;
  if (count === 0) return [];
  const waitedEnough =
    now.getTime() >= minutesAfter(within[0]!.enqueuedAt, queue.minEntriesToMergeWaitMinutes);
  return count >= queue.minEntriesToMerge || waitedEnough ? within.slice(0, count) : [];
}

/** The limit of one merge. GitHub goes half over it rather than to part a stack. */
function mostMerged({ entries, maxEntriesToMerge: most }: MergeQueue): number {
  const last = entries[most - 1];
  const stack = last && stackOf(last.pullRequest);
  const rest = entries.slice(most).findIndex(({ pullRequest }) => stackOf(pullRequest) !== stack);
  const whole = most + (rest === -1 ? entries.length - most : rest);
  return stack && whole <= most * 1.5 ? whole : most;
}

/** The first entry that must leave, and why; null if none must. */
export function nextToEject(queue: MergeQueue, now: Date): { entry: MergeQueueEntry; reason: string } | null {
  for (const entry of queue.entries) {
    const verdict = verdictOf(queue, entry, now);
    if (verdict !== 'failed' && verdict !== 'timed out') continue;
    if (queue.mergingStrategy === 'HEADGREEN' && mayStillRide(queue, entry, now)) continue;
    return { entry, reason: verdict === 'failed' ? 'CI_FAILURE' : 'CI_TIMEOUT' };
  }
  return null;
}

/**
 * In HEADGREEN, an entry that failed can merge with a passing one behind it. GitHub does not say how long it waits for
 * that. The sandbox waits until every group that it could merge with has failed too, or until its own time-out.
 */
function mayStillRide(queue: MergeQueue, entry: MergeQueueEntry, now: Date): boolean {
  const index = queue.entries.indexOf(entry);
  const behind = queue.entries
    .slice(index + 1, index + queue.maxEntriesToMerge)
    .filter(({ group }) => group)
    .map((each) => verdictOf(queue, each, now));
  return behind.includes('passed') || (behind.includes('waiting') && !isLate(queue, entry.group!, now));
}
