import type { AnyEndpoint } from './endpoint.ts';
import {
  deleteApplication,
  getApplications,
  getOwnApplication,
  postApplications,
} from './v1/applications.ts';
import {
  createFreezeEndpoint,
  deleteFreezeEndpoint,
  postDeleteFreezeEndpoint,
  listFreezesEndpoint,
  updateFreezeEndpoint,
} from './v1/freezes.ts';
import {
  exemptionDecisionEndpoints,
  listExemptionsEndpoint,
  requestExemptionEndpoint,
} from './v1/exemptions.ts';
import {
  deploymentExemptionDecisionEndpoints,
  listDeploymentExemptionsEndpoint,
  requestDeploymentExemptionEndpoint,
} from './v1/deployment-exemptions.ts';
import { listDeploymentsEndpoint } from './v1/deployments.ts';
import { enforcementEndpoint, freezeEnforcementEndpoint } from './v1/enforcement.ts';
import {
  createPlanEndpoint,
  deletePlanEndpoint,
  removePlanEndpoint,
  listPlansEndpoint,
  planEnforcementEndpoint,
  showPlanEndpoint,
  updatePlanEndpoint,
} from './v1/freeze-plans.ts';
import { deleteCalendar, getCalendars, postCalendars } from './v1/calendars.ts';
import { freezeStateEndpoint } from './v1/freeze-state.ts';
import { getRepositories, getDefaultProducts, putDefaultProducts, putProducts } from './v1/products.ts';
import { explainPullRequestEndpoint } from './v1/explain-pull-request.ts';
import { getLogs, getOwnerLogs } from './v1/logs.ts';
import { mergeQueueEntry, mergeQueueStatus } from './v1/merge-queue.ts';
import { deletePause, getPause, putPause } from './v1/pause.ts';
import { previewFreezeEndpoint, previewPlanEndpoint } from './v1/previews.ts';
import { getOwnerSettings, getSettings, patchOwnerSettings, patchSettings } from './v1/settings.ts';
import { postScopes, putScopes } from './v1/push-scopes.ts';
import { deleteOidcRule, getOidcRules, postOidcRules } from './v1/oidc-rules.ts';

import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  listDeliveriesEndpoint,
  listWebhooksEndpoint,
  replayDeliveryEndpoint,
  rotateSecretEndpoint,
  testWebhookEndpoint,
  updateWebhookEndpoint,
} from './v1/webhooks.ts';

/** All endpoints below `/v1`, in the order of the API reference: the most used first. */
export const endpoints: AnyEndpoint[] = [
  createFreezeEndpoint,
  listFreezesEndpoint,
  previewFreezeEndpoint,
  updateFreezeEndpoint,
  freezeEnforcementEndpoint,
  deleteFreezeEndpoint,
  postDeleteFreezeEndpoint,
  freezeStateEndpoint,
  explainPullRequestEndpoint,
  requestExemptionEndpoint,
  listDeploymentsEndpoint,
  listExemptionsEndpoint,
  ...exemptionDecisionEndpoints,
  requestDeploymentExemptionEndpoint,
  listDeploymentExemptionsEndpoint,
  ...deploymentExemptionDecisionEndpoints,
  enforcementEndpoint,
  getPause,
  putPause,
  deletePause,
  mergeQueueStatus,
  mergeQueueEntry,
  getSettings,
  patchSettings,
  getOwnerSettings,
  patchOwnerSettings,
  listPlansEndpoint,
  createPlanEndpoint,
  previewPlanEndpoint,
  showPlanEndpoint,
  updatePlanEndpoint,
  deletePlanEndpoint,
  removePlanEndpoint,
  planEnforcementEndpoint,
  listWebhooksEndpoint,
  createWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateSecretEndpoint,
  testWebhookEndpoint,
  listDeliveriesEndpoint,
  replayDeliveryEndpoint,
  getCalendars,
  postCalendars,
  deleteCalendar,
  putProducts,
  getDefaultProducts,
  putDefaultProducts,
  getRepositories,
  getOwnApplication,
  getApplications,
  postApplications,
  deleteApplication,
  getOidcRules,
  postOidcRules,
  deleteOidcRule,
  getLogs,
  getOwnerLogs,
  putScopes,
  postScopes,
];
