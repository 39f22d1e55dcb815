import { holdsDeployments } from '../../freezes/freeze.ts';
import type { StoredFreeze } from '../../freezes/freeze-columns.ts';
import {
  asksForComments,
  asksForDeployments,
  type Grants,
  missingEvents,
  missingForComments,
  missingForDeployments,
  missingPermissions,
  permissionText,
} from '../../github/app-manifest.ts';
import type { Fact } from '../../github/pull-requests/pull-request.ts';
import { type Finding, findingsOf } from './finding.ts';

/** Freezes need these to hold anything. Without another permission, only some conditions or merge queues fail. */
export const vital: ReadonlySet<string> = new Set(['metadata', 'statuses', 'pull_requests', 'contents']);
/** Without these events, freezes hold late: only the hourly check finds the changes. */
export const prompt: ReadonlySet<string> = new Set(['pull_request', 'merge_group']);

export type AppFacts = {
  /** What was granted to the installation. */
  grants: Fact<Grants>;
  /** What the App requests. */
  requested: Fact<Grants>;
  /** The settings page of the App, and the page of the installation. */
  settings: string;
  installation: string;
};

/** Whether the App has the permissions and events of app.yml, and those for commands in comments if it requests them. */
export function judgeApp(app: AppFacts): Finding[] {
  return [judgePermissions(app), judgeEvents(app), ...judgeComments(app)];
}

function judgeComments(app: AppFacts): Finding[] {
  const { grants, requested } = app;
  if (!grants.known || !requested.known || !asksForComments(requested.value)) return [];
  const found = findingsOf('comments');
  const missing = missingForComments(grants.value);
  if (missing.length === 0) return [found('ok', 'People can use commands in comments.')];
  const message = `Nobody can use commands in comments: Holdfast lacks ${missing.join(', ')}.`;
  return [found('warning', message, howToGrant(app, missingForComments))];
}

/**
 * Whether the App may decide on deployments, if it requests that or a freeze holds some.
 * @param freezes those that are not over.
 */
export function judgeDeploying(app: AppFacts, freezes: StoredFreeze[]): Finding[] {
  const { grants, requested } = app;
  const isWanted = freezes.some((freeze) => holdsDeployments(freeze));
  if (!grants.known || !requested.known || !(isWanted || asksForDeployments(requested.value))) return [];
  const found = findingsOf('deployments');
  const missing = missingForDeployments(grants.value);
  if (missing.length === 0 && asksForDeployments(grants.value))
    return [found('ok', 'Holdfast can approve and reject deployments.')];
  const lacks = missing.length > 0 ? missing.join(', ') : 'the event deployment_protection_rule';
  const message = `Freezes cannot block deployments on GitHub: Holdfast lacks ${lacks}.`;
  return [found('warning', message, howToGrant(app, missingForDeployments))];
}

function judgePermissions(app: AppFacts): Finding {
  const { grants, installation } = app;
  const found = findingsOf('permissions');
  if (!grants.known)
    return found(
      'unknown',
      `Holdfast cannot tell which permissions it has: ${grants.reason}.`,
      `Check ${installation}.`,
    );
  const missing = missingPermissions(grants.value);
  if (missing.length === 0) return found('ok', 'Holdfast has every permission of app.yml.');
  const list = missing.map((name) => permissionText(name)).join(', ');
  const isVital = missing.some((name) => vital.has(name));
  const consequence = isVital
    ? 'Without them, no freeze blocks merges.'
    : 'Conditions and merge queues that need them cannot be evaluated, so they block.';
  return found(
    isVital ? 'failed' : 'warning',
    `Holdfast lacks ${list}. ${consequence}`,
    howToGrant(app, missingPermissions),
  );
}

/** How an owner grants what is missing, which the App may have to request first. */
const howToGrant = (
  { requested, settings, installation }: AppFacts,
  missingFrom: (grants: Grants) => string[],
): string =>
  requested.known && missingFrom(requested.value).length > 0
    ? `Add them under Permissions at ${settings}/permissions. Then ask an owner to accept them at ${installation}.`
    : `Ask an owner to accept the new permissions at ${installation}.`;

function judgeEvents({ grants, settings, installation }: AppFacts): Finding {
  const found = findingsOf('events');
  if (!grants.known)
    return found(
      'unknown',
      `Holdfast cannot tell which events it receives: ${grants.reason}.`,
      `Check ${installation}.`,
    );
  const missing = missingEvents(grants.value);
  if (missing.length === 0) return found('ok', 'Holdfast receives every event of app.yml.');
  return found(
    missing.some((event) => prompt.has(event)) ? 'failed' : 'warning',
    `Holdfast does not receive ${missing.join(', ')}, so it finds these changes up to an hour later.`,
    `Subscribe to them under Permissions & events at ${settings}/permissions.`,
  );
}
