import type { Deps } from '../deps.ts';

/** Remembers that GitHub asked an installation to wait; all workers see it, also after a restart. */
export async function pauseInstallation(
  deps: Pick<Deps, 'db' | 'log'>,
  id: bigint,
  until: number,
): Promise<void> {
  const pausedUntil = new Date(until);
  await deps.db.installation.updateMany({
    where: { id, OR: [{ pausedUntil: null }, { pausedUntil: { lt: pausedUntil } }] },
    data: { pausedUntil },
  });
  deps.log.warn({ installationId: String(id), pausedUntil }, 'GitHub limits this installation; waiting');
}
