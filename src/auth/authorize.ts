import type { Account } from '../generated/prisma/client.ts';
import type { Deps } from '../deps.ts';
import { forbidden, isConflict } from '../errors.ts';
import { findAccount, notInstalled } from '../installations/find-account.ts';
import {
  findRepository,
  type FoundRepository,
  fullName,
  repositoryAbsent,
} from '../repositories/find-repository.ts';
import type { KeyScope } from './application-key.ts';
import type { Credential } from './authenticate.ts';
import type { GitHubTokens } from './github-token.ts';

const wanted = {
  admin: 'an admin application key (hf_admin_…) or a GitHub token',
  ci: 'a CI application key (hf_ci_…)',
} as const;

const foreignKey = (owner: string) =>
  forbidden(`This application key belongs to another owner than ${owner}.`);

/** Holds for a credential of a kind that the route takes, and for a key of the owner in the path. */
function assertKind(credential: Credential, scope: KeyScope, owner: string): void {
  if (credential.kind === 'github-token') {
    if (scope === 'ci') throw forbidden(`This route takes ${wanted.ci}, not a GitHub token.`);
    return;
  }
  const { key } = credential;
  if (key.scope !== scope)
    throw forbidden(`This route takes ${wanted[scope]}, not one with the scope ${key.scope}.`);
  if (key.account.loginKey !== owner.toLowerCase()) {
    throw foreignKey(owner);
  }
}

/**
 * The repository of the path, for a credential that may use it: a key of its owner with the right scope, or a
 * person who is an admin of it.
 * @throws Refusal forbidden, not-found (also for a person who may not see it), or unavailable.
 */
export async function authorizeRepository(
  deps: Deps,
  tokens: GitHubTokens,
  credential: Credential,
  scope: KeyScope,
  path: { owner: string; repository: string },
): Promise<FoundRepository> {
  assertKind(credential, scope, path.owner);
  const repository = await find(deps, credential, path);
  if (credential.kind === 'application-key') {
    // After a rename GitHub may answer for an old name with a repository that moved to somebody else.
    if (repository.accountId !== credential.key.accountId)
      throw repositoryAbsent(path.owner, path.repository);
    return repository;
  }
  const { token, person } = credential;
  const permission = await tokens.permission(deps, token, person, repository);
  // While the installation is suspended, only its admins learn that it is there.
  const isHidden = permission !== 'admin' && repository.installation.suspendedAt !== null;
  if (permission === 'none' || isHidden) throw repositoryAbsent(path.owner, path.repository);
  if (permission !== 'admin') {
    throw forbidden(
      `${person.login} is not an admin of ${fullName(repository)} on GitHub. Ask one, or use an admin application key.`,
    );
  }
  return repository;
}

/** A repository that is looked up for the first time while its installation is suspended is not there for a person. */
async function find(
  deps: Deps,
  credential: Credential,
  path: { owner: string; repository: string },
): Promise<FoundRepository> {
  try {
    return await findRepository(deps, path.owner, path.repository);
  } catch (error) {
    if (credential.kind === 'application-key' || !isConflict(error)) throw error;
    throw repositoryAbsent(path.owner, path.repository);
  }
}

/**
 * The owner of the path, for a credential that may administer it: an admin key of the owner, the owner in
 * person, or an admin of the organization.
 * @throws Refusal forbidden, not-found, or unavailable.
 */
export async function authorizeOwner(
  deps: Deps,
  tokens: GitHubTokens,
  credential: Credential,
  owner: string,
): Promise<Account> {
  assertKind(credential, 'admin', owner);
  const account = await findAccount(deps, owner);
  if (credential.kind === 'application-key') {
    // A login that was given up may belong to somebody else by now: what counts is the account.
    if (account.id !== credential.key.accountId) throw foreignKey(owner);
    return account;
  }
  const { token, person } = credential;
  if (await tokens.isOwnerAdmin(deps, token, person, account)) return account;
  if (account.installation.suspendedAt) throw notInstalled(owner);
  throw forbidden(
    `${person.login} is not an admin of ${account.login} on GitHub. Ask one, or use an admin application key.`,
  );
}
