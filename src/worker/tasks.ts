import { endSessionsTask } from '../auth/sign-in/session-store.ts';
import { announceRequestTask } from '../comments/announce-request.ts';
import { answerCommentTask } from '../comments/answer-comment.ts';
import { endExemptionsTask } from '../exemptions/end-exemptions.ts';
import { remindOfFreezesTask } from '../freezes/remind-of-freezes.ts';
import { syncInstallationTask } from '../installations/sync-installation.ts';
import { syncInstallationsTask } from '../installations/sync-installations.ts';
import { syncRepositoryTask } from '../installations/sync-repository.ts';
import { correctStatusTask } from '../outbox/correct.ts';
import { drainOutboxTask } from '../outbox/drain.ts';
import { keepPlansTask, keepPlanTask } from '../plans/keep-plan.ts';
import { reconcileClosedHeadsTask } from '../reconcile/closed-heads.ts';
import { findBypassTask } from '../reconcile/find-bypass.ts';
import { reconcileMergeQueueTask } from '../reconcile/merge-queue.ts';
import { askMergeStatesTask } from '../reconcile/merge-states/ask-merge-states.ts';
import { reconcilePullRequestTask } from '../reconcile/pull-requests.ts';
import { reconcileRepositoryTask } from '../reconcile/repository.ts';
import { readDeliveryTask } from '../webhooks/read-delivery.ts';
import { recoverDeliveriesTask } from '../webhooks/recover-deliveries.ts';
import { sweepTask } from './sweep.ts';

/** What a worker runs. Each stands beside the code that it runs. */
export const tasks = [
  reconcileRepositoryTask,
  reconcilePullRequestTask,
  reconcileClosedHeadsTask,
  reconcileMergeQueueTask,
  askMergeStatesTask,
  correctStatusTask,
  findBypassTask,
  endExemptionsTask,
  answerCommentTask,
  announceRequestTask,
  drainOutboxTask,
  syncInstallationsTask,
  syncInstallationTask,
  syncRepositoryTask,
  keepPlansTask,
  keepPlanTask,
  endSessionsTask,
  remindOfFreezesTask,
  recoverDeliveriesTask,
  readDeliveryTask,
  sweepTask,
];
