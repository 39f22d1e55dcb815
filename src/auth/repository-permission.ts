import type { Deps } from '../deps.ts';
import { classifyGitHubError, isGitHubStatus } from '../github/github-error.ts';
import type { FoundRepository } from '../repositories/find-repository.ts';
import type { Person } from './github-token.ts';

/** What a person may do with a repository. `none`: it must look as if it were not there. */
export type RepositoryPermission = 'admin' | 'write' | 'read' | 'none';

/**
 * What GitHub says that a person may do with a repository, asked as the installation.
 * @throws what GitHub answers; `isRefusal` tells which of it means `none`.
 */
export async function askPermission(
  deps: Pick<Deps, 'github'>,
  person: Person,
  { account, installation, name }: FoundRepository,
): Promise<RepositoryPermission> {
  const client = await deps.github.asInstallation(installation.id);
  const { data } = await client.rest.repos.getCollaboratorPermissionLevel({
    owner: account.login,
    repo: name,
    username: person.login,
  });
  // The login is a label: were it given to somebody else since, the id tells.
  if (data.user?.id !== undefined && data.user.id !== person.id) return 'none';
  return data.permission as RepositoryPermission;
}

/** A clear no from GitHub, as against a rate limit or an outage. */
export function isRefusal(error: unknown, deps: Pick<Deps, 'clock'>): boolean {
  if (!isGitHubStatus(error, 401, 403, 404)) return false;
  return classifyGitHubError(error, deps.clock.now()).kind !== 'limited';
}
