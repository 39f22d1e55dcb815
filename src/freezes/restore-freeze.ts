import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { jobs } from '../database/queue/jobs.ts';
import { conflict, notFound } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { type Freeze as FreezeRow, Prisma } from '../generated/prisma/client.ts';
import {
  assertWritable,
  type FoundRepository,
  fullName,
  lockRepository,
} from '../installations/find-repository.ts';
import { type Freeze, freezeInEvent, type StoredFreeze } from './freeze.ts';
import { endedEarlyAt, fromRow, type toRow } from './freeze-columns.ts';
import { assertOwnFreeze, findPause } from './freeze-store.ts';
import { requestReconcile } from './request-reconcile.ts';
import { assertRoom } from './save-freeze.ts';
import type { FreezeDeps } from './freeze-deps.ts';

/** How long after its end a freeze can be restored, in milliseconds. */
export const restorableFor = 60_000;

/** What `restores` of a row keeps: the columns that the deletion or the end changed, as they were. */
type Restores = Partial<ReturnType<typeof toRow>> & { detached: boolean };

/** A freeze as it was before it was deleted or ended early. */
function before(row: FreezeRow): StoredFreeze {
  const { startsAt, endsAt, ...columns } = { ...row, ...(row.restores as Partial<FreezeRow> | null) };
  // The column has them as texts.
  return fromRow({ ...columns, startsAt: new Date(startsAt), endsAt: endsAt && new Date(endsAt) });
}

/** @throws Refusal not-found if the repository never had a freeze with this id. */
export async function requireAnyFreeze(
  { db }: Pick<FreezeDeps, 'db'>,
  repository: FoundRepository,
  id: string,
): Promise<FreezeRow> {
  const row = await db.freeze.findFirst({ where: { id, repositoryId: repository.id } });
  if (row) return row;
  throw notFound(
    `${fullName(repository)} never had a freeze ${id}. List the freezes to see which there are.`,
  );
}

/**
 * Restores a freeze that somebody deleted or ended early in the last minute: it is under its id as it was, and holds again
 * at once. Exemptions that ended with it apply again.
 * @param beforeSaving runs first in the same transaction.
 * @throws Refusal not-found; forbidden if the caller is a job that may not end it; conflict if it is neither deleted nor
 *   ended early, if that was too long ago, if its window is over, or if somebody restored it first.
 */
export async function restoreFreeze(
  deps: FreezeDeps,
  actor: Actor,
  repository: FoundRepository,
  id: string,
  beforeSaving: (tx: Tx, restored: Freeze) => Promise<void> = async () => {},
): Promise<Freeze> {
  const now = nowOf(deps.clock);
  const found = await requireAnyFreeze(deps, repository, id);
  await assertOwnFreeze(deps.db, actor, id);
  assertWritable(repository);
  assertRestorable(found, now);
  const restored = before(found);
  await deps.db.$transaction(async (tx) => {
    await beforeSaving(tx, restored);
    await saveRestoration(deps, tx, actor, repository, found, now);
  });
  deps.log.info({ repository: fullName(repository), freeze: id, by: actor.name }, 'freeze restored');
  return restored;
}

/** @throws Refusal conflict. */
function assertRestorable(row: FreezeRow, now: Date): void {
  const endedAt = endedEarlyAt(row);
  if (endedAt === null)
    throw conflict(
      `Nobody deleted the freeze ${row.id} or ended it early, so there is nothing to restore. Read it: the list has it unless it is over.`,
    );
  if (now.getTime() - endedAt.getTime() >= restorableFor)
    throw conflict(
      `The freeze ${row.id} was ended at ${endedAt.toISOString()}, and can be restored for ${restorableFor / 1000} seconds. Create another freeze.`,
    );
  const { endsAt } = before(row);
  if (endsAt !== null && endsAt <= now)
    throw conflict(
      `The window of the freeze ${row.id} is over, so it would hold nothing. Create another freeze.`,
    );
}

/** In the order in which plans lock: the plan, the repository, the freeze. */
async function saveRestoration(
  deps: Pick<FreezeDeps, 'queue'>,
  tx: Tx,
  actor: Actor,
  repository: FoundRepository,
  found: FreezeRow,
  now: Date,
): Promise<void> {
  const { id, version } = found;
  const endedAt = endedEarlyAt(found)!;
  const freeze = before(found);
  const detached = await isDetached(tx, found, endedAt);
  await lockRepository(tx, repository.id);
  if (freeze.startsAt > now && freeze.planId === undefined) await assertRoom(tx, repository, now);
  if (freeze.isPause && (await findPause(tx, repository.id, now)))
    throw conflict(`The merge queue of ${fullName(repository)} is paused again. There can be one pause.`);
  const columns = (found.restores ?? {}) as Partial<Restores>;
  const { count } = await tx.freeze.updateMany({
    where: { id, version },
    data: {
      ...(columns as object),
      ...{ deletedAt: null, deletedBy: Prisma.DbNull, deleteReason: null, restores: Prisma.DbNull },
      ...{ detached, version: { increment: 1 }, updatedAt: now, updatedBy: actor },
    },
  });
  if (count === 0) throw conflict('A concurrent change of this freeze won. List the freezes and try again.');
  await reviveExemptions(tx, [id], endedAt, now);
  const metadata = { ...freezeInEvent(freeze), ended_at: endedAt.toISOString() };
  await appendEvent(tx, placeOf(repository), { type: 'scheduled_freeze.restore', metadata }, actor, now);
  await requestReconcile(deps, tx, freeze, now, freeze);
  // It began while it was deleted, so the job of its start found nothing.
  const beganMeanwhile = freeze.startsAt > endedAt && freeze.startsAt <= now;
  if (beganMeanwhile) await deps.queue.send([jobs.recordBoundaries(freeze.startsAt)], tx);
}

/**
 * Whether the plan of a restored freeze leaves it alone: as before, and also if the plan changed since, was deleted, or
 * took the freeze back, because then it is not what the plan would make.
 */
async function isDetached(tx: Tx, { planId, restores }: FreezeRow, endedAt: Date): Promise<boolean> {
  if (planId === null) return false;
  const [plan] = await tx.$queryRaw<{ isSame: boolean }[]>`
    SELECT deleted_at IS NULL AND updated_at <= ${endedAt} AS "isSame" FROM freeze_plans WHERE id = ${planId}::uuid FOR UPDATE`;
  return !plan?.isSame || ((restores as Restores | null)?.detached ?? true);
}

/**
 * Gives the exemptions that ended with some freezes their effect back, because the freezes are restored. Those that a push, a new
 * base or the time would have ended meanwhile end by the next observation.
 * @param endedAt when the freezes ended.
 */
export async function reviveExemptions(tx: Tx, freezeIds: string[], endedAt: Date, now: Date): Promise<void> {
  await tx.$executeRaw`
    UPDATE exemptions SET ended_at = NULL, ended_by = NULL,
      state = (CASE WHEN approved_at IS NULL THEN 'requested' ELSE 'approved' END)::"ExemptionState"
    WHERE repository_id IN (SELECT repository_id FROM freezes WHERE id = ANY (${freezeIds}::uuid[]))
      AND freeze_ids && ${freezeIds}::uuid[] AND state = 'expired'
      AND ended_by = 'freezes' AND ended_at >= ${endedAt} AND expires_at > ${now}`;
}
