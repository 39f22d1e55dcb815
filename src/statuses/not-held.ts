import type { Actor } from '../events/actor.ts';
import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { appendEvent, type AuditEvent, placeOf } from '../events/append-event.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import { fullName } from '../installations/find-repository.ts';
import { isFull } from './status-budget.ts';
import type { StatusList } from './write-status.ts';
import type { Status } from './status.ts';
import { endRefused, markHead, type Write } from './write-store.ts';

/** Why a head that should be held is not held. */
type NotHeld =
  | Extract<AuditEvent, { type: 'freeze_status.refused' }>
  | Extract<AuditEvent, { type: 'freeze_status.contested' }>;

const reasons = { 'freeze_status.refused': 'refused', 'freeze_status.contested': 'contested' } as const;

/**
 * Marks a head that a freeze should hold as not held, and writes an audit event, once while freezes hold it. Runs in a
 * transaction. If the verdict changed to free meanwhile, does nothing.
 * @param by who caused it, if known.
 */
async function markNotHeld(
  deps: Pick<Deps, 'clock' | 'log'>,
  tx: Tx,
  { repositoryId, sha }: Pick<HeadStatus, 'repositoryId' | 'sha'>,
  event: NotHeld,
  by: Actor | null,
): Promise<void> {
  const notHeld = reasons[event.type];
  if (!(await markHead(tx, { repositoryId, sha }, notHeld))) return;
  const repository = await tx.repository.findUniqueOrThrow({
    where: { id: repositoryId },
    include: { account: true },
  });
  deps.log.warn({ repository: fullName(repository), sha, why: notHeld }, 'a frozen commit is not held');
  await appendEvent(tx, placeOf(repository), event, by, nowOf(deps.clock));
}

type Contested = Pick<
  HeadStatus,
  'repositoryId' | 'sha' | 'state' | 'writtenState' | 'writtenDescription' | 'timesWritten'
>;

/** The same for a head where somebody overwrites our status more often than we repeat it. @param by null if unknown. */
export function markContested(deps: Deps, head: Contested, by: Actor | null = null, tx?: Tx): Promise<void> {
  const { sha, writtenState, writtenDescription, state, timesWritten } = head;
  const metadata = {
    sha,
    state: writtenState,
    description: writtenDescription,
    expected_state: state,
    times_written: timesWritten,
  };
  const mark = (within: Tx) =>
    markNotHeld(deps, within, head, { type: 'freeze_status.contested', metadata }, by);
  return tx ? mark(tx) : deps.db.$transaction(mark);
}

/**
 * Handles a permanent refusal by GitHub: the commit is gone or has all its statuses. We try again only after a new
 * observation. We never silently drop a status that must hold: if the current status does not hold the commit, its head
 * counts as not held.
 * @param list the current statuses; null if unknown.
 * @param why GitHub's message.
 */
export async function refuseStatus(
  deps: Deps,
  write: Pick<Write, 'repositoryId' | 'sha' | 'observation' | 'state'>,
  wanted: Status,
  list: StatusList | null,
  why: string,
): Promise<void> {
  const { sha } = write;
  const newest = list?.statuses[0];
  const now = nowOf(deps.clock);
  const isHeld = newest !== undefined && newest.state !== 'success';
  const learned = {
    ...(newest && { writtenState: newest.state, writtenDescription: newest.description }),
    ...(list?.count && isFull(list.count) && { isFinal: true }),
  };
  await deps.db.$transaction(async (tx) => {
    const isMeant = await endRefused(tx, write, learned, {
      isHeld: isHeld && write.state !== 'success',
      now,
    });
    if (!isMeant || write.state === 'success' || isHeld) return;
    const metadata = { sha, state: wanted.state, description: wanted.description, why };
    await markNotHeld(deps, tx, write, { type: 'freeze_status.refused', metadata }, null);
  });
}
