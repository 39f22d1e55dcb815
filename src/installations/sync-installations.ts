import type { Deps } from '../deps.ts';
import { defineTask } from '../queue/define-task.ts';
import { jobs } from '../queue/jobs.ts';

/**
 * Reads every installation again, on GitHub and in the database, to find what was installed, removed or changed while
 * the service did not listen. Runs at each start.
 * @throws GitHub's error while it cannot answer. The job queue tries again.
 */
export async function syncInstallations(deps: Deps): Promise<void> {
  const app = await deps.github.asApp();
  const present = await app.paginate(app.rest.apps.listInstallations, { per_page: 100 });
  const known = await deps.db.installation.findMany({ where: { deletedAt: null }, select: { id: true } });
  const ids = new Set([...present, ...known].map(({ id }) => BigInt(id)));
  await deps.queue.send([...ids].map((id) => jobs.syncInstallation(id)));
}

export const syncInstallationsTask = defineTask(jobs.syncInstallations, syncInstallations);
