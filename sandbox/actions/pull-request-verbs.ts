import {
  type CommitSpec,
  describePullRequest,
  type FileSpec,
  type NewPullRequest,
  type PullRequests,
} from './pull-requests.ts';
import { mergePastRequirements, pressMergeButton } from './merge-button.ts';
import { queueOf } from '../state/merge-queue-rules.ts';
import { mergeableState } from '../state/mergeability.ts';
import { testMergeOf } from '../state/test-merge.ts';
import type { ReviewState } from '../state/model.ts';
import type { World } from '../state/world.ts';
import type { MergeQueues } from './merge-queues.ts';
import type { PullRequestEdits } from './pull-request-edits.ts';

/** The pull request verbs of the sandbox's interface: names in, plain values out. */
export function pullRequestVerbs(
  world: World,
  pullRequests: PullRequests,
  edits: PullRequestEdits,
  queues: MergeQueues,
) {
  const find = (fullName: string, number: number) => world.pullRequest(fullName, number);
  const person = (login: string | undefined, otherwise: { login: string }) =>
    world.account(login ?? otherwise.login);

  return {
    /** Opens a pull request; the author must exist. */
    openPullRequest(fullName: string, { author, ...given }: NewPullRequest) {
      const pr = pullRequests.open(world.repository(fullName), world.account(author), given);
      return { number: pr.number, headSha: pr.head.sha, nodeId: pr.nodeId };
    },

    /** Pushes a commit to the head branch and returns its SHA. `files` replaces what the pull request changes. */
    push(
      fullName: string,
      number: number,
      { files, by, commit }: { files?: FileSpec[]; by?: string; commit?: CommitSpec } = {},
    ) {
      const pr = find(fullName, number);
      return pullRequests.push(pr, person(by, pr.author), files, commit);
    },

    label: (fullName: string, number: number, name: string) => edits.label(find(fullName, number), name),
    unlabel: (fullName: string, number: number, name: string) => edits.unlabel(find(fullName, number), name),
    editTitle: (fullName: string, number: number, title: string) =>
      edits.edit(find(fullName, number), { title }),
    editBody: (fullName: string, number: number, body: string) =>
      edits.edit(find(fullName, number), { body }),
    retarget: (fullName: string, number: number, base: string) =>
      edits.edit(find(fullName, number), { base }),
    markDraft: (fullName: string, number: number) => edits.setDraft(find(fullName, number), true),
    markReady: (fullName: string, number: number) => edits.setDraft(find(fullName, number), false),
    setMilestone: (fullName: string, number: number, title: string | null) =>
      edits.setMilestone(find(fullName, number), title),
    assign: (fullName: string, number: number, login: string) =>
      edits.assign(find(fullName, number), world.account(login)),
    unassign: (fullName: string, number: number, login: string) =>
      edits.unassign(find(fullName, number), world.account(login)),
    requestReview: (fullName: string, number: number, login: string) =>
      edits.requestReview(find(fullName, number), world.account(login)),

    withdrawReviewRequest: (fullName: string, number: number, login: string) =>
      edits.withdrawReviewRequest(find(fullName, number), world.account(login)),
    lock: (fullName: string, number: number) => edits.setLocked(find(fullName, number), true),
    unlock: (fullName: string, number: number) => edits.setLocked(find(fullName, number), false),

    enableAutoMerge(fullName: string, number: number, by?: string) {
      const pr = find(fullName, number);
      edits.setAutoMerge(pr, true, person(by, pr.author));
    },
    disableAutoMerge(fullName: string, number: number, by?: string) {
      const pr = find(fullName, number);
      edits.setAutoMerge(pr, false, person(by, pr.author));
    },

    /** "Merge when ready": into the merge queue of its base, now or once its own checks pass. */
    enqueue(fullName: string, number: number, by?: string) {
      const pr = find(fullName, number);
      if (queueOf(pr)) queues.enqueue(pr, person(by, pr.author));
      else edits.setQueued(pr, true, person(by, pr.author));
    },
    dequeue(fullName: string, number: number, reason?: string) {
      const pr = find(fullName, number);
      if (pr.mergeQueueEntry?.queue) queues.dequeue(pr, reason);
      else edits.setQueued(pr, false, pr.author, reason);
    },

    closePullRequest(fullName: string, number: number, by?: string) {
      const pr = find(fullName, number);
      pullRequests.close(pr, person(by, pr.author));
    },
    reopenPullRequest(fullName: string, number: number, by?: string) {
      const pr = find(fullName, number);
      pullRequests.reopen(pr, person(by, pr.author));
    },

    /** Submits a review and returns its id. */
    review(fullName: string, number: number, given: { by: string; state: ReviewState; body?: string }) {
      return edits.review(find(fullName, number), world.account(given.by), given.state, given.body);
    },
    editReview(fullName: string, number: number, id: number, { by, body }: { by: string; body: string }) {
      edits.editReview(find(fullName, number), id, body, world.account(by));
    },
    dismissReview(fullName: string, number: number, id: number, by?: string) {
      const pr = find(fullName, number);
      edits.dismissReview(pr, id, person(by, pr.author));
    },

    /** Presses the merge button. If the pull request is blocked, says why. */
    merge(fullName: string, number: number, by?: string): { merged: boolean; message: string; sha?: string } {
      const pr = find(fullName, number);
      const pressed = pressMergeButton(pullRequests, pr, person(by, pr.author));
      if ('message' in pressed) return { merged: false, message: pressed.message };
      return { merged: true, message: 'Pull Request successfully merged', sha: pressed.sha };
    },

    /** A person with the right merges past the requirements; an error for others. */
    bypassMerge(fullName: string, number: number, by: string) {
      const pr = find(fullName, number);
      const merged = mergePastRequirements(pullRequests, pr, world.account(by));
      if ('message' in merged) throw new Error(`${fullName}#${number}: ${merged.message}`);
    },

    /** What was really merged, in order. */
    merges: (fullName: string) =>
      world.repository(fullName).merges.map(({ number, merged }) => {
        const { at, by, how, sha } = merged!;
        return { number, at, by: by.login, how, sha };
      }),

    pullRequest: (fullName: string, number: number) => describePullRequest(find(fullName, number)),
    pullRequests: (fullName: string) =>
      [...world.repository(fullName).pullRequests.values()].map(describePullRequest),

    /** The test merge commit. Somebody can put it on a branch. Null if there is none. */
    testMergeCommit: (fullName: string, number: number) => testMergeOf(find(fullName, number)),

    /** Meanwhile GitHub shows no test merge commit. No event says when it is there. */
    setTestMergeUnderWay(fullName: string, number: number, isUnderWay: boolean) {
      const pr = find(fullName, number);
      pr.isMergeUnderWay = isUnderWay;
      world.formerVersions.changed(pr);
    },

    /** Whether it can be merged, and why not, at this moment. `mergeStateStatus` follows some seconds later. */
    mergeable: (fullName: string, number: number) => mergeableState(find(fullName, number)),
  };
}
