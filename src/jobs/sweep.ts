import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { retentionDays } from '../events/list-events.ts';
import { replayedFor } from '../api/idempotency.ts';
import { postStatuses, refreshRepository } from './tasks.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
/** A refresh that was asked for so long ago and has not finished is asked for again. */
const patience = 2 * minute;
/** GitHub sends a delivery again for at most 7 days. */
const deliveriesKept = 8 * day;

/**
 * Repairs what was missed: boundaries that passed and refreshes that did not finish, statuses that still wait.
 * Also plans the boundaries of the next day (their jobs may have been lost) and forgets what is old.
 */
export async function sweep(deps: Deps): Promise<void> {
  const now = nowOf(deps.clock);
  const repositories = new Set([...(await withPassedBoundary(deps)), ...(await unfinished(deps, now))]);
  const boundaries = await comingBoundaries(deps, now);
  const waiting = await deps.db.headStatus.findMany({
    where: { isWaiting: true, notBefore: { lte: now }, repository: { installationId: { not: null } } },
    select: { repository: { select: { installationId: true } } },
    distinct: ['repositoryId'],
  });
  const installations = new Set(waiting.map(({ repository }) => repository.installationId!));
  await deps.jobs.send([
    ...[...repositories].map((id) => refreshRepository(id)),
    ...boundaries.map(({ repositoryId, at }) => refreshRepository(repositoryId, at)),
    ...[...installations].map((id) => postStatuses(id)),
  ]);
  await forget(deps, now);
  if (repositories.size > 0)
    deps.log.info({ repositories: repositories.size }, 'sweep: refreshing what was missed');
}

/** Repositories where a freeze started or ended, or time changed what one holds, after they were last looked at. */
async function withPassedBoundary(deps: Deps): Promise<bigint[]> {
  const now = nowOf(deps.clock);
  const rows = await deps.db.$queryRaw<{ id: bigint }[]>`
    SELECT DISTINCT r.id FROM freezes f JOIN repositories r ON r.id = f.repository_id
    WHERE f.deleted_at IS NULL AND r.installation_id IS NOT NULL AND (
      (f.starts_at <= ${now} AND (f.ends_at IS NULL OR f.ends_at > ${now})
        AND (r.refreshed_at IS NULL OR f.starts_at > r.refreshed_at))
      OR (f.ends_at <= ${now} AND (r.refreshed_at IS NULL OR f.ends_at > r.refreshed_at)))
    UNION
    SELECT id FROM repositories WHERE next_change_at <= ${now} AND installation_id IS NOT NULL`;
  return rows.map(({ id }) => id);
}

/** Repositories whose refresh was asked for and has not finished in time. */
async function unfinished(deps: Deps, now: Date): Promise<bigint[]> {
  const rows = await deps.db.$queryRaw<{ id: bigint }[]>`
    SELECT id FROM repositories WHERE installation_id IS NOT NULL
      AND refresh_requested_at <= ${new Date(now.getTime() - patience)}
      AND (refreshed_at IS NULL OR refreshed_at < refresh_requested_at)`;
  return rows.map(({ id }) => id);
}

async function comingBoundaries(deps: Deps, now: Date): Promise<{ repositoryId: bigint; at: Date }[]> {
  const soon = { gt: now, lte: new Date(now.getTime() + day) };
  const freezes = await deps.db.freeze.findMany({
    where: { deletedAt: null, OR: [{ startsAt: soon }, { endsAt: soon }] },
    select: { repositoryId: true, startsAt: true, endsAt: true },
  });
  return freezes.flatMap(({ repositoryId, startsAt, endsAt }) =>
    [startsAt, endsAt]
      .filter((at) => at !== null && at > soon.gt && at <= soon.lte)
      .map((at) => ({ repositoryId, at: at! })),
  );
}

async function forget(deps: Deps, now: Date): Promise<void> {
  const before = (age: number) => ({ lt: new Date(now.getTime() - age) });
  await deps.db.webhookDelivery.deleteMany({ where: { receivedAt: before(deliveriesKept) } });
  await deps.db.idempotencyRecord.deleteMany({ where: { startedAt: before(replayedFor) } });
  await deps.db.auditEvent.deleteMany({ where: { receivedAt: before(retentionDays * day) } });
}
