import type { Actor } from '../events/actor.ts';
import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { appendEvent, type AuditEvent, placeOf } from '../events/append-event.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';

/** Where it happened. */
type Place = Omit<FoundRepository, 'installation'>;

/** Why a head does not hold though it should. */
type NotHeld =
  | Extract<AuditEvent, { type: 'freeze_status.refused' }>
  | Extract<AuditEvent, { type: 'freeze_status.contested' }>;

const reasons = { 'freeze_status.refused': 'refused', 'freeze_status.contested': 'contested' } as const;

/**
 * Marks a head that a freeze should hold as not held, and tells the audit log, once while freezes hold it. Part of a
 * transaction; a verdict that let go meanwhile stands.
 * @param by who did it, where that is known.
 */
export async function markNotHeld(
  deps: Pick<Deps, 'clock' | 'log'>,
  tx: Tx,
  repository: Place,
  { repositoryId, sha }: Pick<HeadStatus, 'repositoryId' | 'sha'>,
  event: NotHeld,
  by: Actor | null,
): Promise<void> {
  const notHeld = reasons[event.type];
  await tx.headStatus.updateMany({
    where: { repositoryId, sha, state: { not: 'success' } },
    data: { notHeld },
  });
  const { count } = await tx.headStatus.updateMany({
    where: { repositoryId, sha, notHeld, OR: [{ notHeldTold: null }, { notHeldTold: { not: notHeld } }] },
    data: { notHeldTold: notHeld },
  });
  if (count === 0) return;
  deps.log.warn({ repository: fullName(repository), sha, why: notHeld }, 'a frozen commit is not held');
  await appendEvent(tx, placeOf(repository), event, by, nowOf(deps.clock));
}

/** The same for a head that somebody else writes on more often than our status is repeated. @param by null: unknown. */
export function markContested(
  deps: Deps,
  repository: Place,
  head: HeadStatus,
  by: Actor | null,
  tx?: Tx,
): Promise<void> {
  const { sha, writtenState, writtenDescription, state, timesWritten } = head;
  const metadata = {
    sha,
    state: writtenState,
    description: writtenDescription,
    expected_state: state,
    times_written: timesWritten,
  };
  const mark = (within: Tx) =>
    markNotHeld(deps, within, repository, head, { type: 'freeze_status.contested', metadata }, by);
  return tx ? mark(tx) : deps.db.$transaction(mark);
}
