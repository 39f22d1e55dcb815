import type { Deps } from '../deps.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { JobQueue } from '../database/queue/queue.ts';
import { Fetcher } from '../database/queue/fetcher.ts';
import { endSessionsTask } from '../auth/sign-in/sessions.ts';
import { announceRequestTask, writeCommentTask } from '../chat/comments/write-comment.ts';
import { answerCommentTask } from '../chat/comments/answer-comment.ts';
import { endExemptionsTask } from '../exemptions/end-exemptions.ts';
import { fillActorKeysTask } from '../events/fill-actor-keys.ts';
import { recordBoundariesTask, remindOfFreezesTask } from '../freezes/record-boundaries.ts';
import {
  syncInstallationsTask,
  syncInstallationTask,
  syncRepositoryTask,
} from '../installations/sync-installations.ts';
import { keepTeamsTask } from '../settings/keep-teams.ts';
import { tellRenamedTask } from '../explanations/enforcement/tell-renamed.ts';
import { noteRulesTask } from '../installations/note-rules.ts';
import { correctStatusTask } from '../statuses/correct.ts';
import { findDeploymentsTask, lookAtRunTask } from '../deployments/look-at-runs.ts';
import { decideDeploymentsTask, reviewDeploymentsTask } from '../deployments/review-deployments.ts';
import { drainOutboxTask } from '../statuses/drain.ts';
import { sendMessagesTask, sendNoticesTask } from '../notices/send-notices.ts';
import { followSourceTask, keepPlansTask, keepPlanTask } from '../plans/keep-plan.ts';
import { findBypassTask } from '../statuses/find-bypass.ts';
import { settleInstantHoldTask } from '../statuses/instant-hold/settle.ts';
import { reconcileMergeQueueTask } from '../statuses/merge-queue.ts';
import {
  reconcileClosedHeadsTask,
  reconcilePullRequestTask,
  reconcileRepositoryTask,
} from '../statuses/reconcile.ts';
import { readDeliveryTask, recoverDeliveriesTask } from '../webhooks/recover-deliveries.ts';
import { answerSlackTask, replyInSlackTask } from '../chat/slack/answer-slack.ts';
import { tellAuthorsTask } from '../chat/slack/tell-authors.ts';
import { sweepTask } from './sweep.ts';
import { askMergeStatesTask } from '../statuses/ask-merge-states.ts';

/** What a worker runs. Each stands beside the code that it runs. */
export const tasks = [
  reconcileRepositoryTask,
  reconcilePullRequestTask,
  reconcileClosedHeadsTask,
  reconcileMergeQueueTask,
  settleInstantHoldTask,
  askMergeStatesTask,
  correctStatusTask,
  findBypassTask,
  tellRenamedTask,
  endExemptionsTask,
  lookAtRunTask,
  decideDeploymentsTask,
  reviewDeploymentsTask,
  findDeploymentsTask,
  answerCommentTask,
  announceRequestTask,
  writeCommentTask,
  answerSlackTask,
  replyInSlackTask,
  tellAuthorsTask,
  drainOutboxTask,
  syncInstallationsTask,
  syncInstallationTask,
  syncRepositoryTask,
  noteRulesTask,
  keepPlansTask,
  keepTeamsTask,
  keepPlanTask,
  followSourceTask,
  endSessionsTask,
  remindOfFreezesTask,
  sendNoticesTask,
  sendMessagesTask,
  recordBoundariesTask,
  fillActorKeysTask,
  recoverDeliveriesTask,
  readDeliveryTask,
  sweepTask,
];

export type Worker = {
  /** Takes no new jobs, and hands back those that do not finish in time. */
  stop(): Promise<void>;
  /** Resolves when no job runs and none is due. @returns how many jobs this process has taken so far. */
  settled(): Promise<number>;
};

const sweepEvery = 60_000;
/** Milliseconds that jobs get to finish when the worker stops. */
const jobsPatience = 7500;

/** Runs jobs until it is stopped, and requests the sweep at the start and each minute. */
export async function startWorker(deps: Deps, queue: JobQueue): Promise<Worker> {
  const byName = new Map(tasks.map((task) => [task.task, task]));
  const fetcher = new Fetcher(queue, deps.clock, deps.log, byName, (name, taken) =>
    byName.get(name)!.run(deps, taken),
  );
  const requestSweep = () =>
    void deps.queue
      .send([jobs.sweep()])
      .catch((error: unknown) => deps.log.error({ err: error }, 'could not request the sweep'));
  await deps.queue.send([jobs.syncInstallations(), jobs.sweep()]);
  await fetcher.start();
  const timer = deps.clock.setInterval(requestSweep, sweepEvery);
  return {
    async stop() {
      deps.clock.clearInterval(timer);
      await fetcher.stop(jobsPatience);
    },
    settled: () => fetcher.settled(),
  };
}
