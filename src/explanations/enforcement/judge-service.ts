import type { Fact } from '../../github/pull-requests/pull-request.ts';
import { type Finding, findingsOf } from './finding.ts';

/** One attempt by GitHub to deliver a webhook. Lists have the newest first. */
export type Attempt = {
  guid: string;
  at: Date;
  isDelivered: boolean;
  status: string;
  /** It failed, but Holdfast has since checked what it was about. */
  isMadeGood: boolean;
};

export type WebhookFacts = {
  attempts: Fact<Attempt[]>;
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
function undelivered(attempts: Attempt[]): number {
  const newest = new Map(attempts.toReversed().map((attempt) => [attempt.guid, attempt]));
  return [...newest.values()].filter(({ isDelivered, isMadeGood }) => !isDelivered && !isMadeGood).length;
}

/** Milliseconds. GitHub's header has whole seconds. GitHub refuses App tokens that are a minute early or late. */
const closeEnough = 5_000;
const tooFar = 30_000;

/** @param ahead how many milliseconds our clock is ahead of GitHub's. */
export function judgeClock(ahead: Fact<number>): Finding {
  const found = findingsOf('clock');
  if (!ahead.known)
    return found('unknown', `Holdfast cannot tell whether the clock is right: ${ahead.reason}.`);
  const off = Math.abs(ahead.value);
  if (off <= closeEnough) return found('ok', "The clock agrees with GitHub's.");
  const [way, when] = ahead.value > 0 ? ['ahead of', 'early'] : ['behind', 'late'];
  return found(
    off > tooFar ? 'failed' : 'warning',
    `The clock is ${Math.round(off / 1000)} s ${way} GitHub's, so freezes begin and end that much too ${when}.`,
    'Synchronize the clock of the service’s machine with NTP: timedatectl set-ntp true.',
  );
}

export type Budget = { name: string; limit: number; remaining: number; resetAt: Date };

const isScarce = ({ limit, remaining }: Budget): boolean => remaining < limit / 10;

/** Why we should not ask more than necessary, if so: the last tenth of the hourly rate limit is for statuses. */
export function whySpare(budgets: Fact<Budget[] | null>): string | null {
  const scarce = budgets.known ? budgets.value?.find(isScarce) : undefined;
  if (!scarce) return null;
  const left =
    scarce.remaining === 0 ? 'is used up' : 'is nearly used up, and the rest is reserved for statuses,';
  return `GitHub's rate limit ${left} until ${timeOf(scarce.resetAt)}`;
}

/** @param budgets null if this GitHub does not limit requests. */
export function judgeRateLimit(budgets: Fact<Budget[] | null>): Finding {
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
