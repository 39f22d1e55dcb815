import type { Deps } from '../deps.ts';
import { Refusal } from '../errors.ts';
import {
  type FoundRepository,
  lookUpRepository,
  repositoryAbsent,
} from '../installations/find-repository.ts';
import type { Credential } from './authenticate.ts';
import { assertOwnKey, findForPerson, type PersonalToken } from './authorize.ts';
import type { GitHubTokens } from './github-token.ts';
import type { RepositoryPath } from './key-rows.ts';
import { fromSignIn, lacksScope } from './token-refusals.ts';
import { hasScope } from './token-scopes.ts';

/**
 * The repository of the path, for a credential that may read it: any key of its owner, or a token that can read it, of a
 * person who can.
 * @throws Refusal forbidden, not-found (also for a person or a token that may not see it), or unavailable.
 */
export async function authorizeReader(
  deps: Deps,
  tokens: GitHubTokens,
  credential: Credential,
  path: RepositoryPath,
): Promise<FoundRepository> {
  if (credential.kind === 'github-token') return readableByToken(deps, tokens, credential, path);
  assertOwnKey(credential.key, path.owner);
  const repository = credential.repository ?? (await lookUpRepository(deps, path.owner, path.repository));
  // After a rename GitHub may answer for an old name with a repository that moved to somebody else.
  if (repository.accountId !== credential.key.accountId) throw repositoryAbsent(path.owner, path.repository);
  return repository;
}

async function readableByToken(
  deps: Deps,
  tokens: GitHubTokens,
  credential: PersonalToken,
  path: RepositoryPath,
): Promise<FoundRepository> {
  const { token, person, grant } = credential;
  const repository = await findReadable(deps, credential, path);
  const isSuspended = repository.installation.suspendedAt !== null;
  if (!repository.private && !isSuspended) return repository;
  const permission = await tokens.permission(deps, token, person, repository);
  const trial = grant.by === 'trial' ? await tokens.tryRepository(deps, token, repository) : 'yes';
  // While the installation is suspended, only its admins learn that it is there.
  if (permission === 'none' || trial === 'hidden' || (isSuspended && permission !== 'admin'))
    throw repositoryAbsent(path.owner, path.repository);
  return repository;
}

/** To a token that cannot read private repositories, one of them answers as one that does not exist. */
async function findReadable(
  deps: Deps,
  { token, grant }: PersonalToken,
  { owner, repository: name }: RepositoryPath,
): Promise<FoundRepository> {
  if (grant.by === 'sign-in') throw fromSignIn();
  if (grant.by === 'trial' || hasScope(grant.scopes, 'repo')) return findForPerson(deps, owner, name);
  const lacksRepo = lacksScope(deps, token, 'repo', 'every repository that is not public');
  const repository = await findForPerson(deps, owner, name).catch((error: unknown) => {
    throw error instanceof Refusal && error.code === 'not-found' ? lacksRepo : error;
  });
  if (repository.private) throw lacksRepo;
  return repository;
}
