import { endSessionsTask } from '../auth/sign-in/sessions.ts';
import { announceRequestTask } from '../webhooks/comments/write-answer.ts';
import { answerCommentTask } from '../webhooks/comments/answer-comment.ts';
import { endExemptionsTask } from '../freezes/exemptions/end-exemptions.ts';
import { recordBoundariesTask, remindOfFreezesTask } from '../freezes/record-boundaries.ts';
import {
  syncInstallationTask,
  syncInstallationsTask,
  syncRepositoryTask,
} from '../installations/sync-installations.ts';
import { correctStatusTask } from '../statuses/correct.ts';
import { findDeploymentsTask, lookAtRunTask } from '../deployments/look-at-runs.ts';
import { decideDeploymentsTask } from '../deployments/decide-deployments.ts';
import { drainOutboxTask } from '../statuses/drain.ts';
import { sendNoticesTask } from '../notices/send-notices.ts';
import { keepPlansTask, keepPlanTask, followSourceTask } from '../plans/keep-plan.ts';
import { findBypassTask } from '../statuses/find-bypass.ts';
import { settleInstantHoldTask } from '../statuses/instant-hold/settle.ts';
import { reconcileMergeQueueTask } from '../statuses/merge-queue.ts';
import { askMergeStatesTask } from '../statuses/merge-states.ts';
import {
  reconcileClosedHeadsTask,
  reconcilePullRequestTask,
  reconcileRepositoryTask,
} from '../statuses/reconcile.ts';
import { readDeliveryTask, recoverDeliveriesTask } from '../webhooks/recover-deliveries.ts';
import { answerSlackTask } from '../webhooks/slack/answer-slack.ts';
import { tellAuthorsTask } from '../webhooks/slack/tell-authors.ts';
import { sweepTask } from './sweep.ts';

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
  endExemptionsTask,
  lookAtRunTask,
  decideDeploymentsTask,
  findDeploymentsTask,
  answerCommentTask,
  announceRequestTask,
  answerSlackTask,
  tellAuthorsTask,
  drainOutboxTask,
  syncInstallationsTask,
  syncInstallationTask,
  syncRepositoryTask,
  keepPlansTask,
  keepPlanTask,
  followSourceTask,
  endSessionsTask,
  remindOfFreezesTask,
  sendNoticesTask,
  recordBoundariesTask,
  recoverDeliveriesTask,
  readDeliveryTask,
  sweepTask,
];
