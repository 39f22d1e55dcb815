import {
  asksForComments,
  type Grants,
  missingEvents,
  missingForComments,
  missingPermissions,
  permissionText,
} from '../../github/app-manifest.ts';
import type { Fact } from '../../github/pull-requests/fact.ts';
import type { Finding } from './finding.ts';

/** Freezes need these to hold anything. Without another permission, only some conditions or merge queues fail. */
export const vital: ReadonlySet<string> = new Set(['metadata', 'statuses', 'pull_requests', 'contents']);
/** Without these events, freezes hold late: only the hourly check finds the changes. */
export const prompt: ReadonlySet<string> = new Set(['pull_request', 'merge_group']);

export type AppFacts = {
  /** What was granted to the installation. */
  grants: Fact<Grants>;
  /** What the App requests. */
  asked: Fact<Grants>;
  /** The settings page of the App, and the page of the installation. */
  settings: string;
  installation: string;
};

/** Whether the App has the permissions and events of app.yml, and those for commands in comments if it requests them. */
export function judgeApp(app: AppFacts): Finding[] {
  return [judgePermissions(app), judgeEvents(app), ...judgeComments(app)];
}

function judgeComments({ grants, asked, settings, installation }: AppFacts): Finding[] {
  if (!grants.known || !asked.known || !asksForComments(asked.value)) return [];
  const check = 'comments';
  const missing = missingForComments(grants.value);
  if (missing.length === 0)
    return [{ check, state: 'ok', message: 'People can use commands in comments.', remedy: null }];
  const notAsked = missingForComments(asked.value);
  const remedy = notAsked.length
    ? `Add them under Permissions at ${settings}/permissions. Then ask an owner to accept them at ${installation}.`
    : `Ask an owner to accept the new permissions at ${installation}.`;
  const message = `Nobody can use commands in comments: Holdfast lacks ${missing.join(', ')}.`;
  return [{ check, state: 'warning', message, remedy }];
}

function judgePermissions({ grants, asked, settings, installation }: AppFacts): Finding {
  const check = 'permissions';
  if (!grants.known) return unknown(check, 'which permissions it has', grants.reason, installation);
  const missing = missingPermissions(grants.value);
  if (missing.length === 0) {
    return { check, state: 'ok', message: 'Holdfast has every permission of app.yml.', remedy: null };
  }
  const list = missing.map((name) => permissionText(name)).join(', ');
  const isVital = missing.some((name) => vital.has(name));
  const consequence = isVital
    ? 'Without them, no freeze holds.'
    : 'Conditions and merge queues that need them cannot be evaluated, so they hold.';
  const notAsked = asked.known ? missingPermissions(asked.value) : [];
  const remedy = notAsked.length
    ? `Add them under Permissions at ${settings}/permissions. Then ask an owner to accept them at ${installation}.`
    : `Ask an owner to accept the new permissions at ${installation}.`;
  const message = `Holdfast lacks ${list}. ${consequence}`;
  return { check, state: isVital ? 'failed' : 'warning', message, remedy };
}

function judgeEvents({ grants, settings, installation }: AppFacts): Finding {
  const check = 'events';
  if (!grants.known) return unknown(check, 'which events it receives', grants.reason, installation);
  const missing = missingEvents(grants.value);
  if (missing.length === 0) {
    return { check, state: 'ok', message: 'Holdfast receives every event of app.yml.', remedy: null };
  }
  return {
    check,
    state: missing.some((event) => prompt.has(event)) ? 'failed' : 'warning',
    message: `Holdfast does not receive ${missing.join(', ')}, so it finds these changes up to an hour later.`,
    remedy: `Subscribe to them under Permissions & events at ${settings}/permissions.`,
  };
}

const unknown = (check: Finding['check'], what: string, why: string, at: string): Finding => ({
  check,
  state: 'unknown',
  message: `Holdfast cannot tell ${what}: ${why}.`,
  remedy: `Check ${at}.`,
});
