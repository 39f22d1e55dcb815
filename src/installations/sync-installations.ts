import type { Deps } from '../deps.ts';
import { syncInstallation } from '../jobs/tasks.ts';

/**
 * Finds what was installed, uninstalled or suspended while nobody listened, and has those installations read.
 * @throws what GitHub throws while it cannot answer; the job queue tries again.
 */
export async function syncInstallations(deps: Deps): Promise<void> {
  const app = await deps.github.asApp();
  const present = await app.paginate(app.rest.apps.listInstallations, { per_page: 100 });
  const known = await deps.db.installation.findMany({ where: { deletedAt: null } });
  const knownState = new Map(known.map(({ id, suspendedAt }) => [id, suspendedAt !== null]));
  const presentState = new Map(present.map(({ id, suspended_at }) => [BigInt(id), suspended_at !== null]));
  const ids = new Set([...knownState.keys(), ...presentState.keys()]);
  const differing = [...ids].filter((id) => knownState.get(id) !== presentState.get(id));
  await deps.jobs.send(differing.map((id) => syncInstallation(id)));
}
