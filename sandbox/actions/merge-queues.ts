import { mergeGroupJson } from '../json/merge-group-json.ts';
import { mergingNow, nextToEject, queueOf, stateOf } from '../state/merge-queue-rules.ts';
import { mergedWith, stackOf } from '../state/stacks.ts';
import { mergeBlocker } from '../state/mergeability.ts';
import type {
  Account,
  MergeGroup,
  MergeQueue,
  MergeQueueEntry,
  PullRequest,
  Repository,
} from '../state/model.ts';
import type { World } from '../state/world.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { PullRequestEvents } from './pull-request-events.ts';
import type { PullRequests } from './pull-requests.ts';
import { ownerSender } from './sender.ts';

/** Events after which a queued pull request leaves. GitHub has no reason for these, so they count as manual. */
const leaving = new Set(['closed', 'synchronize', 'converted_to_draft', 'retargeted']);
/** Events after which a pull request may be ready to enter. */
const entering = new Set(['auto_merge_enabled', 'ready_for_review']);

/**
 * GitHub's merge queues. Each of the first entries has a merge group, built on the one ahead. The requirements of the
 * branch apply to the groups. We do not know whether GitHub removes a queued pull request when its own head fails, so
 * the sandbox does not. It applies time-outs when something else happens, or when `settle` is called.
 */
export class MergeQueues {
  readonly #world: World;
  readonly #webhooks: Webhooks;
  readonly #events: PullRequestEvents;
  readonly #pullRequests: PullRequests;

  constructor(world: World, webhooks: Webhooks, events: PullRequestEvents, pullRequests: PullRequests) {
    this.#world = world;
    this.#webhooks = webhooks;
    this.#events = events;
    this.#pullRequests = pullRequests;
  }

  /** "Merge when ready": enters the queue. While its own checks do not pass, it waits like auto-merge. */
  enqueue(pr: PullRequest, by: Account): void {
    const queue = queueOf(pr);
    if (!queue || pr.mergeQueueEntry || pr.state === 'closed') return;
    if (!mergeBlocker(pr)) {
      for (const each of mergedWith(pr)) if (!each.mergeQueueEntry) this.#enter(queue, each, by);
    } else if (stackOf(pr)) {
      throw new Error(`#${pr.number} is in a stack, which cannot wait to enter the queue`);
    } else if (!pr.autoMerge) {
      pr.autoMerge = { enabledAt: this.#world.now(), enabledBy: by };
      this.#events.emit(pr, 'auto_merge_enabled', {}, by);
    }
    this.settle(queue);
  }

  dequeue(pr: PullRequest, reason = 'MANUAL'): void {
    const queue = pr.mergeQueueEntry?.queue;
    if (!queue) return;
    this.#remove(pr.mergeQueueEntry!, reason);
    this.settle(queue);
  }

  /** Moves it to the front. Every group is rebuilt. */
  jump(pr: PullRequest): void {
    const entry = pr.mergeQueueEntry;
    if (!entry?.queue) throw new Error(`#${pr.number} is in no merge queue`);
    const { entries } = entry.queue;
    entry.jump = true;
    entry.rank = entries[0]!.rank - 1;
    this.#arrange(entry.queue, [entry, ...entries.filter((each) => each !== entry)]);
    this.settle(entry.queue);
  }

  /** Every pull request leaves, as when the queue is disabled. */
  clear(queue: MergeQueue): void {
    for (const entry of queue.entries) this.#remove(entry, 'QUEUE_CLEARED');
  }

  /** Something happened to a pull request: it may leave its queue, enter it, or have merged without it. */
  onEvent(pr: PullRequest, action: string, payload: object): void {
    if (pr.merged?.how === 'queue') return;
    const changes = 'changes' in payload ? (payload.changes as object) : {};
    const what = 'base' in changes ? 'retargeted' : action;
    if (!leaving.has(what) && !entering.has(what)) return;
    if (leaving.has(what) && pr.mergeQueueEntry?.queue) {
      this.#remove(pr.mergeQueueEntry, pr.merged ? 'ALREADY_MERGED' : 'MANUAL');
    }
    this.settleAll(pr.repository);
  }

  settleAll(repository: Repository): void {
    for (const queue of repository.mergeQueues.values()) this.settle(queue);
  }

  /** Adds, removes, builds and merges until nothing changes. */
  settle(queue: MergeQueue): void {
    for (const pr of queue.repository.pullRequests.values()) {
      const { autoMerge } = pr;
      const isWaiting = autoMerge && queueOf(pr) === queue && !pr.mergeQueueEntry;
      if (isWaiting && !mergeBlocker(pr)) this.#enter(queue, pr, autoMerge.enabledBy);
    }
    // Rebuilt before the next one is judged: a group that failed with another may pass without it.
    do this.#build(queue);
    while (this.#eject(queue) || this.#merge(queue));
    for (const entry of queue.entries) entry.state = stateOf(queue, entry, this.#world.now());
  }

  #enter(queue: MergeQueue, pr: PullRequest, by: Account): void {
    const id = this.#world.ids.next('queue entry', 3_000_000);
    const enqueuedAt = this.#world.now();
    pr.mergeQueueEntry = {
      id,
      queue,
      pullRequest: pr,
      enqueuer: by,
      enqueuedAt,
      rank: id,
      position: 0,
      state: 'QUEUED',
      jump: false,
      group: null,
    };
    // GitHub shows no auto-merge for a pull request in the queue.
    pr.autoMerge = null;
    this.#arrange(queue, [...queue.entries, pr.mergeQueueEntry]);
    this.#events.emit(pr, 'enqueued', {}, by);
  }

  #eject(queue: MergeQueue): boolean {
    const next = nextToEject(queue, this.#world.now());
    if (next) this.#remove(next.entry, next.reason);
    return next !== null;
  }

  /** Destroys every group that is not built on the one ahead of it now, and builds the missing groups. */
  #build(queue: MergeQueue): void {
    const conflicting = queue.entries.filter(({ pullRequest }) => pullRequest.isConflicting);
    for (const entry of conflicting) this.#remove(entry, 'MERGE_CONFLICT');
    const { repository, branch, entries } = queue;
    const tip = repository.branches.get(branch)!;
    const baseOf = (index: number) => entries[index - 1]?.group?.headSha ?? tip;
    const stale = entries.findIndex(({ group }, index) => group?.baseSha !== baseOf(index));
    if (stale === -1) return;
    for (const entry of entries.slice(stale)) {
      if (entry.group) this.#tell(queue, entry.group, 'destroyed', 'invalidated');
      entry.group = null;
    }
    for (const [index, entry] of entries.slice(0, queue.maxEntriesToBuild).entries()) {
      if (entry.group) continue;
      entry.group = this.#newGroup(queue, entry.pullRequest, baseOf(index));
      this.#tell(queue, entry.group, 'checks_requested');
    }
  }

  #newGroup({ repository, branch }: MergeQueue, pr: PullRequest, baseSha: string): MergeGroup {
    const { ids } = this.#world;
    const requestedAt = this.#world.now();
    const headSha = ids.sha();
    const person = { name: 'github-merge-queue', email: 'noreply@github.com', date: requestedAt };
    repository.commits.add(headSha);
    repository.commitDetails.set(headSha, {
      message: `Merge pull request #${pr.number} from ${pr.head.repository.owner.login}/${pr.head.ref}`,
      author: { ...person, user: null },
      committer: person,
      isVerified: true,
      isSignedByGitHub: true,
      parents: [baseSha, pr.head.sha],
    });
    const ref = `refs/heads/gh-readonly-queue/${branch}/pr-${pr.number}-${baseSha}`;
    return { headSha, treeSha: ids.sha(), baseSha, ref, requestedAt };
  }

  #merge(queue: MergeQueue): boolean {
    const merging = mergingNow(queue, this.#world.now());
    this.#arrange(queue, queue.entries.slice(merging.length));
    for (const { pullRequest, group, enqueuer } of merging) {
      pullRequest.mergeQueueEntry = null;
      this.#events.emit(pullRequest, 'dequeued', { reason: 'MERGE' }, enqueuer);
      this.#pullRequests.merge(pullRequest, enqueuer, 'queue', group!.headSha);
      this.#tell(queue, group!, 'destroyed', 'merged');
    }
    return merging.length > 0;
  }

  #remove(entry: MergeQueueEntry, reason: string): void {
    const { pullRequest, group, enqueuer } = entry;
    const queue = entry.queue!;
    this.#arrange(
      queue,
      queue.entries.filter((each) => each !== entry),
    );
    pullRequest.mergeQueueEntry = null;
    this.#events.emit(pullRequest, 'dequeued', { reason }, enqueuer);
    if (group) this.#tell(queue, group, 'destroyed', 'dequeued');
  }

  #arrange(queue: MergeQueue, entries: MergeQueueEntry[]): void {
    queue.entries = entries;
    entries.forEach((entry, index) => (entry.position = index + 1));
  }

  #tell(queue: MergeQueue, group: MergeGroup, action: string, reason?: string): void {
    const { repository } = queue;
    this.#webhooks.emit({
      event: 'merge_group',
      action,
      repository,
      sender: ownerSender(this.#world, repository.owner),
      payload: { ...(reason && { reason }), merge_group: mergeGroupJson(queue, group) },
    });
  }
}
