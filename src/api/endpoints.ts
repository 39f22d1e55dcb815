// `api/` is JSON for clients: the steps that every request takes, and in `v1/` one file for each resource or verb. A
// handler calls one use case, and presents what that gives.
import type { AnyEndpoint } from './endpoint.ts';
import * as calendars from './v1/calendars.ts';
import * as credentials from './v1/credentials.ts';
import * as deployments from './v1/deployments.ts';
import * as enforcement from './v1/enforcement.ts';
import * as exemptions from './v1/exemptions.ts';
import * as explainPullRequest from './v1/explain-pull-request.ts';
import * as freezePlans from './v1/freeze-plans.ts';
import { freezeReportEndpoint } from './v1/freeze-report.ts';
import * as freezeState from './v1/freeze-state.ts';
import * as freezes from './v1/freezes.ts';
import * as logs from './v1/logs.ts';
import * as mergeQueue from './v1/merge-queue.ts';
import * as pause from './v1/pause.ts';
import * as previews from './v1/previews.ts';
import * as pushScopes from './v1/push-scopes.ts';
import * as settings from './v1/settings.ts';
import * as webhooks from './v1/webhooks.ts';

/** All endpoints below `/v1`, in the order of the API reference: the most used first. */
export const endpoints: AnyEndpoint[] = [
  freezes.createFreezeEndpoint,
  freezes.listFreezesEndpoint,
  previews.previewFreezeEndpoint,
  freezes.updateFreezeEndpoint,
  enforcement.freezeEnforcementEndpoint,
  freezeReportEndpoint,
  freezes.deleteFreezeEndpoint,
  freezes.postDeleteFreezeEndpoint,
  freezes.restoreFreezeEndpoint,
  freezeState.freezeStateEndpoint,
  explainPullRequest.explainPullRequestEndpoint,
  exemptions.requestExemptionEndpoint,
  deployments.listDeploymentsEndpoint,
  exemptions.listExemptionsEndpoint,
  ...exemptions.exemptionDecisionEndpoints,
  exemptions.requestDeploymentExemptionEndpoint,
  exemptions.listDeploymentExemptionsEndpoint,
  ...exemptions.deploymentExemptionDecisionEndpoints,
  enforcement.enforcementEndpoint,
  pause.getPause,
  pause.putPause,
  pause.deletePause,
  mergeQueue.mergeQueueStatus,
  mergeQueue.mergeQueueEntry,
  settings.getSettings,
  settings.patchSettings,
  settings.getOwnerSettings,
  settings.patchOwnerSettings,
  freezePlans.listPlansEndpoint,
  freezePlans.createPlanEndpoint,
  previews.previewPlanEndpoint,
  freezePlans.showPlanEndpoint,
  freezePlans.updatePlanEndpoint,
  freezePlans.changeOccurrenceEndpoint,
  freezePlans.deletePlanEndpoint,
  freezePlans.removePlanEndpoint,
  freezePlans.planEnforcementEndpoint,
  webhooks.listWebhooksEndpoint,
  webhooks.createWebhookEndpoint,
  webhooks.updateWebhookEndpoint,
  webhooks.deleteWebhookEndpoint,
  webhooks.rotateSecretEndpoint,
  webhooks.testWebhookEndpoint,
  webhooks.listDeliveriesEndpoint,
  webhooks.replayDeliveryEndpoint,
  calendars.getCalendars,
  calendars.postCalendars,
  calendars.deleteCalendar,
  settings.putProducts,
  settings.getDefaultProducts,
  settings.putDefaultProducts,
  settings.getRepositories,
  credentials.getOwnApplication,
  credentials.getApplications,
  credentials.postApplications,
  credentials.deleteApplication,
  credentials.getOidcRules,
  credentials.postOidcRules,
  credentials.deleteOidcRule,
  logs.getLogs,
  logs.getOwnerLogs,
  pushScopes.putScopes,
  pushScopes.postScopes,
];
