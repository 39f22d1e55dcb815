import type { Account } from '../generated/prisma/client.ts';
import type { Deps } from '../deps.ts';
import { forbidden, isConflict, Refusal } from '../errors.ts';
import { findAccount, type InstalledAccount, notInstalled } from '../installations/find-account.ts';
import {
  askNothing,
  findRepository,
  type FoundRepository,
  fullName,
  hidden,
  lookUpRepository,
  repositoryAbsent,
} from '../installations/find-repository.ts';
import type { KeyScope } from './application-key.ts';
import type { Credential } from './authenticate.ts';
import type { GitHubTokens, Person } from './github-token.ts';
import type { CallingKey, RepositoryPath } from './key-rows.ts';
import type { Recency } from './permissions.ts';
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

/** The callers that a route of a repository allows. */
export type RepositoryAudience = Recency & {
  scope: KeyScope;
  /** `write`: also a token of a person who can write there. */
  least?: 'write';
  /** What a rule must allow a job in its own repository. If it is not set, no job is allowed. */
  job?: JobPermission;
};

/** @property notAdmin why the caller is not an admin of it, if the route also allows writers; null for admins. */
export type AuthorizedRepository = { repository: FoundRepository; notAdmin: Refusal | null };

/** Checks that the route takes this kind of credential, and that a key belongs to the owner in the path. */
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

/** Checks that the key belongs to the owner in the path. */
export function assertOwnKey({ account }: Pick<CallingKey, 'account'>, owner: string): void {
  if (account.loginKey !== owner.toLowerCase()) throw foreignKey(owner);
}

/**
 * The repository of the path, for a credential that can use it: a key of its owner with the right scope; a token that
 * can administer it, of a person who is an admin of it; if the route allows writers, a token of one of them; if it
 * allows jobs, one of its own jobs.
 * @throws Refusal forbidden, not-found (also for a person or a token that cannot see it), or unavailable.
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
  // After a rename, GitHub can answer for the old name with a repository that moved to somebody else.
  if (repository.accountId !== key.accountId) throw repositoryAbsent(path.owner, path.repository);
  return repository;
}

async function repositoryOfToken(
  deps: Deps,
  tokens: GitHubTokens,
  credential: PersonalToken,
  { least, ...recency }: RepositoryAudience,
  path: RepositoryPath,
): Promise<AuthorizedRepository> {
  const { token, person } = credential;
  const repository = await findForToken(deps, credential, path, 'administer');
  const { permission, trial } = await permissionOn(deps, tokens, credential, repository, path, recency);
  const name = fullName(repository);
  if (permission === 'admin' && trial === 'yes') return { repository, notAdmin: null };
  const refusal = permission === 'admin' ? lacksAdministration(deps, token, name) : notAdmin(person, name);
  if (least !== 'write') throw refusal;
  if (permission === 'read') throw notWriter(person, name);
  return { repository, notAdmin: refusal };
}

/**
 * What a person can do in a repository, and what a token can do that names no scopes.
 * @throws Refusal not-found if they cannot see it.
 */
export async function permissionOn(
  deps: Deps,
  tokens: GitHubTokens,
  { token, person, grant }: PersonalToken,
  repository: FoundRepository,
  path: RepositoryPath,
  recency?: Recency,
) {
  const permission = await tokens.permission(deps, token, person, repository, recency);
  const trial = grant.by === 'trial' ? await tokens.tryRepository(deps, token, repository, recency) : 'yes';
  // While the installation is suspended, only its admins learn that it exists.
  const isHidden = permission !== 'admin' && repository.installation.suspendedAt !== null;
  if (permission === 'none' || trial === 'hidden' || isHidden) throw await hidden(deps, path);
  return { permission, trial };
}

/**
 * The repository of the path, for a token that can read it. It judges scopes before anything shows whether the
 * repository exists.
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
  // A private repository gets the same answer as one that does not exist.
  const repository = await findForPerson(deps, owner, name).catch((error: unknown) => {
    throw error instanceof Refusal && error.code === 'not-found' ? lacksRepo : error;
  });
  if (!repository.private) return repository;
  await askNothing(deps, repository);
  await hidden(deps, { owner, repository: name });
  throw lacksRepo;
}

/** While its installation is suspended, a repository that we do not know yet does not exist for a person. */
async function findForPerson(deps: Deps, owner: string, name: string): Promise<FoundRepository> {
  try {
    return await findRepository(deps, owner, name);
  } catch (error) {
    throw isConflict(error) ? repositoryAbsent(owner, name) : error;
  }
}

/**
 * The owner of the path, for a credential that can read or change what belongs to it: an admin key of the owner, or a
 * token that can do as much at GitHub, of the owner or of an admin of the organization.
 * @throws Refusal forbidden, not-found, or unavailable.
 */
export async function authorizeOwner(
  deps: Deps,
  tokens: GitHubTokens,
  credential: Credential,
  owner: string,
  access: 'read' | 'change',
  recency: Recency = {},
): Promise<Account> {
  assertKind(credential, 'admin', owner);
  if (credential.kind === 'github-token')
    return ownerOfToken(deps, tokens, credential, owner, access, recency);
  const account = await findAccount(deps, owner);
  // A former login may belong to somebody else by now, so the account counts.
  if (account.id !== credential.key.accountId) throw foreignKey(owner);
  return account;
}

async function ownerOfToken(
  deps: Deps,
  tokens: GitHubTokens,
  { token, person, grant }: PersonalToken,
  owner: string,
  access: 'read' | 'change',
  recency: Recency,
): Promise<Account> {
  if (grant.by === 'sign-in') throw fromSignIn();
  const account = await findAccount(deps, owner);
  const isOrganization = account.type === 'Organization';
  if (grant.by === 'scopes') {
    const scope = !isOrganization ? 'repo' : access === 'read' ? 'read:org' : 'admin:org';
    // A caller who cannot see the repository does not learn that the installation is suspended.
    if (!hasScope(grant.scopes, scope))
      throw account.installation.suspendedAt
        ? notInstalled(owner)
        : lacksScope(deps, token, scope, 'this route');
  }
  if (!(await tokens.isOwnerAdmin(deps, token, person, account, recency)))
    throw account.installation.suspendedAt ? notInstalled(owner) : notAdmin(person, account.login);
  if (grant.by === 'trial') await assertAdministers(deps, tokens, token, account);
  return account;
}

/** Tries a token without scopes: on the organization, or on the oldest repository of a person. */
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
