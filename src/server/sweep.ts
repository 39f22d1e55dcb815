import { nowOf } from '../time/clock.ts';
import { correctInstantsAhead } from './instants-ahead.ts';
import type { Tx } from '../database/database.ts';
import { throughPrisma } from '../database/sql.ts';
import type { Deps } from '../deps.ts';
import { retentionDays } from '../events/list-events.ts';
import { forgetCounted, keepReports } from '../reports/freeze-report.ts';
import { isIdle } from '../exemptions/exemption-store.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { replayedFor } from '../api/idempotency.ts';
import { knownFor } from '../github/limits/caller-limits.ts';
import { forgetDeliveries, webhooksWithDue } from '../notices/delivery-store.ts';
import { resealWebhooks } from '../notices/webhook-secrets.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { plansToRead } from '../plans/plan-store.ts';
import { loadLock } from '../github/app-credentials-store.ts';
import { resealSlackApps } from '../notices/slack/slack-apps.ts';
import { hearForPeople } from '../notices/slack/tell-slack.ts';
import { forgetOldSlack } from '../notices/slack/slack-links.ts';
import { type Job, jobs } from '../database/queue/jobs.ts';
import { holdsToCheck, installationsWithHold } from '../statuses/instant-hold/hold-store.ts';
import { isUnwritten, statusesOfHeld } from '../statuses/desired-store.ts';
import { installationsWithWaiting } from '../statuses/write-store.ts';
import { minute, hour, day } from '../time/units.ts';

const noticesKept = 30 * day;
/** GitHub redelivers for at most 7 days. */
const deliveriesKept = 8 * day;

/**
 * Repairs what was missed, and what a wrong clock stored: boundaries that passed, unfinished reconciliations, waiting statuses, merge groups, ended
 * exemptions, failed webhook deliveries, messages to outgoing webhooks, rulesets of instant holds, and anything else in repositories that were not observed for an hour. Also plans
 * the next boundaries, whose jobs may have been lost, keeps reports of freezes, deletes old rows, and keeps up the embedded
 * database.
 */
export async function sweep(deps: Deps): Promise<void> {
  const { db } = deps;
  const now = nowOf(deps.clock);
  await correctInstantsAhead(deps);
  const missed = new Set([...(await withPassedBoundary(db, now)), ...(await unfinished(db, now))]);
  const unchecked = (await askForUnchecked(db, now)).filter((id) => !missed.has(id));
  await deps.queue.send([
    ...(await queuesInFlight(db)),
    ...[...missed, ...unchecked].map((id) => jobs.reconcileRepository(id)),
    ...(await comingBoundaries(db, now)),
    ...(await installationsWithWaiting(db, now)).map((id) => jobs.drainOutbox(id)),
    ...(await withUnaskedMergeStates(db, now)).map((id) => jobs.askMergeStates(id, now)),
    jobs.remindOfFreezes(),
    jobs.recordBoundaries(),
    ...(await withOverExemptions(db, now)).map((id) => jobs.endExemptions(id)),
    ...(await unkeptPlans(db, now)).map((id) => jobs.keepPlan(id)),
    ...(await webhooksWithDue(deps.sql, now)).map((id) => jobs.sendNotices(id)),
    ...(await plansToRead(db, now)).map((id) => jobs.followSource(id)),
    jobs.recoverDeliveries(),
    ...(await holdsToCheck(db)).map((id) => jobs.settleInstantHold(id, { isCheck: true })),
    ...(await installationsWithHold(db)).map((id) => jobs.drainOutbox(id)),
    ...(await askForDeployments(db, now)).map((id) => jobs.findDeployments(id)),
  ]);
  await resealWebhooks(deps);
  await resealSlackApps(deps);
  if (deps.config.secretKeyPrevious !== null) await loadLock(deps.db, deps.config, deps.log);
  await hearForPeople(deps);
  // What it forgets counts in reports.
  await keepReports(deps.sql, now);
  await forget(deps, now);
  await deps.keepUp();
  if (missed.size > 0) deps.log.info({ repositories: missed.size }, 'sweep: reconciling what was missed');
  if (unchecked.length > 0)
    deps.log.debug({ repositories: unchecked.length }, 'sweep: checking what was not checked for an hour');
}

/** The tables whose rows are kept for a time: the column that it counts from, and its milliseconds. */
const agingTables: [table: string, column: string, age: number][] = [
  ['webhook_deliveries', 'received_at', deliveriesKept],
  ['comment_answers', 'taken_at', deliveriesKept],
  ['idempotency_records', 'answered_at', replayedFor],
  ['minute_counts', 'minute', hour],
  ['known_credentials', 'good_at', knownFor],
  ['used_sign_ins', 'expires_at', 0],
  ['sessions', 'expires_at', 0],
  ['kept_answers', 'expires_at', 0],
];
/** One statement, because it nearly always finds nothing. The ages are its parameters. */
const forgetOld = `WITH ${agingTables
  .map(
    ([table, column], index) =>
      `gone_${index} AS (DELETE FROM ${table} WHERE ${column} <= $${index + 1}::timestamptz)`,
  )
  .join(', ')} SELECT`;

async function forget(deps: Deps, now: Date): Promise<void> {
  const ago = (age: number) => new Date(now.getTime() - age);
  await deps.sql.query(
    'forget-old',
    forgetOld,
    agingTables.map(([, , age]) => ago(age)),
  );
  await forgetOldSlack(deps);
  await forgetDeliveries(deps.sql, ago(noticesKept));
  await forgetCounted(deps.sql, ago(retentionDays * day));
}

export const sweepTask = defineTask(jobs.sweep, sweep);

// The queries of the sweep. Each uses an index, because it runs every minute.

/** How long after its request an unfinished reconciliation is requested again. */
const reconcilePatience = 2 * minute;
/** How far back we look for boundaries. The hourly check covers older ones. */
const lookBack = 24 * hour;
/** How far ahead we plan boundaries, in case their jobs were lost. */
const planAhead = 10 * minute;
/** How often we reconcile every repository, even without webhooks. */
const checkEvery = hour;
/** How often we create the future freezes of every plan. Together with the sweep's minute, this is within an hour. */
const keepEvery = hour - 2 * minute;
/** How many of these checks we make per minute and installation: 900 an hour, of the 5,000 or more that GitHub allows. */
const checksEachMinute = 15;

/** The ids that a query finds. */
const idsOf = async (rows: Promise<{ id: bigint }[]>): Promise<bigint[]> => (await rows).map(({ id }) => id);

/** Whether we are installed on the freeze's repository. Not a join, because that would scan all repositories. */
const reconciledAt = Prisma.sql`SELECT coalesce(r.reconciled_at, '-infinity') FROM repositories r
  WHERE r.id = f.repository_id AND r.installation_id IS NOT NULL`;

/** Repositories where a freeze started or ended, or time changed what it holds, after the last observation. */
function withPassedBoundary(db: Tx, now: Date): Promise<bigint[]> {
  const since = new Date(now.getTime() - lookBack);
  return idsOf(db.$queryRaw`
    SELECT f.repository_id AS id FROM freezes f
    WHERE f.starts_at <= ${now} AND f.starts_at > ${since} AND (f.ends_at IS NULL OR f.ends_at > ${now})
      AND f.deleted_at IS NULL AND f.starts_at > (${reconciledAt})
    UNION
    SELECT f.repository_id FROM freezes f
    WHERE f.ends_at <= ${now} AND f.ends_at > ${since} AND f.deleted_at IS NULL AND f.ends_at > (${reconciledAt})
    UNION
    SELECT id FROM repositories WHERE next_change_at <= ${now} AND installation_id IS NOT NULL`);
}

/** Repositories whose requested reconciliation did not finish in time. */
const unfinished = (db: Tx, now: Date): Promise<bigint[]> =>
  idsOf(db.$queryRaw`
    SELECT id FROM repositories
    WHERE reconcile_requested_at <= ${new Date(now.getTime() - reconcilePatience)} AND installation_id IS NOT NULL`);

/** Of each installation that can be asked now, few repositories where something is due, by the oldest of `column`. */
const fewOfEach = (column: Prisma.Sql, isDue: Prisma.Sql, now: Date): Prisma.Sql => Prisma.sql`
  SELECT r.id FROM installations i CROSS JOIN LATERAL (
    SELECT id FROM repositories
    WHERE installation_id = i.id AND ${isDue} AND NOT archived
    ORDER BY ${column} LIMIT ${checksEachMinute}) r
  WHERE i.deleted_at IS NULL AND i.suspended_at IS NULL
    AND coalesce(greatest(i.paused_until, i.reads_paused_until) <= ${now}, true)`;

/**
 * Repositories that were not observed for an hour. Marks them as requested, so that repositories that cannot be read now
 * do not block the others next time.
 */
function askForUnchecked(db: Tx, now: Date): Promise<bigint[]> {
  const before = new Date(now.getTime() - checkEvery);
  const isDue = Prisma.sql`reconciled_at <= ${before} AND reconcile_requested_at IS NULL`;
  return idsOf(db.$queryRaw`
    UPDATE repositories SET reconcile_requested_at = ${now}
    WHERE id IN (${fewOfEach(Prisma.sql`reconciled_at`, isDue, now)}) RETURNING id`);
}

/** Repositories where GitHub asks us about deployments, those first whose runs were looked at longest ago. */
function askForDeployments(db: Tx, now: Date): Promise<bigint[]> {
  const column = Prisma.sql`deployments_checked_at`;
  const isDue = Prisma.sql`deployments_checked_at <= ${new Date(now.getTime() - minute / 2)}`;
  return idsOf(db.$queryRaw`
    UPDATE repositories SET deployments_checked_at = ${now}
    WHERE id IN (${fewOfEach(column, isDue, now)}) RETURNING id`);
}

/** How far back we look for questions whether GitHub would merge that were not asked. The hourly check asks older ones. */
const askBack = 3 * minute;

/** Repositories where we should have asked GitHub about pull requests whose status stands, but the job was lost. */
function withUnaskedMergeStates(db: Tx, now: Date): Promise<bigint[]> {
  const [since, until] = [new Date(now.getTime() - askBack), new Date(now.getTime() - minute)];
  return idsOf(db.$queryRaw`
    SELECT DISTINCT held.repository_id AS id
    FROM (
      SELECT * FROM open_pull_requests
      WHERE merge_state_due_at > ${since} AND merge_state_due_at <= ${until} OFFSET 0
    ) held ${statusesOfHeld}
    WHERE NOT ${isUnwritten}`);
}

/** Repositories with an exemption that expired, or whose freezes are all over, but that is not ended yet. */
const withOverExemptions = (db: Tx, now: Date): Promise<bigint[]> =>
  idsOf(
    throughPrisma(db).query(
      'with-over-exemptions',
      `SELECT repository_id AS id FROM exemptions WHERE ended_at IS NULL AND expires_at <= $1::timestamptz
       UNION
       SELECT e.repository_id FROM exemptions e WHERE ${isIdle('e', '$1::timestamptz')}`,
      [now],
    ),
  );

/** Plans whose future freezes were not created for an hour. */
async function unkeptPlans(db: Tx, now: Date): Promise<string[]> {
  const plans = await db.freezePlan.findMany({
    where: {
      keptAt: { lte: new Date(now.getTime() - keepEvery) },
      deletedAt: null,
      OR: [{ overAt: null }, { overAt: { gt: now } }, { source: { not: Prisma.DbNull } }],
    },
    select: { id: true },
  });
  return plans.map(({ id }) => id);
}

/** Looks at the merge queues with merge groups. */
async function queuesInFlight(db: Tx): Promise<Job[]> {
  const groups = await db.mergeGroup.findMany({
    where: { repository: { installationId: { not: null } } },
    distinct: ['repositoryId', 'branch'],
    select: { repositoryId: true, branch: true },
  });
  return groups.map(({ repositoryId, branch }) => jobs.reconcileMergeQueue(repositoryId, branch));
}

/** Looks at repositories when freezes start and end next. */
async function comingBoundaries(db: Tx, now: Date): Promise<Job[]> {
  const soon = { gt: now, lte: new Date(now.getTime() + planAhead) };
  const freezes = await db.freeze.findMany({
    where: { deletedAt: null, OR: [{ startsAt: soon }, { endsAt: soon }] },
    select: { repositoryId: true, startsAt: true, endsAt: true },
  });
  return freezes.flatMap(({ repositoryId, startsAt, endsAt }) =>
    [startsAt, endsAt]
      .filter((at) => at !== null && at > soon.gt && at <= soon.lte)
      .map((at) => jobs.reconcileRepository(repositoryId, at!)),
  );
}
