import type { Fact } from '../github/pull-requests/fact.ts';
import type { Finding } from './finding.ts';

/** One attempt of GitHub to deliver a webhook, newest first in lists. */
export type Attempt = {
  guid: string;
  at: Date;
  isDelivered: boolean;
  status: string;
  /** It failed, and what it was about was looked at since. */
  isMadeGood: boolean;
};

export type WebhookFacts = {
  attempts: Fact<Attempt[]>;
  hook: Fact<{ url: string; contentType: string }>;
  /** When the last event arrived that changed something here; null: none in eight days. */
  lastReceived: Date | null;
  /** The App's settings. */
  settings: string;
};

/** Whether webhooks arrive, as GitHub's list of deliveries and our own tell. */
export function judgeWebhooks({ attempts, hook, lastReceived, settings }: WebhookFacts): Finding {
  const found = (state: Finding['state'], message: string, remedy: string | null): Finding => ({
    ...{ check: 'webhooks', state, message, remedy },
  });
  const list = `${settings}/advanced`;
  const target = hook.known && hook.value.url ? ` to ${hook.value.url}` : '';
  if (hook.known && hook.value.contentType !== 'json') {
    return found(
      'failed',
      `GitHub sends webhooks as ${hook.value.contentType}, which Holdfast refuses.`,
      `Choose the content type application/json at ${settings}.`,
    );
  }
  if (!attempts.known) {
    const own = lastReceived
      ? `The last one that changed something came at ${timeOf(lastReceived)}.`
      : 'None that changed something came in eight days.';
    return found(
      'unknown',
      `Whether webhooks arrive is not known: ${attempts.reason}. ${own}`,
      `Look at ${list}.`,
    );
  }
  const [last] = attempts.value;
  if (!last) {
    return found(
      'unknown',
      `GitHub has sent no webhook${target} in three days.`,
      `Open or label a pull request, then look at ${list}; the webhook must be active at ${settings}.`,
    );
  }
  if (!last.isDelivered) {
    return found(
      'failed',
      `GitHub could not deliver its last webhook${target}, at ${timeOf(last.at)}: ${last.status}.`,
      `See the answer at ${list}, and the webhook URL at ${settings}. Holdfast looks each minute at what failed ones were about.`,
    );
  }
  const lost = undelivered(attempts.value);
  if (lost > 0) {
    return found(
      'warning',
      `${lost} of the last ${attempts.value.length} deliveries failed, and what they were about was not looked at yet.`,
      `Holdfast looks at it within a minute; see why they failed at ${list}.`,
    );
  }
  return found('ok', `Webhooks arrive; the last one at ${timeOf(last.at)}.`, null);
}

/** Webhooks whose newest attempt failed, and for which nothing else made good yet. */
function undelivered(attempts: Attempt[]): number {
  const newest = new Map<string, boolean>();
  for (const { guid, isDelivered, isMadeGood } of attempts) {
    if (!newest.has(guid)) newest.set(guid, isDelivered || isMadeGood);
  }
  return newest
    .values()
    .filter((isDelivered) => !isDelivered)
    .toArray().length;
}

/** Milliseconds. GitHub's header has whole seconds, and refuses what an App signs a minute early or late. */
const closeEnough = 5_000;
const tooFar = 30_000;

/** @param ahead milliseconds by which our clock is ahead of GitHub's. */
export function judgeClock(ahead: Fact<number>): Finding {
  const check = 'clock';
  if (!ahead.known) {
    return {
      check,
      state: 'unknown',
      message: `Whether the clock is right is not known: ${ahead.reason}.`,
      remedy: null,
    };
  }
  const off = Math.abs(ahead.value);
  if (off <= closeEnough) {
    return { check, state: 'ok', message: "The clock agrees with GitHub's.", remedy: null };
  }
  const way = ahead.value > 0 ? 'ahead of' : 'behind';
  return {
    check,
    state: off > tooFar ? 'failed' : 'warning',
    message: `The clock is ${Math.round(off / 1000)} s ${way} GitHub's: freezes begin and end so much too ${ahead.value > 0 ? 'early' : 'late'}.`,
    remedy: 'Let the machine of the service keep its time by NTP: timedatectl set-ntp true.',
  };
}

export type Budget = { name: string; limit: number; remaining: number; resetAt: Date };

const isScarce = ({ limit, remaining }: Budget): boolean => remaining < limit / 10;

/** Why no more is to be asked than must be, if so: the last tenth of the hour's requests is for statuses. */
export function whySpare(budgets: Fact<Budget[] | null>): string | null {
  const scarce = budgets.known ? budgets.value?.find(isScarce) : undefined;
  if (!scarce) return null;
  const left =
    scarce.remaining === 0 ? 'is used up' : 'is nearly used up, and the rest is kept for statuses,';
  return `GitHub's rate limit ${left} until ${timeOf(scarce.resetAt)}`;
}

/** @param budgets null: this GitHub does not limit requests. */
export function judgeRateLimit(budgets: Fact<Budget[] | null>): Finding {
  const check = 'rate_limit';
  if (!budgets.known) {
    const message = `How much of the rate limit is left is not known: ${budgets.reason}.`;
    return { check, state: 'unknown', message, remedy: null };
  }
  if (!budgets.value) return { check, state: 'ok', message: 'This GitHub limits no requests.', remedy: null };
  const left = budgets.value
    .map(({ name, limit, remaining }) => `${remaining} of ${limit} ${name}`)
    .join(', ');
  const scarce = budgets.value.filter(isScarce);
  if (scarce.length === 0) {
    return { check, state: 'ok', message: `Left of this hour's rate limit: ${left}.`, remedy: null };
  }
  const isUsedUp = scarce.some(({ remaining }) => remaining === 0);
  const resetAt = scarce.map((budget) => budget.resetAt).sort((one, other) => +other - +one)[0]!;
  return {
    check,
    state: isUsedUp ? 'failed' : 'warning',
    message: `Left of this hour's rate limit: ${left}. ${isUsedUp ? 'Statuses wait until then' : 'It is refilled'} at ${timeOf(resetAt)}.`,
    remedy: 'Wait until then. If it happens often, lower STATUS_WRITES_PER_MINUTE.',
  };
}

const timeOf = (instant: Date): string => `${instant.toISOString().slice(0, 19)}Z`;
