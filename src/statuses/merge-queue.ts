import { nowOf } from '../time/clock.ts';
import { mapAtOnce } from '../time/slices.ts';
import { loadPullRequestNodes } from '../github/pull-requests/load-pull-requests.ts';
import type { PullRequestFacts, PresentStatus } from '../github/pull-requests/pull-request.ts';
import {
  type MergeQueue,
  type QueueEntry,
  readMergeQueue,
} from '../github/pull-requests/read-merge-queue.ts';
import { fullName } from '../installations/find-repository.ts';
import { defineTask, NotNow } from '../database/queue/define-task.ts';
import { parseMergeGroupRef } from '../github/merge-group-ref.ts';
import { inSteps, jobs, type ToldOfGroup } from '../database/queue/jobs.ts';
import { decideGroup, type JudgedVerdict } from './judge.ts';
import { observe, type Observed, openObservation } from './observe.ts';
import { saveGroupVerdicts } from './save.ts';
import type { SqlTx } from '../database/sql.ts';
import type { StatusDeps } from './status-deps.ts';

/**
 * Observes the merge queue of a branch, because GitHub announced a group or its pull requests may have changed.
 * @param told the group that GitHub announced, if any, and through which installation.
 * @throws NotNow, or GitHub's error while it cannot answer. The worker tries again.
 */
export async function reconcileMergeQueue(
  deps: StatusDeps,
  repositoryId: bigint,
  branch: string,
  { headSha, headRef, isGone, installationId }: ToldOfGroup = {},
): Promise<void> {
  if (headSha && headRef && !isGone)
    await announceGroup(deps.sql, { repositoryId, branch }, { headSha, headRef }, nowOf(deps.clock));
  // For a repository that we read for the first time, its open pull requests come with their groups.
  const observed = await openObservation(deps, repositoryId, { through: installationId });
  await reconcileBranch(deps, observed, branch, headSha && isGone ? [headSha] : []);
}

/**
 * Observes the merge queues of a repository that have groups. Runs before we read its pull requests, because a group
 * with our success may merge at any moment. If GitHub cannot show a queue, we still observe the pull requests.
 * @throws NotNow if GitHub asks us to wait.
 */
export async function reconcileMergeQueues(deps: StatusDeps, observed: Observed): Promise<void> {
  const { id } = observed.repository;
  for (const branch of observed.groupBranches) {
    try {
      await reconcileBranch(deps, observed, branch);
    } catch (error) {
      if (error instanceof NotNow && error.until) throw error;
      if (error instanceof NotNow) continue;
      deps.log.warn({ err: error, branch }, 'a merge queue could not be read; reading it separately');
      await deps.queue.send([jobs.reconcileMergeQueue(id, branch)]);
    }
  }
}

/**
 * Judges every merge group of a branch by everything that it merges, and queues the changed statuses before all others.
 * @param gone the head SHAs of groups that GitHub says are gone.
 */
async function reconcileBranch(
  deps: StatusDeps,
  observed: Observed,
  branch: string,
  gone: string[] = [],
): Promise<void> {
  const { repository, observation, observedAt } = observed;
  const place = { repositoryId: repository.id, branch };
  const known = await knownGroups(deps.sql, place);
  const read = await observe(deps, repository, () => readQueue(observed, branch, known));
  const requestedAt = new Map(known.map((group) => [group.headSha, group.requestedAt]));
  const judged = await mapAtOnce(read.groups, (group) => {
    // A group without a webhook has waited since GitHub built it.
    const since = requestedAt.get(group.headSha) ?? group.builtAt;
    return { group, requestedAt: since, verdict: judgeGroup(observed, read, group, since) };
  });
  const verdicts = judged.map(({ verdict }) => verdict);
  const groups = judged.map(({ group: { headSha, entries, isShown }, requestedAt, verdict }) => ({
    head_sha: headSha,
    pull_requests: entries.map(({ number }) => number),
    held_by: [...new Set(verdict.holds.map(({ freeze }) => freeze.id))],
    requested_at: requestedAt,
    is_shown: isShown,
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

/** What GitHub says about a branch's merge queue. */
type ReadQueue = {
  timeoutMinutes: number;
  groups: FoundGroup[];
  /** Facts about their pull requests, by number, without pull requests that are already merged. */
  facts: Map<number, PullRequestFacts>;
  /** Groups that GitHub announced but does not show. */
  unseen: KnownGroup[];
  /** Whether entries still have no group. */
  hasUnbuilt: boolean;
};

async function readQueue({ from }: Observed, branch: string, known: KnownGroup[]): Promise<ReadQueue> {
  const queue = await readMergeQueue(from, branch);
  const shown = groupsIn(queue);
  const shas = new Set(shown.map(({ headSha }) => headSha));
  const told = known.flatMap((group) => {
    const { headSha, headRef } = group;
    return headRef === null ? [] : [{ group, found: findAnnounced(queue, { headSha, headRef }) }];
  });
  // The name of the ref counts in addition to the entry.
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
  // A merged pull request can no longer be held.
  return new Map(loaded.filter(({ isOpen }) => isOpen).map(({ facts }) => [facts.number, facts]));
}

function judgeGroup(
  observed: Observed,
  { timeoutMinutes, facts }: ReadQueue,
  { headSha, entries, status: present }: FoundGroup,
  requestedAt: Date,
): JudgedVerdict {
  const merged = entries.flatMap(({ number }) => facts.get(number) ?? []);
  const timesOutAt = new Date(requestedAt.getTime() + timeoutMinutes * 60_000);
  const { status, holds } = decideGroup(observed, merged, timesOutAt);
  return { sha: headSha, status, holds, present, subject: 'group', headOwner: '', urgency: entries.length };
}

/** Milliseconds until we judge a group again whose conditions were unknown. It holds up the queue, so this is soon. */
const unjudgedAfter = 30_000;
const unbuiltAfter = 30_000;
/** Milliseconds to wait for GitHub's answers, which are usually a few seconds behind its events. */
const unseenAfter = { soon: 5_000, later: 60_000 };

/** When to observe the queue again without an event, because something is still unknown. */
function lookAgainAt(
  deps: StatusDeps,
  read: ReadQueue,
  verdicts: JudgedVerdict[],
  gone: string[],
): Date | null {
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

/** A merge group that GitHub announced in a webhook. */
type AnnouncedGroup = { headSha: string; headRef: string };

/** A merge group and everything that it merges. */
type FoundGroup = {
  headSha: string;
  /** The entries from its own to the front of the queue, because GitHub builds each group on the one before it. */
  entries: QueueEntry[];
  builtAt: Date;
  /** Whether the queue shows the head. Else we only know it by the name of its ref. */
  isShown: boolean;
  status: PresentStatus;
};

/** The merge groups in the entries of a queue. */
export function groupsIn({ entries }: MergeQueue): FoundGroup[] {
  return entries.flatMap((entry, index) =>
    entry.headSha === null ? [] : [group(entry, entry.headSha, entries.slice(0, index + 1))],
  );
}

/**
 * The group that a webhook announced, if the queue shows it. The name of its ref is a cross-check: if it names a
 * different pull request than the entry, the group counts as merging both, and everything ahead of them.
 * @returns null if the queue does not show the group yet, or no longer: GitHub's answers lag behind its events.
 */
export function findAnnounced(queue: MergeQueue, announced: AnnouncedGroup): FoundGroup | null {
  const named = parseMergeGroupRef(announced.headRef);
  const { entries } = queue;
  const bySha = entries.findIndex(({ headSha }) => headSha === announced.headSha);
  const byName = entries.findIndex(({ number }) => number === named?.number);
  if (bySha === -1 && (byName === -1 || entries[byName]!.headSha !== null)) return null;
  const own = entries[bySha === -1 ? byName : bySha]!;
  return group(own, announced.headSha, entries.slice(0, Math.max(bySha, byName) + 1));
}

const group = (entry: QueueEntry, headSha: string, entries: QueueEntry[]): FoundGroup => ({
  headSha,
  entries,
  builtAt: entry.builtAt,
  isShown: entries.some((each) => each.headSha === headSha),
  status: entry.headSha === headSha ? entry.status : null,
});

export const reconcileMergeQueueTask = defineTask(
  jobs.reconcileMergeQueue,
  (deps: StatusDeps, { repositoryId, branch, ...told }) =>
    reconcileMergeQueue(deps, BigInt(repositoryId), branch, told),
  { takers: 24 },
);

// The table of merge groups.

/** A branch with a merge queue. */
type Branch = { repositoryId: bigint; branch: string };

/** A judged group in the form of its row: the pull requests that it merges, and the freezes that hold any of them. */
type JudgedGroup = {
  head_sha: string;
  pull_requests: number[];
  held_by: string[];
  requested_at: Date;
  is_shown: boolean;
};

/** GitHub waits at most this long for a check of a group. After that the group is gone, even without an event. */
const longestGroupWait = 360 * 60_000;

/** A group that the queue does not show after this time was gone before we heard of it. */
const longestUnseen = 10 * 60_000;

/**
 * Saves a group that GitHub announced. A known group stays as it is. Ignores unknown repositories.
 */
async function announceGroup(
  sql: SqlTx,
  { repositoryId, branch }: Branch,
  { headSha, headRef }: AnnouncedGroup,
  now: Date,
): Promise<void> {
  // An observation may have found it before. Now we also know since when GitHub waits.
  await sql.query(
    'announce-group',
    `INSERT INTO merge_groups AS known (repository_id, head_sha, head_ref, branch, requested_at)
    SELECT id, $2, $3, $4, $5 FROM repositories WHERE id = $1
    ON CONFLICT (repository_id, head_sha) DO UPDATE SET
      head_ref = excluded.head_ref, requested_at = excluded.requested_at
    WHERE known.head_ref IS NULL`,
    [repositoryId, headSha, headRef, branch, now],
  );
}

/** A merge group, with the name of its ref if GitHub announced it. */
type KnownGroup = {
  headSha: string;
  headRef: string | null;
  /** Since when GitHub waits for it. */
  requestedAt: Date;
  /** Whether an observation has seen it in the queue. */
  wasSeen: boolean;
};

/** The known groups of a branch. */
async function knownGroups(sql: SqlTx, { repositoryId, branch }: Branch): Promise<KnownGroup[]> {
  return sql.query<KnownGroup>(
    'known-groups',
    `SELECT head_sha AS "headSha", head_ref AS "headRef", requested_at AS "requestedAt", observation > 0 AS "wasSeen"
    FROM merge_groups WHERE repository_id = $1 AND branch = $2 ORDER BY head_sha`,
    [repositoryId, branch],
  );
}

/**
 * Saves the groups that an observation found, unless a later observation already saw them. Removes groups of the branch
 * that the queue no longer shows, that are gone, or that GitHub no longer waits for.
 */
async function saveGroups(
  tx: SqlTx,
  { repositoryId, branch }: Branch,
  groups: JudgedGroup[],
  { observation, gone, now }: { observation: bigint; gone: string[]; now: Date },
): Promise<void> {
  // The queue may not show a group yet that we only know by its ref.
  await tx.query(
    'save-groups',
    `INSERT INTO merge_groups AS known (repository_id, branch, head_sha, pull_requests, held_by, requested_at, observation)
    SELECT $1, $2, head_sha, pull_requests, held_by, requested_at, CASE WHEN is_shown THEN $3::bigint ELSE 0 END
    FROM jsonb_to_recordset($4::jsonb) AS judged(head_sha text, pull_requests int[], held_by uuid[],
      requested_at timestamptz, is_shown boolean)
    ON CONFLICT (repository_id, head_sha) DO UPDATE SET branch = excluded.branch,
      pull_requests = excluded.pull_requests, held_by = excluded.held_by,
      observation = greatest(known.observation, excluded.observation)
    WHERE known.observation < $3`,
    [repositoryId, branch, observation, JSON.stringify(groups)],
  );
  await tx.query(
    'forget-groups',
    `DELETE FROM merge_groups WHERE repository_id = $1 AND branch = $2
      AND ((observation > 0 AND observation < $3) OR head_sha = ANY($4::text[]) OR requested_at < $5
        OR (observation = 0 AND requested_at < $6))`,
    [
      ...[repositoryId, branch, observation, gone],
      ...[new Date(now.getTime() - longestGroupWait), new Date(now.getTime() - longestUnseen)],
    ],
  );
}
