import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { loadPullRequestNodes } from '../github/pull-requests/load-pull-requests.ts';
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import { type MergeQueue, readMergeQueue } from '../github/pull-requests/read-merge-queue.ts';
import { fullName } from '../installations/find-repository.ts';
import { groupUrgency } from '../outbox/urgency.ts';
import { inSteps, jobs, type ToldOfGroup } from '../queue/jobs.ts';
import { NotNow } from '../queue/not-now.ts';
import { decideGroup, type Verdict } from './judge.ts';
import {
  announceGroup,
  branchesWithGroups,
  type KnownGroup,
  knownGroups,
  saveGroups,
} from './merge-group-store.ts';
import { findAnnounced, type FoundGroup, groupsIn } from './merge-groups.ts';
import { observe, type Observed, openObservation } from './observe.ts';
import { saveGroupVerdicts } from './save.ts';

/**
 * Observes the merge queue of a branch, because GitHub told of a group, or because what it holds may have changed.
 * @param told the group that GitHub told of, if any, and through which installation.
 * @throws NotNow; and what GitHub throws while it cannot answer: the worker tries again.
 */
export async function reconcileMergeQueue(
  deps: Deps,
  repositoryId: bigint,
  branch: string,
  { headSha, headRef, isGone, installationId }: ToldOfGroup = {},
): Promise<void> {
  if (headSha && headRef && !isGone)
    await announceGroup(deps.sql, { repositoryId, branch }, { headSha, headRef }, nowOf(deps.clock));
  // The groups of a repository that is read first are found with its open pull requests.
  const observed = await openObservation(deps, repositoryId, { through: installationId });
  await reconcileBranch(deps, observed, branch, headSha && isGone ? [headSha] : []);
}

/**
 * Observes the merge queues of a repository that have groups in flight, before its pull requests are read: what we
 * passed may merge at any moment. A queue that GitHub cannot show does not keep the pull requests from being observed.
 * @returns the branches.
 * @throws NotNow where GitHub asks to wait.
 */
export async function reconcileMergeQueues(deps: Deps, observed: Observed): Promise<string[]> {
  const { id } = observed.repository;
  const branches = await branchesWithGroups(deps.sql, id);
  for (const branch of branches) {
    try {
      await reconcileBranch(deps, observed, branch);
    } catch (error) {
      if (error instanceof NotNow && error.until) throw error;
      if (error instanceof NotNow) continue;
      deps.log.warn({ err: error, branch }, 'a merge queue could not be read; reading it separately');
      await deps.queue.send([jobs.reconcileMergeQueue(id, branch)]);
    }
  }
  return branches;
}

/**
 * Judges every merge group in flight on a branch by all that it merges, and has the differences written before
 * anything else.
 * @param gone head SHAs of groups that GitHub says are gone.
 */
async function reconcileBranch(
  deps: Deps,
  observed: Observed,
  branch: string,
  gone: string[] = [],
): Promise<void> {
  const { repository, observation, observedAt } = observed;
  const place = { repositoryId: repository.id, branch };
  const known = await knownGroups(deps.sql, place);
  const read = await observe(deps, repository, () => readQueue(observed, branch, known));
  const requestedAt = new Map(known.map((group) => [group.headSha, group.requestedAt]));
  const judged = read.groups.map((group) => {
    // One that no webhook told of has waited since it was built.
    const since = requestedAt.get(group.headSha) ?? group.builtAt;
    return { group, requestedAt: since, verdict: judgeGroup(observed, read, group, since) };
  });
  const verdicts = judged.map(({ verdict }) => verdict);
  const groups = judged.map(({ group: { headSha, entries, isShown }, requestedAt, verdict }) => ({
    ...{ headSha, isShown, requestedAt },
    heldBy: [...new Set(verdict.holds.map(({ freeze }) => freeze.id))],
    pullRequests: entries.map(({ number }) => number),
  }));
  const at = lookAgainAt(deps, read, verdicts, gone);
  const { differing } = await saveGroupVerdicts(
    deps,
    observed,
    verdicts,
    (tx) => saveGroups(tx, place, groups, { observation, gone, now: observedAt }),
    at ? [jobs.reconcileMergeQueue(repository.id, branch, { at })] : [],
  );
  const counts = { groups: groups.length, unseen: read.unseen.length, differing };
  deps.log.info({ repository: fullName(repository), branch, ...counts }, 'merge queue reconciled');
}

/** What GitHub says of a branch's merge queue. */
type ReadQueue = {
  timeoutMinutes: number;
  groups: FoundGroup[];
  /** What their pull requests are, by number; without those that are merged already. */
  facts: Map<number, PullRequestFacts>;
  /** Groups that GitHub told of and does not show. */
  unseen: KnownGroup[];
  /** Whether entries wait for their group. */
  hasUnbuilt: boolean;
};

async function readQueue({ from }: Observed, branch: string, known: KnownGroup[]): Promise<ReadQueue> {
  const queue: MergeQueue = (await readMergeQueue(from, branch)) ?? { timeoutMinutes: 0, entries: [] };
  const shown = groupsIn(queue);
  const shas = new Set(shown.map(({ headSha }) => headSha));
  const told = known.flatMap((group) => {
    const { headSha, headRef } = group;
    return headRef === null ? [] : [{ group, found: findAnnounced(queue, { headSha, headRef }) }];
  });
  // What the ref's name says counts beside what the entry says.
  const checked = new Map(told.flatMap(({ found }) => (found ? [[found.headSha, found] as const] : [])));
  const groups = [
    ...shown.map((group) => checked.get(group.headSha) ?? group),
    ...[...checked.values()].filter(({ headSha }) => !shas.has(headSha)),
  ];
  const entries = groups.flatMap((group) => group.entries);
  return {
    timeoutMinutes: queue.timeoutMinutes,
    groups,
    facts: await readFacts(from, entries),
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
  observed: Observed,
  { timeoutMinutes, facts }: ReadQueue,
  { headSha, entries, status: present }: FoundGroup,
  requestedAt: Date,
): Verdict {
  const merged = entries.flatMap(({ number }) => facts.get(number) ?? []);
  const timesOutAt = new Date(requestedAt.getTime() + timeoutMinutes * 60_000);
  const { status, holds } = decideGroup(observed, merged, timesOutAt);
  return { sha: headSha, status, holds, present, urgency: groupUrgency(entries.length) };
}

/** A group whose freezes could not be judged holds up the queue: soon. */
const unjudgedAfter = 30_000;
const unbuiltAfter = 30_000;
/** GitHub's answers are some seconds behind its events, rarely more. */
const unseenAfter = { soon: 5_000, later: 60_000 };

/** When to observe it again without an event, for what is not known yet. */
function lookAgainAt(deps: Deps, read: ReadQueue, verdicts: Verdict[], gone: string[]): Date | null {
  const now = nowOf(deps.clock);
  const missing = read.unseen.filter(({ headSha }) => !gone.includes(headSha));
  const isNew = ({ requestedAt }: KnownGroup) => now.getTime() - requestedAt.getTime() < unseenAfter.later;
  const isUnjudged = verdicts.some(({ holds }) => holds.some(({ unjudged }) => unjudged !== null));
  const waits = [
    ...missing.map((group) => (isNew(group) ? unseenAfter.soon : unseenAfter.later)),
    ...(isUnjudged ? [unjudgedAfter] : []),
    ...(read.hasUnbuilt ? [unbuiltAfter] : []),
  ];
  return waits.length === 0 ? null : inSteps(now, Math.min(...waits));
}
