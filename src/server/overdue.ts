import type { Tx } from '../database/database.ts';
import { throughPrisma } from '../database/sql.ts';
import { isIdle } from '../exemptions/exemption-store.ts';
import { Prisma } from '../generated/prisma/client.ts';

// The queries of the sweep. Each uses an index, because it runs every minute.

const minute = 60_000;
const hour = 60 * minute;
/** How long after its request an unfinished reconciliation is requested again. */
const patience = 2 * minute;
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

type Row = { id: bigint };
const ids = (rows: Row[]): bigint[] => rows.map(({ id }) => id);

/** Whether we are installed on the freeze's repository. Not a join, because that would scan all repositories. */
const reconciledAt = Prisma.sql`SELECT coalesce(r.reconciled_at, '-infinity') FROM repositories r
  WHERE r.id = f.repository_id AND r.installation_id IS NOT NULL`;

/** Repositories where a freeze started or ended, or time changed what it holds, after the last observation. */
export async function withPassedBoundary(db: Tx, now: Date): Promise<bigint[]> {
  const since = new Date(now.getTime() - lookBack);
  return ids(
    await db.$queryRaw<Row[]>`
      SELECT f.repository_id AS id FROM freezes f
      WHERE f.starts_at <= ${now} AND f.starts_at > ${since} AND (f.ends_at IS NULL OR f.ends_at > ${now})
        AND f.deleted_at IS NULL AND f.starts_at > (${reconciledAt})
      UNION
      SELECT f.repository_id FROM freezes f
      WHERE f.ends_at <= ${now} AND f.ends_at > ${since} AND f.deleted_at IS NULL AND f.ends_at > (${reconciledAt})
      UNION
      SELECT id FROM repositories WHERE next_change_at <= ${now} AND installation_id IS NOT NULL`,
  );
}

/** Repositories whose requested reconciliation did not finish in time. */
export async function unfinished(db: Tx, now: Date): Promise<bigint[]> {
  return ids(
    await db.$queryRaw<Row[]>`
      SELECT id FROM repositories
      WHERE reconcile_requested_at <= ${new Date(now.getTime() - patience)} AND installation_id IS NOT NULL`,
  );
}

/**
 * Repositories that were not observed for an hour, the oldest first, and few of each installation at once. Marks them as
 * requested, so that repositories that cannot be read now do not block the others next time.
 */
export async function askForUnchecked(db: Tx, now: Date): Promise<bigint[]> {
  return ids(
    await db.$queryRaw<Row[]>`
      UPDATE repositories SET reconcile_requested_at = ${now} WHERE id IN (
      SELECT r.id FROM installations i CROSS JOIN LATERAL (
        SELECT id FROM repositories
        WHERE installation_id = i.id AND reconciled_at <= ${new Date(now.getTime() - checkEvery)} AND NOT archived
          AND reconcile_requested_at IS NULL
        ORDER BY reconciled_at LIMIT ${checksEachMinute}) r
      WHERE i.deleted_at IS NULL AND i.suspended_at IS NULL
        AND coalesce(greatest(i.paused_until, i.reads_paused_until) <= ${now}, true)) RETURNING id`,
  );
}

/** Repositories where we should have asked GitHub whether it would merge held pull requests, but the job was lost. */
export async function withUnaskedMergeStates(db: Tx, now: Date): Promise<bigint[]> {
  return ids(
    await db.$queryRaw<Row[]>`
      SELECT DISTINCT repository_id AS id FROM open_pull_requests
      WHERE merge_state_due_at <= ${new Date(now.getTime() - minute)}`,
  );
}

/** Repositories with an exemption that expired, or whose freezes are all over, but that is not ended yet. */
export async function withOverExemptions(db: Tx, now: Date): Promise<bigint[]> {
  return ids(
    await throughPrisma(db).query<Row>(
      'with-over-exemptions',
      `SELECT repository_id AS id FROM exemptions WHERE ended_at IS NULL AND expires_at <= $1::timestamptz
       UNION
       SELECT e.repository_id FROM exemptions e WHERE ${isIdle('e', '$1::timestamptz')}`,
      [now],
    ),
  );
}

/** Plans whose future freezes were not created for an hour. */
export async function unkeptPlans(db: Tx, now: Date): Promise<string[]> {
  const plans = await db.freezePlan.findMany({
    where: {
      keptAt: { lte: new Date(now.getTime() - keepEvery) },
      deletedAt: null,
      OR: [{ overAt: null }, { overAt: { gt: now } }],
    },
    select: { id: true },
  });
  return plans.map(({ id }) => id);
}

/** Merge queues with merge groups. */
export async function branchesInFlight(db: Tx): Promise<{ repositoryId: bigint; branch: string }[]> {
  return db.mergeGroup.findMany({
    where: { repository: { installationId: { not: null } } },
    distinct: ['repositoryId', 'branch'],
    select: { repositoryId: true, branch: true },
  });
}

/** When freezes start and end next. */
export async function comingBoundaries(db: Tx, now: Date): Promise<{ repositoryId: bigint; at: Date }[]> {
  const soon = { gt: now, lte: new Date(now.getTime() + planAhead) };
  const freezes = await db.freeze.findMany({
    where: { deletedAt: null, OR: [{ startsAt: soon }, { endsAt: soon }] },
    select: { repositoryId: true, startsAt: true, endsAt: true },
  });
  return freezes.flatMap(({ repositoryId, startsAt, endsAt }) =>
    [startsAt, endsAt]
      .filter((at) => at !== null && at > soon.gt && at <= soon.lte)
      .map((at) => ({ repositoryId, at: at! })),
  );
}
