import { nowOf } from '../clock.ts';
import type { SqlTx } from '../database/sql.ts';
import type { Deps } from '../deps.ts';
import { classifyGitHubError, isGitHubStatus } from '../github/github-error.ts';
import { defineTask } from '../queue/define-task.ts';
import { jobs } from '../queue/jobs.ts';
import { type GitHubRepository, saveRepositories } from './save-repositories.ts';
import { loseRepository } from './lose-repositories.ts';

/**
 * Updates one repository in the database from GitHub: its name, its owner, whether it is archived, or that the
 * installation can no longer see it. It is reconciled afterwards.
 * @param installationId the installation to ask through; null if the event named none.
 * @throws GitHub's error while it cannot answer. The job queue tries again.
 */
export async function syncRepository(deps: Deps, id: bigint, installationId: bigint | null): Promise<void> {
  const known = await deps.db.repository.findUnique({
    where: { id },
    select: { installationId: true, accountId: true },
  });
  const through = installationId ?? known?.installationId ?? null;
  if (through === null) return;
  const repository = await readById(deps, id, through);
  if (repository === 'suspended') return;
  const now = nowOf(deps.clock);
  const owners = new Set([known?.accountId, repository && BigInt(repository.owner.id)]);
  const plans = [...owners].flatMap((owner) => (owner ? [jobs.keepPlans(owner)] : []));
  if (!repository) {
    await loseRepository(deps.sql, id, through);
    return deps.queue.send(plans);
  }
  await deps.sql.transaction(async (tx) => {
    if (!(await isKnown(tx, through))) {
      // It was transferred to an owner whose installation we have not read yet.
      await deps.queue.send([jobs.syncInstallation(through)], tx);
      return;
    }
    await saveRepositories(tx, [repository], through, now);
    await deps.queue.send([jobs.reconcileRepository(id), ...plans], tx);
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

export const syncRepositoryTask = defineTask(jobs.syncRepository, (deps, { repositoryId, installationId }) =>
  syncRepository(deps, BigInt(repositoryId), installationId === null ? null : BigInt(installationId)),
);
