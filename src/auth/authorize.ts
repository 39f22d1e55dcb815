import type { Account } from '../generated/prisma/client.ts';
import type { Deps } from '../deps.ts';
import { forbidden, isConflict, Refusal } from '../errors.ts';
import { findAccount, type InstalledAccount, notInstalled } from '../installations/find-account.ts';
import {
  findRepository,
  type FoundRepository,
  fullName,
  lookUpRepository,
  repositoryAbsent,
} from '../installations/find-repository.ts';
import type { KeyScope } from './application-key.ts';
import type { Credential } from './authenticate.ts';
import type { GitHubTokens, Memory, Person } from './github-token.ts';
import type { CallingKey, RepositoryPath } from './key-rows.ts';
import { repositoryOfJob } from './oidc/authorize-job.ts';
import type { JobPermission } from './oidc/oidc-rule.ts';
import { fromSignIn, lacksAdministration, lacksScope } from './token-refusals.ts';
import { hasScope } from './token-scopes.ts';

export type PersonalToken = Extract<Credential, { kind: 'github-token' }>;
type KeyOrPerson = Exclude<Credential, { kind: 'job-token' }>;

const wanted = {
  admin: 'an admin application key (hf_admin_…) or a GitHub token',
  ci: 'a CI application key (hf_ci_…)',
} as const;

const foreignKey = (owner: string) =>
  forbidden(`This application key belongs to another owner than ${owner}.`);

const notAdmin = ({ login }: Person, place: string) =>
  forbidden(`${login} is not an admin of ${place} on GitHub. Ask one, or use an admin application key.`);

const notWriter = ({ login }: Person, place: string) =>
  forbidden(
    `${login} cannot write to ${place} on GitHub. Ask somebody who can, or use an admin application key.`,
  );

/** Whom a route of a repository lets in. */
export type RepositoryAudience = {
  scope: KeyScope;
  /** `write`: also a token of a person who may write there. */
  least?: 'write';
  /** GitHub is asked at this moment what a person may do; of what it said before only a no counts, for 10 s. */
  isLive?: true;
  /** What a job must be allowed for it, in its own repository. Without it no job is let in. */
  job?: JobPermission;
};

/** @property notAdmin why the caller is no admin of it, where the route takes writers too; null for admins. */
export type AuthorizedRepository = { repository: FoundRepository; notAdmin: Refusal | null };

/** Holds for a credential of a kind that the route takes, and for a key of the owner in the path. */
function assertKind(
  credential: Credential,
  scope: KeyScope,
  owner: string,
): asserts credential is KeyOrPerson {
  if (credential.kind === 'job-token')
    throw forbidden(`This route takes ${wanted[scope]}, not the OIDC token of a job.`);
  if (credential.kind === 'github-token') {
    if (scope === 'ci') throw forbidden(`This route takes ${wanted.ci}, not a GitHub token.`);
    return;
  }
  const { key } = credential;
  if (key.scope !== scope)
    throw forbidden(`This route takes ${wanted[scope]}, not one with the scope ${key.scope}.`);
  assertOwnKey(key, owner);
}

/** Holds for a key of the owner in the path. */
export function assertOwnKey({ account }: Pick<CallingKey, 'account'>, owner: string): void {
  if (account.loginKey !== owner.toLowerCase()) throw foreignKey(owner);
}

/**
 * The repository of the path, for a credential that may use it: a key of its owner with the right scope, or a
 * token that may administer it, of a person who is an admin of it; or, where writers may too, a token of one of them;
 * or, where jobs may too, one of its own jobs.
 * @throws Refusal forbidden, not-found (also for a person or a token that may not see it), or unavailable.
 */
export async function authorizeRepository(
  deps: Deps,
  tokens: GitHubTokens,
  credential: Credential,
  audience: RepositoryAudience,
  path: RepositoryPath,
): Promise<AuthorizedRepository> {
  const { job } = audience;
  if (credential.kind === 'job-token' && job)
    return { repository: await repositoryOfJob(deps, credential, job, path), notAdmin: null };
  assertKind(credential, audience.scope, path.owner);
  if (credential.kind === 'github-token') return repositoryOfToken(deps, tokens, credential, audience, path);
  return { repository: await repositoryOfKey(deps, credential, path), notAdmin: null };
}

/** The repository of the path, for a key of its owner. @throws Refusal not-found. */
export async function repositoryOfKey(
  deps: Deps,
  { key, ...credential }: Extract<Credential, { kind: 'application-key' }>,
  path: RepositoryPath,
): Promise<FoundRepository> {
  const repository = credential.repository ?? (await lookUpRepository(deps, path.owner, path.repository));
  // After a rename GitHub may answer for an old name with a repository that moved to somebody else.
  if (repository.accountId !== key.accountId) throw repositoryAbsent(path.owner, path.repository);
  return repository;
}

async function repositoryOfToken(
  deps: Deps,
  tokens: GitHubTokens,
  credential: PersonalToken,
  { least, isLive }: RepositoryAudience,
  path: RepositoryPath,
): Promise<AuthorizedRepository> {
  const { token, person } = credential;
  const repository = await findForToken(deps, credential, path, 'administer');
  const memory: Memory = isLive ? 'refresh' : 'get';
  const { permission, trial } = await permissionOn(deps, tokens, credential, repository, path, memory);
  const name = fullName(repository);
  if (permission === 'admin' && trial === 'yes') return { repository, notAdmin: null };
  const refusal = permission === 'admin' ? lacksAdministration(deps, token, name) : notAdmin(person, name);
  if (least !== 'write') throw refusal;
  if (permission === 'read') throw notWriter(person, name);
  return { repository, notAdmin: refusal };
}

/**
 * What a person may do in a repository, and a token that says nothing of itself.
 * @throws Refusal not-found where they may not see it.
 */
export async function permissionOn(
  deps: Deps,
  tokens: GitHubTokens,
  { token, person, grant }: PersonalToken,
  repository: FoundRepository,
  path: RepositoryPath,
  memory?: Memory,
) {
  const permission = await tokens.permission(deps, token, person, repository, memory);
  const trial = grant.by === 'trial' ? await tokens.tryRepository(deps, token, repository, memory) : 'yes';
  // While the installation is suspended, only its admins learn that it is there.
  const isHidden = permission !== 'admin' && repository.installation.suspendedAt !== null;
  if (permission === 'none' || trial === 'hidden' || isHidden)
    throw repositoryAbsent(path.owner, path.repository);
  return { permission, trial };
}

/**
 * The repository of the path, for a token that may read it. Scopes are judged before anything tells whether there is
 * such a repository.
 * @param to what the token is for.
 */
export async function findForToken(
  deps: Deps,
  { token, grant }: PersonalToken,
  { owner, repository: name }: RepositoryPath,
  to: 'administer' | 'read',
): Promise<FoundRepository> {
  if (grant.by === 'sign-in') throw fromSignIn();
  if (grant.by === 'trial' || hasScope(grant.scopes, 'repo')) return findForPerson(deps, owner, name);
  const lacksRepo = lacksScope(deps, token, 'repo', 'every repository that is not public');
  if (to === 'administer' && !hasScope(grant.scopes, 'public_repo'))
    throw lacksScope(deps, token, 'repo', 'this route');
  // A private repository answers as one that does not exist.
  const repository = await findForPerson(deps, owner, name).catch((error: unknown) => {
    throw error instanceof Refusal && error.code === 'not-found' ? lacksRepo : error;
  });
  if (repository.private) throw lacksRepo;
  return repository;
}

/** A repository that is looked up for the first time while its installation is suspended is not there for a person. */
async function findForPerson(deps: Deps, owner: string, name: string): Promise<FoundRepository> {
  try {
    return await findRepository(deps, owner, name);
  } catch (error) {
    throw isConflict(error) ? repositoryAbsent(owner, name) : error;
  }
}

/**
 * The owner of the path, for a credential that may read or change what belongs to it: an admin key of the owner, or a
 * token that may as much at GitHub, of the owner in person or of an admin of the organization.
 * @throws Refusal forbidden, not-found, or unavailable.
 */
export async function authorizeOwner(
  deps: Deps,
  tokens: GitHubTokens,
  credential: Credential,
  owner: string,
  access: 'read' | 'change',
): Promise<Account> {
  assertKind(credential, 'admin', owner);
  if (credential.kind === 'github-token') return ownerOfToken(deps, tokens, credential, owner, access);
  const account = await findAccount(deps, owner);
  // A login that was given up may belong to somebody else by now: what counts is the account.
  if (account.id !== credential.key.accountId) throw foreignKey(owner);
  return account;
}

async function ownerOfToken(
  deps: Deps,
  tokens: GitHubTokens,
  { token, person, grant }: PersonalToken,
  owner: string,
  access: 'read' | 'change',
): Promise<Account> {
  if (grant.by === 'sign-in') throw fromSignIn();
  const account = await findAccount(deps, owner);
  const isOrganization = account.type === 'Organization';
  if (grant.by === 'scopes') {
    const scope = !isOrganization ? 'repo' : access === 'read' ? 'read:org' : 'admin:org';
    // A caller who may not see the repository does not learn that the installation is suspended.
    if (!hasScope(grant.scopes, scope))
      throw account.installation.suspendedAt
        ? notInstalled(owner)
        : lacksScope(deps, token, scope, 'this route');
  }
  if (!(await tokens.isOwnerAdmin(deps, token, person, account)))
    throw account.installation.suspendedAt ? notInstalled(owner) : notAdmin(person, account.login);
  if (grant.by === 'trial') await assertAdministers(deps, tokens, token, account);
  return account;
}

/** Tries a token without scopes: on the organization, or on the repository of a person that is the longest at GitHub. */
async function assertAdministers(
  deps: Deps,
  tokens: GitHubTokens,
  token: string,
  account: InstalledAccount,
): Promise<void> {
  if (account.type === 'Organization') {
    if ((await tokens.tryOrganization(deps, token, account)) === 'yes') return;
    throw lacksAdministration(deps, token, account.login);
  }
  const repository = await deps.db.repository.findFirst({
    where: { accountId: account.id, installation: { deletedAt: null } },
    orderBy: { id: 'asc' },
  });
  if (!repository) throw lacksAdministration(deps, token, `a repository of ${account.login}`);
  const place = { ...repository, account };
  if ((await tokens.tryRepository(deps, token, place)) === 'yes') return;
  throw lacksAdministration(deps, token, fullName(place));
}
