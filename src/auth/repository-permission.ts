import type { Deps } from '../deps.ts';
import { classifyGitHubError, isGitHubStatus } from '../github/github-error.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import type { Person } from './github-token.ts';

/** What a person may do with a repository. `none`: it must look as if it were not there. */
export type RepositoryPermission = 'admin' | 'write' | 'read' | 'none';

/**
 * What GitHub says that a person may do with a repository, asked as the installation, and by id: a name may be another
 * repository's by now. An answer that does not name this very person is none: logins change hands too.
 * @throws what GitHub answers; `isRefusal` tells which of it means `none`.
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

/** A clear no from GitHub, as against a rate limit or an outage. */
export function isRefusal(error: unknown, deps: Pick<Deps, 'clock'>): boolean {
  if (!isGitHubStatus(error, 401, 403, 404)) return false;
  return classifyGitHubError(error, deps.clock.now()).kind !== 'limited';
}
