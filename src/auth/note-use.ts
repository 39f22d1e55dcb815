import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { ApplicationKey } from '../generated/prisma/client.ts';

/** Milliseconds between two writes of a key's use, for any number of requests and replicas. */
const step = 60_000;

/** Saves that a key was used. The saved time is at most a minute old. */
export async function noteUse(
  deps: Pick<Deps, 'db' | 'clock'>,
  key: Pick<ApplicationKey, 'id' | 'lastUsedAt'>,
): Promise<void> {
  const now = nowOf(deps.clock);
  const stale = new Date(now.getTime() - step);
  if (key.lastUsedAt !== null && key.lastUsedAt > stale) return;
  // The statement checks again: of several requests at the same time, one writes.
  await deps.db.applicationKey.updateMany({
    where: { id: key.id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: stale } }] },
    data: { lastUsedAt: now },
  });
}
