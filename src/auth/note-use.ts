import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { ApplicationKey } from '../generated/prisma/client.ts';

/** Milliseconds: uses are written once in so long for a key, whatever the number of requests and replicas. */
const step = 60_000;

/** Remembers that a key was used; what is kept is at most a minute old. */
export async function noteUse(
  deps: Pick<Deps, 'db' | 'clock'>,
  key: Pick<ApplicationKey, 'id' | 'lastUsedAt'>,
): Promise<void> {
  const now = nowOf(deps.clock);
  const stale = new Date(now.getTime() - step);
  if (key.lastUsedAt !== null && key.lastUsedAt > stale) return;
  // Asked again in the statement: of requests at the same time one writes.
  await deps.db.applicationKey.updateMany({
    where: { id: key.id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: stale } }] },
    data: { lastUsedAt: now },
  });
}
