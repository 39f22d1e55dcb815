import type { Fact } from '../../github/pull-requests/pull-request.ts';
import { mostAhead } from '../../time/clock.ts';
import { type Finding, findingsOf } from './finding.ts';
import { holdsDeployments, type StoredFreeze } from '../../freezes/freeze.ts';
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

/** One attempt by GitHub to deliver a webhook. Lists have the newest first. */
export type WebhookAttempt = {
  guid: string;
  at: Date;
  isDelivered: boolean;
  status: string;
  /** It failed, but Holdfast has since checked what it was about. */
  isMadeGood: boolean;
};

export type WebhookFacts = {
  attempts: Fact<WebhookAttempt[]>;
  hook: Fact<{ url: string; contentType: string }>;
  /** When the last event that changed something arrived; null if none did in eight days. */
  lastReceived: Date | null;
  /** The settings page of the App. */
  settings: string;
  /** The proxy of GitHub's webhooks that TRUSTED_PROXIES should name; null if none is known. */
  unnamedProxy: string | null;
};

/** Whether webhooks arrive, according to GitHub's list of deliveries and ours. */
export function judgeWebhooks({
  attempts,
  hook,
  lastReceived,
  settings,
  unnamedProxy,
}: WebhookFacts): Finding {
  const found = findingsOf('webhooks');
  const list = `${settings}/advanced`;
  const target = hook.known && hook.value.url ? ` to ${hook.value.url}` : '';
  if (hook.known && hook.value.contentType !== 'json') {
    return found(
      'failed',
      `GitHub sends webhooks as ${hook.value.contentType}, which Holdfast does not accept.`,
      `Choose the content type application/json at ${settings}.`,
    );
  }
  if (!attempts.known) {
    const own = lastReceived
      ? `The last one that changed something arrived at ${timeOf(lastReceived)}.`
      : 'None that changed something arrived in eight days.';
    return found(
      'unknown',
      `Holdfast cannot tell whether webhooks arrive: ${attempts.reason}. ${own}`,
      `Check ${list}.`,
    );
  }
  const [last] = attempts.value;
  if (!last) {
    return found(
      'unknown',
      `GitHub has sent no webhook${target} in three days.`,
      `Open or label a pull request, then check ${list}. The webhook must be active at ${settings}.`,
    );
  }
  if (!last.isDelivered) {
    return found(
      'failed',
      `GitHub could not deliver its last webhook${target}, at ${timeOf(last.at)}: ${last.status}.`,
      `Check the response at ${list} and the webhook URL at ${settings}. Each minute, Holdfast checks what failed deliveries were about.`,
    );
  }
  const lost = undelivered(attempts.value);
  if (lost > 0) {
    return found(
      'warning',
      `${lost} of the last ${attempts.value.length} deliveries failed, and Holdfast has not checked yet what they were about.`,
      `Holdfast checks within a minute. To find out why they failed, see ${list}.`,
    );
  }
  if (unnamedProxy) {
    return found(
      'warning',
      `GitHub's webhooks come through ${unnamedProxy}, which TRUSTED_PROXIES does not name. Strangers who come the same way can crowd them out.`,
      `If ${unnamedProxy} is your proxy, add it to TRUSTED_PROXIES.`,
    );
  }
  return found('ok', `Webhooks arrive. The last one arrived at ${timeOf(last.at)}.`);
}

/** The number of webhooks whose newest attempt failed and that Holdfast has not caught up on. */
function undelivered(attempts: WebhookAttempt[]): number {
  const newest = new Map(attempts.toReversed().map((attempt) => [attempt.guid, attempt]));
  return [...newest.values()].filter(({ isDelivered, isMadeGood }) => !isDelivered && !isMadeGood).length;
}

/** Milliseconds. Some minutes before freezes are off by a whole one, people should know. */
const tooFar = 30_000;

/** How many milliseconds our clock is ahead of GitHub's and of the database's; null: the database did not say. */
export type ClockFacts = { github: Fact<number>; database: number | null };

/** What our clock says beside GitHub's and the database's. */
export function judgeClock({ github, database }: ClockFacts): Finding[] {
  const found = findingsOf('clock');
  if (!github.known)
    return [found('unknown', `Holdfast cannot tell whether the clock is right: ${github.reason}.`)];
  const ahead = github.value;
  const offBy = (milliseconds: number) =>
    `${Math.round(Math.abs(milliseconds) / 1000)} s ${milliseconds > 0 ? 'ahead of' : 'behind'}`;
  const ntp = 'Synchronize the clock of the service’s machine with NTP: timedatectl set-ntp true.';
  const findings = [];
  if (Math.abs(ahead) > mostAhead)
    findings.push(
      found(
        'failed',
        `The clock is ${offBy(ahead)} GitHub's. Holdfast goes by GitHub's time until it is right.`,
        ntp,
      ),
    );
  else if (ahead !== 0)
    findings.push(
      found(
        Math.abs(ahead) > tooFar ? 'failed' : 'warning',
        `The clock is ${offBy(ahead)} GitHub's, so freezes begin and end that much too ${ahead > 0 ? 'early' : 'late'}.`,
        ntp,
      ),
    );
  // The embedded database, and one on the same machine, are wrong together with us.
  if (database)
    findings.push(
      found(
        'warning',
        `The clock is ${offBy(database)} the database's. Jobs are due by the database's clock.`,
        'Synchronize the clocks of the database’s machine and of this one with NTP: timedatectl set-ntp true.',
      ),
    );
  return findings.length > 0 ? findings : [found('ok', "The clock agrees with GitHub's.")];
}

/** The jobs of the service. @property overdueSince null if none is. @property areTaken whether a worker works on any. */
export type Work = { overdueSince: Date | null; areTaken: boolean };

/**
 * Whether workers do what is due; nothing if they do. What GitHub enforces says nothing of that.
 * @param isUnjudged whether a freeze of the repository began that is not judged yet.
 */
export function judgeWork({ overdueSince, areTaken }: Work, isUnjudged: boolean): Finding[] {
  if (!overdueSince) return [];
  const why = areTaken ? 'Workers do not keep up' : 'No worker runs';
  const since = `jobs are due since ${timeOf(overdueSince)}`;
  const finding = findingsOf('worker')(
    isUnjudged ? 'failed' : 'warning',
    `${why}: ${since}${isUnjudged ? ', and a freeze that began is not judged yet, so it holds nothing' : ''}.`,
    areTaken
      ? 'Check the log of the workers, and the metrics holdfast_jobs_waiting and holdfast_jobs_failing.'
      : 'Start a process with ROLE=worker or ROLE=all, and check its log.',
  );
  return [finding];
}

export type RateBudget = { name: string; limit: number; remaining: number; resetAt: Date };

const isScarce = ({ limit, remaining }: RateBudget): boolean => remaining < limit / 10;

/** Why we should not ask more than necessary, if so: the last tenth of the hourly rate limit is for statuses. */
export function whySpare(budgets: Fact<RateBudget[] | null>): string | null {
  const scarce = budgets.known ? budgets.value?.find(isScarce) : undefined;
  if (!scarce) return null;
  const left =
    scarce.remaining === 0 ? 'is used up' : 'is nearly used up, and the rest is reserved for statuses,';
  return `GitHub's rate limit ${left} until ${timeOf(scarce.resetAt)}`;
}

/** @param budgets null if this GitHub does not limit requests. */
export function judgeRateLimit(budgets: Fact<RateBudget[] | null>): Finding {
  const found = findingsOf('rate_limit');
  if (!budgets.known)
    return found('unknown', `Holdfast cannot tell how much of the rate limit is left: ${budgets.reason}.`);
  if (!budgets.value) return found('ok', 'This GitHub does not limit requests.');
  const left = budgets.value
    .map(({ name, limit, remaining }) => `${remaining} of ${limit} ${name}`)
    .join(', ');
  const message = `The rate limit of this hour has ${left} left.`;
  const scarce = budgets.value.filter(isScarce);
  if (scarce.length === 0) return found('ok', message);
  const isUsedUp = scarce.some(({ remaining }) => remaining === 0);
  const resetAt = scarce.map((budget) => budget.resetAt).sort((one, other) => +other - +one)[0]!;
  return found(
    isUsedUp ? 'failed' : 'warning',
    `${message} ${isUsedUp ? 'Statuses wait until it resets' : 'It resets'} at ${timeOf(resetAt)}.`,
    'Wait until then. If it happens often, lower STATUS_WRITES_PER_MINUTE.',
  );
}

const timeOf = (instant: Date): string => `${instant.toISOString().slice(0, 19)}Z`;

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
