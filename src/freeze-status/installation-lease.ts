import { randomUUID } from 'node:crypto';
import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';

/** Longer than one write can take (a token, a look and the write, 12 s each), so that no living holder loses it. */
const leaseLife = 60_000;

export type Lease = {
  /** Keeps it; false when it was lost, and then nothing more may be written. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
};

/**
 * The right to write the statuses of an installation, for one worker at a time over all replicas. A worker that
 * dies leaves its lease to run out; `clearLeases` is quicker where no other process can exist.
 * @returns null while another worker has it.
 */
export async function takeLease(
  deps: Pick<Deps, 'db' | 'clock'>,
  installationId: bigint,
): Promise<Lease | null> {
  const holder = randomUUID();
  const hold = async (orFree: boolean) => {
    const now = nowOf(deps.clock);
    const free = [{ leaseUntil: null }, { leaseUntil: { lte: now } }];
    const { count } = await deps.db.installation.updateMany({
      where: { id: installationId, OR: orFree ? free : [{ leaseHolder: holder }] },
      data: { leaseHolder: holder, leaseUntil: new Date(now.getTime() + leaseLife) },
    });
    return count === 1;
  };
  if (!(await hold(true))) return null;
  return {
    renew: () => hold(false),
    release: async () => {
      await deps.db.installation.updateMany({
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
