import { nowOf } from '../time/clock.ts';
import type { SqlTx } from '../database/sql.ts';
import type { Deps } from '../deps.ts';
import { classifyGitHubError, isGitHubStatus } from '../github/github-error.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import {
  loseAllBut,
  markUninstalled,
  loseRepository,
  readInstallation,
  saveInstallation,
  type GitHubRepository,
  saveRepositories,
} from './save-installation.ts';

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

/**
 * Updates one repository in the database from GitHub: its name, its owner, whether it is archived, or that the
 * installation can no longer see it. It is reconciled afterwards.
 * @param installationId the installation to ask through; null if the event named none.
 * @returns `later` if its installation must be read first.
 * @throws GitHub's error while it cannot answer. The job queue tries again.
 */
export async function syncRepository(
  deps: Deps,
  id: bigint,
  installationId: bigint | null,
): Promise<'done' | 'later'> {
  const known = await deps.db.repository.findUnique({
    where: { id },
    select: { installationId: true, accountId: true },
  });
  const through = installationId ?? known?.installationId ?? null;
  if (through === null) return 'done';
  const repository = await readById(deps, id, through);
  if (repository === 'suspended') return 'done';
  const now = nowOf(deps.clock);
  const owners = new Set([known?.accountId, repository && BigInt(repository.owner.id)]);
  const plans = [...owners].flatMap((owner) => (owner ? [jobs.keepPlans(owner)] : []));
  if (!repository) {
    await loseRepository(deps.sql, id, through);
    await deps.queue.send(plans);
    return 'done';
  }
  return deps.sql.transaction(async (tx) => {
    if (!(await isKnown(tx, through))) {
      // It was transferred to an owner whose installation we have not read yet.
      await deps.queue.send([jobs.syncInstallation(through)], tx);
      return 'later';
    }
    await saveRepositories(tx, [repository], through, now);
    await deps.queue.send([jobs.reconcileRepository(id), ...plans], tx);
    return 'done';
  });
}

const isKnown = async (tx: SqlTx, installationId: bigint): Promise<boolean> =>
  (await tx.query('known-installation', 'SELECT FROM installations WHERE id = $1', [installationId])).length >
  0;

/**
 * The repository as the installation sees it; null if GitHub says that it cannot see it. A refusal does not count as
 * that: a rotated key or an IP allow list is temporary, and we must not lose the repository because of it.
 */
async function readById(
  deps: Deps,
  id: bigint,
  through: bigint,
): Promise<GitHubRepository | 'suspended' | null> {
  try {
    const client = await deps.github.asInstallation(through);
    const { data } = await client.request('GET /repositories/{id}', { id: Number(id) });
    return data as GitHubRepository;
  } catch (error) {
    if (isGitHubStatus(error, 404)) return null;
    const failure = classifyGitHubError(error, deps.clock.now());
    if (failure.kind === 'forbidden' && /suspended/i.test(failure.message)) return 'suspended';
    throw error;
  }
}

export const syncRepositoryTask = defineTask(
  jobs.syncRepository,
  async (deps, { repositoryId, installationId }) => {
    await syncRepository(deps, BigInt(repositoryId), installationId === null ? null : BigInt(installationId));
  },
);
