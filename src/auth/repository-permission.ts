import type { Deps } from '../deps.ts';
import { classifyGitHubError, isGitHubStatus } from '../github/github-error.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import type { Person } from './github-token.ts';

/** What a person can do with a repository. `none`: to them it must look as if it did not exist. */
export type RepositoryPermission = 'admin' | 'write' | 'read' | 'none';

/**
 * Asks GitHub, as the installation, what a person can do with a repository. By id, because the name may belong to
 * another repository by now. An answer about another person does not count: a login can get another owner, too.
 * @throws GitHub's errors; `isRefusal` says which of them mean `none`.
 */
export async function askPermission(
  deps: Pick<Deps, 'github'>,
  person: Person,
  { id, installation }: Pick<FoundRepository, 'id' | 'installation'>,
): Promise<RepositoryPermission> {
  const { request } = await deps.github.asInstallation(installation.id);
  const { data } = (await request('GET /repositories/{repository_id}/collaborators/{username}/permission', {
    repository_id: Number(id),
    username: person.login,
  })) as { data: { permission: RepositoryPermission; user?: { id: number } | null } };
  return data.user?.id === person.id ? data.permission : 'none';
}

/** Whether GitHub clearly says no, which a rate limit or an outage does not. */
export function isRefusal(error: unknown, deps: Pick<Deps, 'clock'>): boolean {
  if (!isGitHubStatus(error, 401, 403, 404)) return false;
  return classifyGitHubError(error, deps.clock.now()).kind !== 'limited';
}
