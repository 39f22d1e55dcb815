import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { inSteps, jobs } from '../../queue/jobs.ts';
import { loadMergeQueue } from './load-merge-queue.ts';
import { forgetGroups, requestedTimes, saveGroup, type ToldGroup, toldGroups } from './merge-group-store.ts';
import { findAnnounced, type FoundGroup, groupsIn, type MergeQueue } from './merge-groups.ts';
import { loadPullRequestNodes } from '../../github/pull-requests/load-pull-requests.ts';
import type { PullRequestFacts } from '../../github/pull-requests/pull-request.ts';
import { fullName } from '../../installations/find-repository.ts';
import { lockRepository } from '../../installations/lock-repository.ts';
import { decideGroup } from '../judge.ts';
import { forgetHeads } from '../forget-heads.ts';
import type { Observed } from '../observe.ts';
import { groupUrgency } from '../../outbox/urgency.ts';
import { saveVerdicts, type Verdict } from '../save.ts';

/** What GitHub says of a branch's merge queue. */
type ReadQueue = {
  timeoutMinutes: number;
  groups: FoundGroup[];
  /** What their pull requests are, by number; without those that are merged already. */
  facts: Map<number, PullRequestFacts>;
  /** Groups that GitHub told of and does not show. */
  unseen: ToldGroup[];
  /** Whether entries wait for their group. */
  hasUnbuilt: boolean;
};

/** A group whose freezes could not be judged holds up the queue: soon. */
const unjudgedAfter = 30_000;
const unbuiltAfter = 30_000;
/** GitHub's answers are some seconds behind its events, rarely more. */
const unseenAfter = { soon: 5_000, later: 60_000 };

/**
 * Judges every merge group in flight on a branch by all that it merges, and has the differences written before
 * anything else.
 * @param gone head SHAs of groups that GitHub says are gone.
 * @throws what GitHub throws while it cannot answer.
 */
export async function judgeMergeQueue(
  deps: Deps,
  observed: Observed,
  branch: string,
  gone: string[] = [],
): Promise<void> {
  const read = await readQueue(deps, observed, branch);
  const place = { repositoryId: observed.repository.id, branch };
  const { observation, observedAt } = observed;
  const written = await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, place.repositoryId);
    const times = await requestedTimes(tx, place.repositoryId, branch);
    const verdicts: Verdict[] = [];
    for (const group of read.groups) {
      // One that no webhook told of has waited since it was built.
      const requestedAt = times.get(group.headSha) ?? group.builtAt;
      const verdict = judgeGroup(observed, read, group, requestedAt);
      const heldBy = [...new Set(verdict.holds.map(({ freeze }) => freeze.id))];
      const pullRequests = group.entries.map(({ number }) => number);
      const { headSha, isShown } = group;
      await saveGroup(tx, place, { headSha, pullRequests, heldBy, requestedAt, isShown }, observation);
      verdicts.push(verdict);
    }
    await forgetGroups(tx, place, { observation, gone, now: observedAt });
    const count = await saveVerdicts(deps, tx, observed, verdicts, true);
    await forgetHeads(tx, observed);
    const at = lookAgainAt(deps, read, verdicts, gone);
    if (at) await deps.queue.send([jobs.reconcileMergeQueue(place.repositoryId, branch, { at })], tx);
    return count;
  });
  const counts = { groups: read.groups.length, unseen: read.unseen.length, differing: written };
  deps.log.info({ repository: fullName(observed.repository), branch, ...counts }, 'merge queue reconciled');
}

async function readQueue(deps: Deps, { from, repository }: Observed, branch: string): Promise<ReadQueue> {
  const announced = await toldGroups(deps.db, repository.id, branch);
  const queue: MergeQueue = (await loadMergeQueue(from, branch)) ?? { timeoutMinutes: 0, entries: [] };
  const shown = groupsIn(queue);
  const shas = new Set(shown.map(({ headSha }) => headSha));
  const told = announced.map((group) => ({ group, found: findAnnounced(queue, group) }));
  // What the ref's name says counts beside what the entry says.
  const checked = new Map(told.flatMap(({ found }) => (found ? [[found.headSha, found] as const] : [])));
  const groups = [
    ...shown.map((group) => checked.get(group.headSha) ?? group),
    ...[...checked.values()].filter(({ headSha }) => !shas.has(headSha)),
  ];
  return {
    timeoutMinutes: queue.timeoutMinutes,
    groups,
    facts: await readFacts(
      from,
      groups.flatMap(({ entries }) => entries),
    ),
    unseen: told.filter(({ found, group }) => found === null && !group.wasSeen).map(({ group }) => group),
    hasUnbuilt: queue.entries.some(({ headSha }) => headSha === null),
  };
}

async function readFacts(from: Observed['from'], entries: FoundGroup['entries']) {
  const nodeIds = [...new Set(entries.map(({ nodeId }) => nodeId))];
  const loaded = nodeIds.length > 0 ? await loadPullRequestNodes(from, nodeIds) : [];
  const found = new Set(loaded.map(({ facts }) => facts.number));
  if (entries.some(({ number }) => !found.has(number)))
    throw new Error('GitHub did not give a pull request that is in the merge queue');
  // What is merged already cannot be held any more.
  return new Map(loaded.filter(({ isOpen }) => isOpen).map(({ facts }) => [facts.number, facts]));
}

function judgeGroup(
  { freezes, observedAt }: Observed,
  { timeoutMinutes, facts }: ReadQueue,
  { headSha, entries, status: present }: FoundGroup,
  requestedAt: Date,
): Verdict {
  const merged = entries.flatMap(({ number }) => facts.get(number) ?? []);
  const timesOutAt = new Date(requestedAt.getTime() + timeoutMinutes * 60_000);
  const { status, holds } = decideGroup(freezes, merged, timesOutAt, observedAt);
  return { sha: headSha, status, holds, present, urgency: groupUrgency(entries.length) };
}

/** When to look again without an event: at what is not known yet. */
function lookAgainAt(deps: Deps, read: ReadQueue, verdicts: Verdict[], gone: string[]): Date | null {
  const now = nowOf(deps.clock);
  const missing = read.unseen.filter(({ headSha }) => !gone.includes(headSha));
  const isNew = ({ requestedAt }: ToldGroup) => now.getTime() - requestedAt.getTime() < unseenAfter.later;
  const isUnjudged = verdicts.some(({ holds }) => holds.some(({ unjudged }) => unjudged !== null));
  const waits = [
    ...missing.map((group) => (isNew(group) ? unseenAfter.soon : unseenAfter.later)),
    ...(isUnjudged ? [unjudgedAfter] : []),
    ...(read.hasUnbuilt ? [unbuiltAfter] : []),
  ];
  return waits.length === 0 ? null : inSteps(now, Math.min(...waits));
}
