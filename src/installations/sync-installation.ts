import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { classifyGitHubError, isGitHubStatus } from '../github/github-error.ts';
import { defineTask } from '../queue/define-task.ts';
import { jobs } from '../queue/jobs.ts';
import { loseAllBut, markUninstalled } from './lose-repositories.ts';
import { readInstallation } from './read-installation.ts';
import { saveInstallation } from './save-installation.ts';
import { type GitHubRepository, saveRepositories } from './save-repositories.ts';

/**
 * Updates one installation in the database from GitHub: whether it is gone, suspended or active, and its repositories.
 * Every repository is reconciled afterwards.
 * @throws GitHub's error while it cannot answer. The job queue tries again.
 */
export async function syncInstallation(deps: Deps, installationId: bigint): Promise<void> {
  const app = await deps.github.asApp();
  const answer = await app.rest.apps
    .getInstallation({ installation_id: Number(installationId) })
    .catch((error: unknown) => {
      if (isGitHubStatus(error, 404)) return null;
      throw error;
    });
  const now = nowOf(deps.clock);
  if (!answer) {
    await markUninstalled(deps.sql, installationId, now);
    deps.log.info({ installationId: String(installationId) }, 'installation is gone');
    return;
  }
  const installation = readInstallation(answer.data);
  await saveInstallation(deps.sql, installation, now);
  const ids = installation.suspendedAt ? null : await saveAll(deps, installationId, now);
  if (ids) await loseAllBut(deps.sql, installationId, ids);
  await deps.queue.send([jobs.keepPlans(BigInt(installation.account.id))]);
  deps.log.info(
    { account: installation.account.login, repositories: ids?.length, suspended: !ids },
    'installation read from GitHub',
  );
}

/**
 * Saves the repositories of an installation, each page from GitHub with one statement, so that API requests can run in
 * between. The jobs follow after the marked rows. If a crash loses jobs, the sweep sends them.
 * @returns their ids; null if GitHub says that the installation was just suspended.
 */
async function saveAll(deps: Deps, installationId: bigint, now: Date): Promise<bigint[] | null> {
  const ids: bigint[] = [];
  try {
    const { paginate, rest } = await deps.github.asInstallation(installationId);
    const pages = paginate.iterator(rest.apps.listReposAccessibleToInstallation, { per_page: 100 });
    for await (const { data } of pages) {
      const page = data as unknown as GitHubRepository[];
      const saved = await saveRepositories(deps.sql, page, installationId, now);
      await deps.queue.send(saved.map((id) => jobs.reconcileRepository(id)));
      ids.push(...saved);
    }
    return ids;
  } catch (error) {
    if (classifyGitHubError(error, deps.clock.now()).kind === 'forbidden') return null;
    throw error;
  }
}

export const syncInstallationTask = defineTask(jobs.syncInstallation, (deps, { installationId }) =>
  syncInstallation(deps, BigInt(installationId)),
);
