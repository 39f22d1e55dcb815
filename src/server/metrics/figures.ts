import { createHash, timingSafeEqual } from 'node:crypto';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import { bearerOf } from '../../auth/caller.ts';
import { type TaskName, taskNames } from '../../database/queue/jobs.ts';
import { datedBack, githubTimeOf, jobNow } from '../../database/queue/queue.ts';
import { type TroubleKind, troubleKinds } from '../../database/trouble.ts';
import type { Deps } from '../../deps.ts';
import type { HourlyBudget } from '../../github/ask-github.ts';
import { Answers } from '../../github/cache.ts';
import { lateStatuses } from '../../statuses/write-store.ts';
import { nowOf, within } from '../../time/clock.ts';

/** What the database knows of the work that is left and of what is on. The same for all processes on it. */
type Figures = {
  /** Commit statuses that are still to write, but for repeats that wait on purpose. */
  statusesWaiting: number;
  /** Since when the oldest of them waits; null: none does. */
  waitingSince: Date | null;
  freezesOngoing: number;
  /** Open pull requests that GitHub would merge although a freeze holds them. */
  pullRequestsLeaking: number;
  /** Installations that their owners suspended: nothing is held or let go there. */
  installationsSuspended: number;
  /** Repositories that a ruleset of the second App holds at once. */
  instantHolds: number;
  /** Deliveries to outgoing webhooks that are due, and since when the oldest of them is; null: none is. */
  deliveriesDue: number;
  deliveriesDueSince: Date | null;
  /**
   * Of each task, how many jobs are due, since when the oldest of them is (null: none is), and how many wait for another
   * try after they failed.
   */
  jobs: { task: TaskName; waiting: number; dueSince: Date | null; failing: number }[];
};

// Reads what is open: what waits, is ongoing or is held by an index, and the table of jobs once, as `renewJobs` does.
// A failed job comes back within 60 s.
const askForFigures = `
  WITH statuses AS (
    ${lateStatuses('$1')}
  ), deliveries AS (
    SELECT count(*)::int AS due, min(next_attempt_at) AS since
    FROM outgoing_deliveries WHERE next_attempt_at <= $1::timestamptz
  ), jobs AS (
    SELECT task, count(*) FILTER (WHERE due_at <= ${jobNow('$3')})::int AS waiting,
      min(due_at) FILTER (WHERE due_at <= ${jobNow('$3')}) AS due_since,
      count(*) FILTER (WHERE attempt > 0 AND NOT is_taken)::int AS failing
    FROM jobs WHERE due_at <= ${jobNow('$3')} + interval '60 seconds' GROUP BY task
  )
  SELECT statuses.waiting AS "statusesWaiting", statuses.since AS "waitingSince", (
      SELECT count(*)::int FROM freezes
      WHERE starts_at <= $1::timestamptz AND (ends_at IS NULL OR ends_at > $1::timestamptz) AND deleted_at IS NULL
    ) AS "freezesOngoing", (
      SELECT count(*)::int FROM open_pull_requests
      WHERE merge_state_due_at IS NOT NULL AND leaking_since IS NOT NULL
    ) AS "pullRequestsLeaking", (
      SELECT count(*)::int FROM instant_holds WHERE context IS NOT NULL AND since IS NOT NULL
    ) AS "instantHolds", (
      SELECT count(*)::int FROM installations WHERE suspended_at IS NOT NULL AND deleted_at IS NULL
    ) AS "installationsSuspended", deliveries.due AS "deliveriesDue", deliveries.since AS "deliveriesDueSince", task, coalesce(jobs.waiting, 0) AS waiting,
    jobs.due_since AS "dueSince", coalesce(jobs.failing, 0) AS failing
  FROM statuses CROSS JOIN deliveries CROSS JOIN unnest($2::text[]) AS task LEFT JOIN jobs USING (task)`;

type FigureRow = Omit<Figures, 'jobs'> & Figures['jobs'][number];

/** Reads all of them with one statement. @throws what the database answers. */
async function readFigures({
  sql,
  clock,
  witnesses,
}: Pick<Deps, 'sql' | 'clock' | 'witnesses'>): Promise<Figures> {
  const values = [nowOf(clock), taskNames, githubTimeOf(witnesses)];
  const rows = await sql.query<FigureRow>('metrics-figures', askForFigures, values);
  const jobs = rows.map(({ task, waiting, dueSince, failing }) => ({ task, waiting, dueSince, failing }));
  return { ...rows[0]!, jobs };
}

/** Milliseconds for which all scrapes share an answer. */
const goodFor = 10_000;
/** Milliseconds that the database has to answer: Prometheus gives a scrape 10 s. */
const figuresPatience = 3000;

/**
 * Gives the figures to any number of scrapes. They share one question to the database, which is asked at most once in
 * 10 s, and never while the last one is under way.
 * @returns null if the database did not answer, or not in time.
 */
function shareFigures(
  deps: Pick<Deps, 'sql' | 'clock' | 'witnesses' | 'log'>,
): () => Promise<Figures | null> {
  const answers = new Answers<Figures | null>(deps.clock, 1, () => goodFor);
  const ask = () =>
    readFigures(deps).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'the figures for a scrape of metrics could not be read');
      return null;
    });
  return () => within(figuresPatience, answers.get('figures', ask));
}

/** The installations with the least left are shown, so many at most. */
const mostBudgets = 100;

/**
 * What this process found out by itself.
 * @property aheadOf how many milliseconds its clock is ahead of others; null: not known.
 * @property troubles what is wrong with the database now.
 * @property keyRefusedSince null: GitHub accepts the key of the App.
 */
type KnownByProcess = {
  aheadOf?: Record<string, number | null>;
  troubles?: TroubleKind[];
  keyRefusedSince?: Date | null;
};

/**
 * The present figures, in a registry for one scrape. Leaves out what is not known, and keeps nothing old.
 * @param figures null if the database did not answer.
 * @param now milliseconds since the epoch.
 * @param known what this process found out.
 */
export function gaugesOf(
  figures: Figures | null,
  budgets: HourlyBudget[],
  now: number,
  { aheadOf = {}, troubles = [], keyRefusedSince = null }: KnownByProcess = {},
): Registry {
  const registry = new Registry();
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `holdfast_${name}`, help, labelNames, registers: [registry] });

  gauge('scrape_database_up', 'Whether the database answered this scrape: 1 or 0').set(figures ? 1 : 0);
  const trouble = gauge(
    'database_trouble',
    'Whether what this process asks of the database fails: 1 or 0, by what is wrong',
    'kind',
  );
  for (const kind of troubleKinds) trouble.set({ kind }, troubles.includes(kind) ? 1 : 0);
  const rateLimit = gauge(
    'github_rate_limit_remaining_ratio',
    'Share of the hourly GitHub rate limit that is left, 0 to 1, as this process last heard',
    ...(['installation', 'resource'] as const),
  );
  const scarcest = budgets.toSorted((one, other) => one.share - other.share).slice(0, mostBudgets);
  for (const { installationId, resource, share } of scarcest)
    rateLimit.set({ installation: installationId, resource }, share);
  const clock = gauge(
    'clock_ahead_seconds',
    'How far the clock of this process is ahead of that of github or of the database; 0: they agree',
    'of',
  );
  for (const [of, ahead] of Object.entries(aheadOf)) if (ahead !== null) clock.set({ of }, ahead / 1000);
  gauge(
    'github_key_refused_seconds',
    'How long GitHub has refused the private key of the App, as this process last heard; 0: it accepts it',
  ).set(keyRefusedSince ? (now - keyRefusedSince.getTime()) / 1000 : 0);
  if (!figures) return registry;

  const secondsSince = (since: Date | null, less = 0): number =>
    since ? Math.max(0, now - since.getTime() - less) / 1000 : 0;
  gauge('statuses_waiting', 'Commit statuses that are still to be written').set(figures.statusesWaiting);
  gauge('statuses_oldest_waiting_seconds', 'How long the oldest commit status has waited; 0: none waits').set(
    secondsSince(figures.waitingSince),
  );
  gauge('freezes_ongoing', 'Freezes that are on').set(figures.freezesOngoing);
  gauge(
    'pull_requests_leaking',
    'Open pull requests that GitHub would merge although a freeze holds them',
  ).set(figures.pullRequestsLeaking);
  gauge('installations_suspended', 'Installations that are suspended, so that nothing is held there').set(
    figures.installationsSuspended,
  );
  gauge('instant_holds', 'Repositories that a ruleset blocks at once').set(figures.instantHolds);
  gauge('outgoing_deliveries_due', 'Messages to outgoing webhooks that are due').set(figures.deliveriesDue);
  gauge(
    'outgoing_deliveries_oldest_due_seconds',
    'How long the oldest due message to an outgoing webhook has waited; 0: none waits',
  ).set(secondsSince(figures.deliveriesDueSince));
  const waiting = gauge('jobs_waiting', 'Jobs that are due and not begun, by task', 'task');
  const oldest = gauge(
    'jobs_oldest_due_seconds',
    'How long the oldest due job has waited, by task; up to a minute less for planned work',
    'task',
  );
  const failing = gauge('jobs_failing', 'Jobs that failed and wait for another try, by task', 'task');
  for (const { task, ...count } of figures.jobs) {
    waiting.set({ task }, count.waiting);
    oldest.set({ task }, secondsSince(count.dueSince, datedBack));
    failing.set({ task }, count.failing);
  }
  return registry;
}

export const metricsPath = '/metrics';

/**
 * Serves the metrics of this process and of the database to callers who send `METRICS_TOKEN`, and to nobody where that is
 * not set (docs/decisions/0023).
 */
export function serveMetrics(api: OpenAPIHono, deps: Deps): void {
  const { metricsToken } = deps.config;
  if (!metricsToken) {
    const detail = 'Holdfast serves no metrics. Set METRICS_TOKEN, and send it as a bearer token.';
    api.get(metricsPath, (context) => context.json({ detail }, 404));
    return;
  }
  const isToken = comparedWith(metricsToken);
  const figures = shareFigures(deps);
  collectDefaultMetrics({ register: deps.metrics.registry });
  api.get(metricsPath, async (context) => {
    context.header('Cache-Control', 'no-store');
    if (!isToken(bearerOf(context.req.header('Authorization')) ?? '')) {
      context.header('WWW-Authenticate', 'Bearer realm="metrics"');
      return context.json({ detail: 'Send METRICS_TOKEN as a bearer token.' }, 401);
    }
    const now = deps.clock.now();
    const { witnesses, github } = deps;
    const gauges = gaugesOf(await figures(), github.budgets.known(), now, {
      aheadOf: { github: witnesses.ahead('github'), database: witnesses.ahead('database') },
      troubles: troublesOf(deps),
      keyRefusedSince: github.keyRefusedSince(),
    });
    const all = Registry.merge([deps.metrics.registry, gauges]);
    return context.body(await all.metrics(), 200, { 'Content-Type': all.contentType });
  });
}

const troublesOf = ({ trouble }: Pick<Deps, 'trouble'>): TroubleKind[] =>
  trouble.now().map(({ kind }) => kind);

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares digests, which all have the same length, so that the time reveals nothing about the token. */
function comparedWith(token: string): (given: string) => boolean {
  const expected = digest(token);
  return (given) => timingSafeEqual(digest(given), expected);
}
