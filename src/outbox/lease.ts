import { randomUUID } from 'node:crypto';
import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { takePlace } from './pace.ts';

/** Longer than a token, another one where GitHub has dropped that, and a call, 12 s each: no living holder loses it. */
const leaseLife = 40_000;

/** Whether the holder may write one status now. */
export type Turn =
  | { may: 'write' }
  /** Somebody else holds the installation by now, who goes on with it; or it is suspended or gone. */
  | { may: 'stop' }
  /** The pace, or GitHub, asks to wait. */
  | { may: 'wait'; until: Date };

export type Lease = {
  /** Asks for one write: keeps the lease and counts the write, in the database, so that it holds for all replicas. */
  takeTurn(): Promise<Turn>;
  /** Keeps it for another call; false when it was lost. */
  keep(): Promise<boolean>;
  release(): Promise<void>;
};

/**
 * The right to write the statuses of an installation, for one worker at a time over all replicas. A worker that
 * dies leaves its lease to run out; `clearLeases` is quicker where no other process can exist.
 * @returns null while another worker has it.
 */
export async function takeLease(
  deps: Pick<Deps, 'db' | 'clock' | 'config'>,
  installationId: bigint,
): Promise<Lease | null> {
  const { db, clock, config } = deps;
  const holder = randomUUID();
  const leaseUntil = () => new Date(clock.now() + leaseLife);
  const { count } = await db.installation.updateMany({
    where: { id: installationId, OR: [{ leaseUntil: null }, { leaseUntil: { lte: nowOf(clock) } }] },
    data: { leaseHolder: holder, leaseUntil: leaseUntil() },
  });
  if (count === 0) return null;
  return {
    async takeTurn() {
      const now = nowOf(clock);
      // Only the holder changes its pace, so what is read here is still so at the update.
      const row = await db.installation.findUniqueOrThrow({ where: { id: installationId } });
      if (row.leaseHolder !== holder || row.suspendedAt || row.deletedAt) return { may: 'stop' };
      if (row.pausedUntil && row.pausedUntil > now) return { may: 'wait', until: row.pausedUntil };
      const { paceTokens, paceCountedAt } = row;
      const last =
        paceTokens === null || !paceCountedAt ? null : { tokens: paceTokens, countedAt: paceCountedAt };
      const { wait, pace } = takePlace(last, config.statusWritesPerMinute, now);
      if (wait > 0) return { may: 'wait', until: new Date(now.getTime() + wait) };
      const kept = await db.installation.updateMany({
        where: { id: installationId, leaseHolder: holder },
        data: { leaseUntil: leaseUntil(), paceTokens: pace.tokens, paceCountedAt: pace.countedAt },
      });
      return kept.count === 1 ? { may: 'write' } : { may: 'stop' };
    },
    async keep() {
      const kept = await db.installation.updateMany({
        where: { id: installationId, leaseHolder: holder },
        data: { leaseUntil: leaseUntil() },
      });
      return kept.count === 1;
    },
    async release() {
      await db.installation.updateMany({
        where: { id: installationId, leaseHolder: holder },
        data: { leaseHolder: null, leaseUntil: null },
      });
    },
  };
}

/** Ends the leases of a process that is gone. Only for the embedded database, which one process has to itself. */
export async function clearLeases(deps: Pick<Deps, 'db'>): Promise<void> {
  await deps.db.installation.updateMany({ data: { leaseHolder: null, leaseUntil: null } });
}
