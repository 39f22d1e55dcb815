import {
  asksForComments,
  type Grants,
  missingEvents,
  missingForComments,
  missingPermissions,
  permissionText,
} from '../github/app-manifest.ts';
import type { Fact } from '../github/pull-requests/fact.ts';
import type { Finding } from './finding.ts';

/** Without these no freeze holds. Without another only its conditions, or the merge queue, cannot be judged. */
export const vital: ReadonlySet<string> = new Set(['metadata', 'statuses', 'pull_requests', 'contents']);
/** Without these freezes hold late: the look each hour finds what they would have told. */
export const prompt: ReadonlySet<string> = new Set(['pull_request', 'merge_group']);

export type AppFacts = {
  /** Of the installation: what was granted there. */
  grants: Fact<Grants>;
  /** Of the App itself: what it asks for. */
  asked: Fact<Grants>;
  /** The pages of the App's settings, and of the installation. */
  settings: string;
  installation: string;
};

/** Whether the App has the permissions and events of app.yml; and what commands in comments need, where it asks for that. */
export function judgeApp(app: AppFacts): Finding[] {
  return [judgePermissions(app), judgeEvents(app), ...judgeComments(app)];
}

function judgeComments({ grants, asked, settings, installation }: AppFacts): Finding[] {
  if (!grants.known || !asked.known || !asksForComments(asked.value)) return [];
  const check = 'comments';
  const missing = missingForComments(grants.value);
  if (missing.length === 0)
    return [{ check, state: 'ok', message: 'People can write commands in comments here.', remedy: null }];
  const notAsked = missingForComments(asked.value);
  const remedy = notAsked.length
    ? `Add them under Permissions at ${settings}/permissions; then an owner accepts them at ${installation}.`
    : `An owner accepts the new permissions at ${installation}.`;
  const message = `Nobody can write commands in comments here: Holdfast lacks ${missing.join(', ')}.`;
  return [{ check, state: 'warning', message, remedy }];
}

function judgePermissions({ grants, asked, settings, installation }: AppFacts): Finding {
  const check = 'permissions';
  if (!grants.known)
    return unknown(check, 'Which permissions Holdfast has here', grants.reason, installation);
  const missing = missingPermissions(grants.value);
  if (missing.length === 0) {
    return { check, state: 'ok', message: 'Holdfast has every permission of app.yml.', remedy: null };
  }
  const list = missing.map((name) => permissionText(name)).join(', ');
  const isVital = missing.some((name) => vital.has(name));
  const consequence = isVital
    ? 'Without them no freeze holds.'
    : 'Conditions and merge queues that need them cannot be judged, and hold.';
  const notAsked = asked.known ? missingPermissions(asked.value) : [];
  const remedy = notAsked.length
    ? `Add them under Permissions at ${settings}/permissions; then an owner accepts them at ${installation}.`
    : `An owner accepts the new permissions at ${installation}.`;
  const message = `Holdfast lacks ${list}. ${consequence}`;
  return { check, state: isVital ? 'failed' : 'warning', message, remedy };
}

function judgeEvents({ grants, settings, installation }: AppFacts): Finding {
  const check = 'events';
  if (!grants.known) return unknown(check, 'Which events Holdfast hears', grants.reason, installation);
  const missing = missingEvents(grants.value);
  if (missing.length === 0) {
    return { check, state: 'ok', message: 'Holdfast hears every event of app.yml.', remedy: null };
  }
  return {
    check,
    state: missing.some((event) => prompt.has(event)) ? 'failed' : 'warning',
    message: `Holdfast does not hear ${missing.join(', ')}: what they tell is found up to an hour later.`,
    remedy: `Subscribe to them under Permissions & events at ${settings}/permissions.`,
  };
}

const unknown = (check: Finding['check'], what: string, why: string, at: string): Finding => ({
  check,
  state: 'unknown',
  message: `${what} is not known: ${why}.`,
  remedy: `Look at ${at}.`,
});
