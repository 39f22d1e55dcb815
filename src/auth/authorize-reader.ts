import type { Deps } from '../deps.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import type { Credential } from './authenticate.ts';
import {
  assertOwnKey,
  findForToken,
  permissionOn,
  type PersonalToken,
  repositoryOfKey,
} from './authorize.ts';
import type { GitHubTokens } from './github-token.ts';
import type { RepositoryPath } from './key-rows.ts';
import { repositoryOfJob } from './oidc/authorize-job.ts';

/**
 * The repository of the path, for a credential that can read it: any key of its owner, a token that can read it of a
 * person who can, or one of its own jobs that a rule lets in.
 * @throws Refusal forbidden, not-found (also for a person or a token that cannot see it), or unavailable.
 */
export async function authorizeReader(
  deps: Deps,
  tokens: GitHubTokens,
  credential: Credential,
  path: RepositoryPath,
): Promise<FoundRepository> {
  if (credential.kind === 'github-token') return readableByToken(deps, tokens, credential, path);
  if (credential.kind === 'job-token') return repositoryOfJob(deps, credential, 'push_scopes', path);
  assertOwnKey(credential.key, path.owner);
  return repositoryOfKey(deps, credential, path);
}

async function readableByToken(
  deps: Deps,
  tokens: GitHubTokens,
  credential: PersonalToken,
  path: RepositoryPath,
): Promise<FoundRepository> {
  const repository = await findForToken(deps, credential, path, 'read');
  if (repository.private || repository.installation.suspendedAt !== null)
    await permissionOn(deps, tokens, credential, repository, path);
  return repository;
}
