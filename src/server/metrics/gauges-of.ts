import { Gauge, Registry } from '@prometheus-io/client';
import type { Budget } from '../../github/rate-limits.ts';
import { datedBack } from '../../queue/queue.ts';
import type { Figures } from './read-figures.ts';

/** The installations with the least left are shown, so many at most. */
const mostBudgets = 100;

/**
 * What is so at this moment, in a registry for one scrape: what is not known is left out, and nothing old stays.
 * @param figures null where the database did not answer.
 * @param now milliseconds since the epoch.
 */
export function gaugesOf(figures: Figures | null, budgets: Budget[], now: number): Registry {
  const registry = new Registry();
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `holdfast_${name}`, help, labelNames, registers: [registry] });

  gauge('scrape_database_up', 'Whether the database answered this scrape: 1 or 0').set(figures ? 1 : 0);
  const rateLimit = gauge(
    'github_rate_limit_remaining_ratio',
    'Share of the hourly GitHub rate limit that is left, 0 to 1, as this process last heard',
    ...(['installation', 'resource'] as const),
  );
  const scarcest = budgets.toSorted((one, other) => one.share - other.share).slice(0, mostBudgets);
  for (const { installationId, resource, share } of scarcest)
    rateLimit.set({ installation: installationId, resource }, share);
  if (!figures) return registry;

  const secondsSince = (since: Date | null, less = 0): number =>
    since ? Math.max(0, now - since.getTime() - less) / 1000 : 0;
  const { statusesWaiting, waitingSince, freezesOngoing, pullRequestsLeaking, jobs } = figures;
  gauge('statuses_waiting', 'Commit statuses that are still to be written').set(statusesWaiting);
  gauge('statuses_oldest_waiting_seconds', 'How long the oldest commit status has waited; 0: none waits').set(
    secondsSince(waitingSince),
  );
  gauge('freezes_ongoing', 'Freezes that are on').set(freezesOngoing);
  gauge(
    'pull_requests_leaking',
    'Open pull requests that GitHub would merge although a freeze holds them',
  ).set(pullRequestsLeaking);
  const waiting = gauge('jobs_waiting', 'Jobs that are due and not begun, by task', 'task');
  const oldest = gauge(
    'jobs_oldest_due_seconds',
    'How long the oldest due job has waited, by task; up to a minute less for planned work',
    'task',
  );
  const failing = gauge('jobs_failing', 'Jobs that failed and wait for another try, by task', 'task');
  for (const { task, ...count } of jobs) {
    waiting.set({ task }, count.waiting);
    oldest.set({ task }, secondsSince(count.dueSince, datedBack));
    failing.set({ task }, count.failing);
  }
  return registry;
}
