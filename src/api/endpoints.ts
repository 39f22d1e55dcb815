import type { AnyEndpoint } from './endpoint.ts';
import {
  deleteApplication,
  getApplications,
  getOwnApplication,
  postApplications,
} from './v1/applications.ts';
import { createFreezeEndpoint } from './v1/create-freeze.ts';
import { deleteFreezeEndpoint, postDeleteFreezeEndpoint } from './v1/delete-freeze.ts';
import {
  approveExemptionEndpoint,
  denyExemptionEndpoint,
  revokeExemptionEndpoint,
} from './v1/decide-exemption.ts';
import { listExemptionsEndpoint, requestExemptionEndpoint } from './v1/exemptions.ts';
import { enforcementEndpoint } from './v1/enforcement.ts';
import { freezeEnforcementEndpoint } from './v1/freeze-enforcement.ts';
import {
  createPlanEndpoint,
  deletePlanEndpoint,
  listPlansEndpoint,
  planEnforcementEndpoint,
  previewPlanEndpoint,
  showPlanEndpoint,
  updatePlanEndpoint,
} from './v1/freeze-plans.ts';
import { listFreezesEndpoint } from './v1/list-freezes.ts';
import { freezeStateEndpoint } from './v1/freeze-state.ts';
import { getRepositories } from './v1/list-repositories.ts';
import { explainPullRequestEndpoint } from './v1/explain-pull-request.ts';
import { getLogs } from './v1/logs.ts';
import { getOwnerLogs } from './v1/owner-logs.ts';
import { mergeQueueEntry, mergeQueueStatus } from './v1/merge-queue.ts';
import { deletePause, getPause, putPause } from './v1/pause.ts';
import { previewFreezeEndpoint } from './v1/preview-freeze.ts';
import { getDefaultProducts, putDefaultProducts, putProducts } from './v1/products.ts';
import { getSettings, patchSettings } from './v1/settings.ts';
import { postScopes, putScopes } from './v1/push-scopes.ts';
import { deleteOidcRule, getOidcRules, postOidcRules } from './v1/oidc-rules.ts';
import { updateFreezeEndpoint } from './v1/update-freeze.ts';

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
  listExemptionsEndpoint,
  approveExemptionEndpoint,
  denyExemptionEndpoint,
  revokeExemptionEndpoint,
  enforcementEndpoint,
  getPause,
  putPause,
  deletePause,
  mergeQueueStatus,
  mergeQueueEntry,
  getSettings,
  patchSettings,
  listPlansEndpoint,
  createPlanEndpoint,
  previewPlanEndpoint,
  showPlanEndpoint,
  updatePlanEndpoint,
  deletePlanEndpoint,
  planEnforcementEndpoint,
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
