import { latestStatuses, mergeBlocker } from '../state/mergeability.ts';
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

/** What GitHub answers to the merge button on a branch with a queue. */
export const throughTheQueue = 'Changes must be made through the merge queue';

/** The queue that a pull request has to pass; undefined where its base has none. */
export const queueOf = (pr: PullRequest): MergeQueue | undefined => pr.repository.mergeQueues.get(pr.base);

const queueActor = { name: 'github-merge-queue', email: 'noreply@github.com' };

type Verdict = 'success' | 'failure' | 'pending';

/**
 * GitHub's merge queues. Each of the first entries has a merge group, built on the one before; what is required of the
 * branch is asked of the groups. Not known of GitHub, and so not done: that a queued pull request is put out when its
 * own head fails.
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

  /** Into the queue; or, while its own checks do not pass, "merge when ready", which is auto-merge. */
  enqueue(pr: PullRequest, by: Account): void {
    const queue = queueOf(pr);
    if (!queue || pr.mergeQueueEntry || pr.state === 'closed') return;
    const enqueuedAt = this.#world.now();
    if (mergeBlocker(pr)) {
      if (pr.autoMerge) return;
      pr.autoMerge = { enabledAt: enqueuedAt, enabledBy: by };
      this.#events.emit(pr, 'auto_merge_enabled', {}, by);
      return;
    }
    const id = this.#world.ids.next('queue entry', 3_000_000);
    pr.mergeQueueEntry = {
      id,
      pullRequest: pr,
      by,
      position: 0,
      state: 'QUEUED',
      jump: false,
      enqueuedAt,
      group: null,
    };
    queue.entries.push(pr.mergeQueueEntry);
    this.#number(queue);
    this.#events.emit(pr, 'enqueued', {}, by);
    this.settle(queue);
  }

  /** Out of the queue; the groups behind it are built anew. */
  dequeue(pr: PullRequest, reason = 'MANUAL'): void {
    const entry = pr.mergeQueueEntry;
    const queue = entry && this.#holding(entry);
    if (!entry || !queue) return;
    this.#remove(queue, entry, reason, 'dequeued');
    this.settle(queue);
  }

  jump(queue: MergeQueue, pr: PullRequest): void {
    const entry = pr.mergeQueueEntry!;
    entry.jump = true;
    this.#invalidate(queue.entries);
    queue.entries = [entry, ...queue.entries.filter((each) => each !== entry)];
    this.#number(queue);
    this.settle(queue);
  }

  /** A pull request that changes leaves the queue. */
  onEvent(pr: PullRequest, action: string, payload: object): void {
    if (!pr.mergeQueueEntry) return;
    const changes = 'changes' in payload ? (payload.changes as object) : {};
    if (action === 'closed') this.dequeue(pr, 'MANUAL');
    if (action === 'synchronize') this.dequeue(pr, 'ROLL_BACK');
    if (action === 'converted_to_draft' || (action === 'edited' && 'base' in changes))
      this.dequeue(pr, 'GIT_TREE_INVALID');
  }

  /** A status was posted: perhaps on a group. */
  settleAt(repository: Repository, sha: string): void {
    for (const queue of repository.mergeQueues.values()) {
      if (queue.entries.some(({ group }) => group?.headSha === sha)) this.settle(queue);
    }
  }

  /** Builds, merges and puts out until nothing moves. */
  settle(queue: MergeQueue): void {
    do this.#build(queue);
    while (this.#merge(queue) || this.#putOut(queue));
  }

  #build(queue: MergeQueue): void {
    const { repository, branch } = queue;
    let baseSha = repository.branches.get(branch)!;
    for (const entry of queue.entries.slice(0, queue.maxEntriesToBuild)) {
      if (!entry.group) {
        const headSha = this.#world.ids.sha();
        const ref = `refs/heads/gh-readonly-queue/${branch}/pr-${entry.pullRequest.number}-${baseSha}`;
        entry.group = { headSha, baseSha, ref, requestedAt: this.#world.now() };
        entry.state = 'AWAITING_CHECKS';
        repository.commits.add(headSha);
        const committer = { ...queueActor, date: this.#world.now() };
        const details = { message: `Merge group ${ref}`, isVerified: true, parents: 2 };
        repository.commitDetails.set(headSha, { ...details, author: committer, committer });
        this.#tell(queue, entry.group, 'checks_requested');
      }
      baseSha = entry.group.headSha;
    }
  }

  /** ALLGREEN: the front. HEADGREEN: everything up to the last one that passes, whatever those ahead of it say. */
  #merge(queue: MergeQueue): boolean {
    const window = queue.mergingStrategy === 'ALLGREEN' ? 1 : queue.maxEntriesToMerge;
    const last = queue.entries
      .slice(0, window)
      .findLastIndex((entry) => this.#verdict(queue, entry) === 'success');
    if (last === -1) return false;
    const merging = queue.entries.slice(0, last + 1);
    queue.entries = queue.entries.slice(last + 1);
    this.#number(queue);
    for (const { pullRequest, group, by } of merging) {
      pullRequest.mergeQueueEntry = null;
      this.#events.emit(pullRequest, 'dequeued', { reason: 'MERGE' }, by);
      this.#pullRequests.merge(pullRequest, by, 'queue', group!.headSha);
      this.#tell(queue, group!, 'destroyed', 'merged');
    }
    return true;
  }

  /**
   * Puts out one entry that failed. In HEADGREEN a failed one may still be merged with a passing one behind it, so it
   * goes only when every group within the limit has failed.
   */
  #putOut(queue: MergeQueue): boolean {
    const built = queue.entries.filter(({ group }) => group);
    const verdicts = built.map((entry) => this.#verdict(queue, entry));
    const failed = verdicts.indexOf('failure');
    if (failed === -1) return false;
    const within = verdicts.slice(0, queue.maxEntriesToMerge);
    if (queue.mergingStrategy === 'HEADGREEN' && within.some((verdict) => verdict === 'pending'))
      return false;
    const entry = built[failed]!;
    const reason = this.#isLate(queue, entry.group!) ? 'CI_TIMEOUT' : 'CI_FAILURE';
    this.#remove(queue, entry, reason, 'dequeued');
    return true;
  }

  #remove(queue: MergeQueue, entry: MergeQueueEntry, reason: string, destroyed: string): void {
    const { pullRequest, group, by } = entry;
    const behind = queue.entries.slice(queue.entries.indexOf(entry) + 1);
    queue.entries = queue.entries.filter((each) => each !== entry);
    pullRequest.mergeQueueEntry = null;
    pullRequest.autoMerge = null;
    this.#number(queue);
    this.#events.emit(pullRequest, 'dequeued', { reason }, by);
    if (group) this.#tell(queue, group, 'destroyed', destroyed);
    this.#invalidate(behind);
  }

  /** These groups contain what has left, or were built on another order. */
  #invalidate(entries: MergeQueueEntry[]): void {
    for (const entry of entries) {
      if (!entry.group) continue;
      const { group } = entry;
      entry.group = null;
      entry.state = 'QUEUED';
      this.#tell(this.#holding(entry)!, group, 'destroyed', 'invalidated');
    }
  }

  #holding(entry: MergeQueueEntry): MergeQueue | undefined {
    const { mergeQueues } = entry.pullRequest.repository;
    return mergeQueues.values().find(({ entries }) => entries.includes(entry));
  }

  #number(queue: MergeQueue): void {
    queue.entries.forEach((entry, index) => (entry.position = index + 1));
  }

  #verdict(queue: MergeQueue, { group }: MergeQueueEntry): Verdict {
    if (!group) return 'pending';
    const latest = latestStatuses(queue.repository, group.headSha);
    const states = (queue.repository.protection.get(queue.branch) ?? []).map(
      (context) => latest.find((each) => each.context.toLowerCase() === context.toLowerCase())?.state,
    );
    if (states.some((state) => state === 'failure' || state === 'error')) return 'failure';
    if (states.every((state) => state === 'success')) return 'success';
    return this.#isLate(queue, group) ? 'failure' : 'pending';
  }

  /** A check that does not answer in time counts as failed. */
  #isLate(queue: MergeQueue, { requestedAt }: MergeGroup): boolean {
    return this.#world.now().getTime() >= requestedAt.getTime() + queue.checkResponseTimeoutMinutes * 60_000;
  }

  #tell({ repository, branch }: MergeQueue, group: MergeGroup, action: string, reason?: string): void {
    const { headSha, baseSha, ref } = group;
    this.#webhooks.emit({
      event: 'merge_group',
      action,
      repository,
      sender: this.#world.account(repository.owner.login),
      payload: {
        ...(reason && { reason }),
        merge_group: {
          head_sha: headSha,
          head_ref: ref,
          base_sha: baseSha,
          base_ref: `refs/heads/${branch}`,
          head_commit: {
            id: headSha,
            tree_id: headSha,
            message: `Merge group ${ref}`,
            timestamp: group.requestedAt.toISOString(),
            author: queueActor,
            committer: queueActor,
          },
        },
      },
    });
  }
}
