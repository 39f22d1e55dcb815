import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { classifyGitHubError, isGitHubStatus } from '../github/github-error.ts';
import { jobs } from '../queue/jobs.ts';
import { type GitHubRepository, saveRepository } from './save-repository.ts';
import { readInstallation } from './read-installation.ts';
import { markUninstalled, saveInstallation } from './save-installation.ts';

/**
 * Makes the database agree with GitHub on one installation: gone, suspended or active, and which repositories
 * it has. Every repository that it has is looked at again afterwards.
 * @throws what GitHub throws while it cannot answer; the job queue tries again.
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
    await deps.db.$transaction((tx) => markUninstalled(tx, installationId, now));
    deps.log.info({ installationId: String(installationId) }, 'installation is gone');
    return;
  }
  const installation = readInstallation(answer.data);
  const repositories = installation.suspendedAt ? null : await listRepositories(deps, installationId);
  await deps.db.$transaction((tx) => saveInstallation(tx, installation, now));
  if (repositories) {
    const ids: bigint[] = [];
    for (let start = 0; start < repositories.length; start += batch) {
      ids.push(...(await saveBatch(deps, installationId, repositories.slice(start, start + batch), now)));
    }
    await deps.db.repository.updateMany({
      where: { installationId, id: { notIn: ids } },
      data: { installationId: null },
    });
  }
  deps.log.info(
    { account: installation.account.login, repositories: repositories?.length, suspended: !repositories },
    'installation read from GitHub',
  );
}

/** In small transactions: one over thousands of repositories would outlast its time limit. */
const batch = 100;

/** Saves repositories and has each looked at. */
async function saveBatch(
  deps: Deps,
  installationId: bigint,
  repositories: GitHubRepository[],
  now: Date,
): Promise<bigint[]> {
  return deps.db.$transaction(async (tx) => {
    const ids: bigint[] = [];
    for (const repository of repositories) {
      ids.push(await saveRepository(tx, repository, installationId, now));
    }
    await tx.repository.updateMany({ where: { id: { in: ids } }, data: { reconcileRequestedAt: now } });
    await deps.queue.send(
      ids.map((id) => jobs.reconcileRepository(id)),
      tx,
    );
    return ids;
  });
}

/** All repositories of an installation; null when GitHub says that it has just been suspended. */
async function listRepositories(deps: Deps, installationId: bigint): Promise<GitHubRepository[] | null> {
  try {
    const client = await deps.github.asInstallation(installationId);
    const all = await client.paginate(client.rest.apps.listReposAccessibleToInstallation, { per_page: 100 });
    return all as unknown as GitHubRepository[];
  } catch (error) {
    if (classifyGitHubError(error, deps.clock.now()).kind === 'refused') return null;
    throw error;
  }
}
