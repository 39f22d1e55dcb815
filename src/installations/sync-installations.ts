import type { Deps } from '../deps.ts';
import { jobs } from '../queue/jobs.ts';

/**
 * Has every installation read again, present and known ones: whatever was installed, removed or changed while
 * nobody listened. Done at each start.
 * @throws what GitHub throws while it cannot answer; the job is tried again.
 */
export async function syncInstallations(deps: Deps): Promise<void> {
  const app = await deps.github.asApp();
  const present = await app.paginate(app.rest.apps.listInstallations, { per_page: 100 });
  const known = await deps.db.installation.findMany({ where: { deletedAt: null }, select: { id: true } });
  const ids = new Set([...present, ...known].map(({ id }) => BigInt(id)));
  await deps.queue.send([...ids].map((id) => jobs.syncInstallation(id)));
}
