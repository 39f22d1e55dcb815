import type { Actor } from '../events/actor.ts';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../errors.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { assertWritable, type FoundRepository, fullName } from '../installations/find-repository.ts';
import { assertOwnFreeze, markDeleted, requireFreeze } from './freeze-store.ts';
import { freezeInEvent } from './freeze.ts';
import type { StoredFreeze } from './freeze-columns.ts';
import { requestReconcile } from './request-reconcile.ts';

/**
 * Deletes a freeze and releases what it held. The row keeps who deleted it, when and why.
 * @param beforeSaving runs first in the same transaction.
 * @throws Refusal forbidden if the caller is a job that may not end it; not-found if the freeze is deleted, has ended or
 *   belongs to another repository; conflict if a concurrent change won or the repository cannot be written to.
 */
export async function deleteFreeze(
  deps: Deps,
  actor: Actor,
  repository: FoundRepository,
  id: string,
  reason: string,
  beforeSaving: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  const now = nowOf(deps.clock);
  const freeze = await requireFreeze(deps, repository, id);
  await assertOwnFreeze(deps.db, actor, id);
  assertWritable(repository);
  await deps.db.$transaction(async (tx) => {
    await beforeSaving(tx);
    await saveDeletion(deps, tx, actor, repository, freeze, reason, now);
  });
  deps.log.info({ repository: fullName(repository), freeze: id, by: actor.name }, 'freeze deleted');
}

/**
 * Saves the deletion of a freeze in a transaction, with its event and its jobs.
 * @throws Refusal conflict when a concurrent change won.
 */
export async function saveDeletion(
  deps: Pick<Deps, 'queue'>,
  tx: Tx,
  actor: Actor,
  repository: FoundRepository,
  freeze: StoredFreeze,
  reason: string,
  now: Date,
): Promise<void> {
  if (!(await markDeleted(tx, freeze, actor, reason, now))) {
    throw conflict('A concurrent change of this freeze won. List the freezes and try again.');
  }
  const metadata = { ...freezeInEvent(freeze), reason };
  await appendEvent(tx, placeOf(repository), { type: 'scheduled_freeze.delete', metadata }, actor, now);
  await requestReconcile(deps, tx, freeze, now);
}
