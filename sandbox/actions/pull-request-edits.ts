import { accountJson } from '../json/account-json.ts';
import { GitHubError } from '../http/github-error.ts';
import { stackOf } from '../state/stacks.ts';
import { labelJson, milestoneJson, reviewJson } from '../json/pull-request-json.ts';
import type { Account, PullRequest, Repository, ReviewState } from '../state/model.ts';
import type { World } from '../state/world.ts';
import type { PullRequestEvents } from './pull-request-events.ts';
import type { PullRequests } from './pull-requests.ts';

/** Every change of an open pull request except a push. If nothing changes, it sends nothing. */
export class PullRequestEdits {
  readonly #world: World;
  readonly #events: PullRequestEvents;
  readonly #pullRequests: PullRequests;

  constructor(world: World, events: PullRequestEvents, pullRequests: PullRequests) {
    this.#world = world;
    this.#events = events;
    this.#pullRequests = pullRequests;
  }

  label(pr: PullRequest, name: string, by?: Account): void {
    const label = this.#pullRequests.labelNamed(pr.repository, name);
    if (pr.labels.includes(label)) return;
    pr.labels.push(label);
    this.#events.emit(pr, 'labeled', { label: labelJson(this.#world, pr.repository, label) }, by);
  }

  /** @returns whether the label was there. */
  unlabel(pr: PullRequest, name: string, by?: Account): boolean {
    const label = pr.labels.find((each) => each.name.toLowerCase() === name.toLowerCase());
    if (!label) return false;
    pr.labels = pr.labels.filter((each) => each !== label);
    this.#events.emit(pr, 'unlabeled', { label: labelJson(this.#world, pr.repository, label) }, by);
    return true;
  }

  /** One `edited` event for all changes, as GitHub sends for one PATCH. */
  edit(pr: PullRequest, given: { title?: string; body?: string; base?: string }, by?: Account): void {
    if (given.base !== undefined && given.base !== pr.base && stackOf(pr))
      throw new GitHubError(
        422,
        'Cannot change the base branch because the pull request is part of a stack.',
      );
    const changes: Record<string, unknown> = {};
    if (given.title !== undefined && given.title !== pr.title) {
      changes['title'] = { from: pr.title };
      pr.title = given.title;
    }
    if (given.body !== undefined && given.body !== pr.body) {
      changes['body'] = { from: pr.body };
      pr.body = given.body;
    }
    if (given.base !== undefined && given.base !== pr.base) {
      changes['base'] = { ref: { from: pr.base }, sha: { from: this.#tip(pr.repository, pr.base) } };
      this.#tip(pr.repository, given.base);
      pr.base = given.base;
    }
    if (Object.keys(changes).length > 0) this.#events.emit(pr, 'edited', { changes }, by);
  }

  setDraft(pr: PullRequest, draft: boolean, by?: Account): void {
    if (pr.draft === draft) return;
    pr.draft = draft;
    this.#events.emit(pr, draft ? 'converted_to_draft' : 'ready_for_review', {}, by);
  }

  setAutoMerge(pr: PullRequest, enabled: boolean, by: Account): void {
    if (enabled === (pr.autoMerge !== null)) return;
    if (enabled && stackOf(pr)) throw new GitHubError(422, 'Auto-merge does not support stacks.');
    pr.autoMerge = enabled ? { enabledAt: this.#world.now(), enabledBy: by } : null;
    if (enabled) this.#events.emit(pr, 'auto_merge_enabled', {}, by);
    else this.#events.emit(pr, 'auto_merge_disabled', { reason: 'Manually disabled by user' }, by);
  }

  /** On a branch without a merge queue: the entry and its event, without further effect. */
  setQueued(pr: PullRequest, queued: boolean, by: Account, reason = 'MANUAL'): void {
    if (queued === (pr.mergeQueueEntry !== null)) return;
    const ahead = [...pr.repository.pullRequests.values()].filter((each) => each.mergeQueueEntry);
    const id = this.#world.ids.next('queue entry', 3_000_000);
    const enqueuedAt = this.#world.now();
    const entry = {
      id,
      queue: null,
      pullRequest: pr,
      enqueuer: by,
      enqueuedAt,
      rank: id,
      position: ahead.length + 1,
      jump: false,
      group: null,
    };
    pr.mergeQueueEntry = queued ? { ...entry, state: 'QUEUED' } : null;
    if (queued) this.#events.emit(pr, 'enqueued', {}, by);
    else this.#events.emit(pr, 'dequeued', { reason }, by);
  }

  setMilestone(pr: PullRequest, title: string | null, by?: Account): void {
    const before = milestoneJson(pr);
    pr.milestone = title === null ? null : this.#pullRequests.milestone(title);
    if (before) this.#events.emit(pr, 'demilestoned', { milestone: before }, by);
    if (pr.milestone) this.#events.emit(pr, 'milestoned', { milestone: milestoneJson(pr) }, by);
  }

  setLocked(pr: PullRequest, locked: boolean, by?: Account): void {
    if (pr.locked === locked) return;
    pr.locked = locked;
    this.#events.emit(pr, locked ? 'locked' : 'unlocked', {}, by);
  }

  withdrawReviewRequest(pr: PullRequest, account: Account, by?: Account): void {
    if (!pr.reviewRequests.includes(account)) return;
    pr.reviewRequests = pr.reviewRequests.filter((each) => each !== account);
    const requested_reviewer = accountJson(this.#world, account);
    this.#events.emit(pr, 'review_request_removed', { requested_reviewer }, by);
  }

  assign(pr: PullRequest, account: Account, by?: Account): void {
    if (pr.assignees.includes(account)) return;
    pr.assignees.push(account);
    this.#events.emit(pr, 'assigned', { assignee: accountJson(this.#world, account) }, by);
  }

  unassign(pr: PullRequest, account: Account, by?: Account): void {
    if (!pr.assignees.includes(account)) return;
    pr.assignees = pr.assignees.filter((each) => each !== account);
    this.#events.emit(pr, 'unassigned', { assignee: accountJson(this.#world, account) }, by);
  }

  requestReview(pr: PullRequest, account: Account, by?: Account): void {
    if (pr.reviewRequests.includes(account)) return;
    pr.reviewRequests.push(account);
    const requested_reviewer = accountJson(this.#world, account);
    this.#events.emit(pr, 'review_requested', { requested_reviewer }, by);
  }

  /** A review fulfils the request for it. */
  review(pr: PullRequest, by: Account, state: ReviewState, body = ''): number {
    const review = {
      id: this.#world.ids.next('review', 2_000_000_000),
      by,
      state,
      body,
      commitSha: pr.head.sha,
      submittedAt: this.#world.now(),
    };
    pr.reviews.push(review);
    pr.reviewRequests = pr.reviewRequests.filter((each) => each !== by);
    this.#sendReview(pr, 'submitted', review.id, by);
    return review.id;
  }

  dismissReview(pr: PullRequest, id: number, by: Account): void {
    const review = pr.reviews.find((each) => each.id === id);
    if (!review) throw new Error(`No review ${id} on #${pr.number}`);
    review.state = 'DISMISSED';
    this.#sendReview(pr, 'dismissed', id, by);
  }

  /** Its author can do this, and so can people who can write to the repository. */
  editReview(pr: PullRequest, id: number, body: string, by: Account): void {
    const review = pr.reviews.find((each) => each.id === id);
    if (!review) throw new Error(`No review ${id} on #${pr.number}`);
    const changes = { body: { from: review.body } };
    review.body = body;
    this.#sendReview(pr, 'edited', id, by, { changes });
  }

  #sendReview(pr: PullRequest, action: string, id: number, by: Account, more: object = {}): void {
    const review = reviewJson(
      this.#world,
      pr,
      pr.reviews.find((each) => each.id === id)!,
    );
    this.#events.send('pull_request_review', pr, action, { review, ...more }, by);
  }

  #tip(repository: Repository, branch: string): string {
    const sha = repository.branches.get(branch) ?? this.#world.ids.sha();
    repository.branches.set(branch, sha);
    return sha;
  }
}
