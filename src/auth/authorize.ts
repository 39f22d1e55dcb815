// One place decides what a caller may do, whatever road they came by. A verb says whom it allows, and `authorize…` finds
// what the path names and refuses everybody else.
import { forbidden, isConflict, Refusal } from '../errors.ts';
import { findAccount, type InstalledAccount, notInstalled } from '../installations/find-account.ts';
import {
  askNothing,
  findRepository,
  type FoundRepository,
  fullName,
  answerAsHidden,
  lookUpRepository,
  repositoryAbsent,
  type RepositoryPath,
} from '../installations/find-repository.ts';
import { type Role, roles } from '../settings/role-holders.ts';
import { readSettings } from '../settings/settings.ts';
import type { KeyScope, CallingKey } from './application-key.ts';
import type { Caller, KeyCaller, PersonCaller } from './caller.ts';
import { repositoryOfJob } from './oidc/job-token.ts';
import type { JobPermission } from './oidc/oidc-rule.ts';
import type { Recency, RepositoryPermission } from './permissions.ts';
import { whyRoleLacks, withRoles } from './role-verdict.ts';
import { fromSignIn, lacksAdministration, lacksScope, hasScope, type Scope } from './github-token.ts';
import type { AuthDeps } from './auth-deps.ts';

const wanted = {
  admin: 'an admin application key (hf_admin_…) or a GitHub token',
  ci: 'a CI application key (hf_ci_…)',
} as const;

const foreignKey = (owner: string) =>
  forbidden(`This application key belongs to another owner than ${owner}.`);

/** What somebody can do who may not: only the API takes keys. */
const instead = ({ kind }: PersonCaller, ask: string): string =>
  kind === 'github-token' ? `${ask}, or use an admin application key.` : `${ask}.`;

const notAdmin = (caller: PersonCaller, place: string) =>
  forbidden(`${caller.person.login} is not an admin of ${place} on GitHub. ${instead(caller, 'Ask one')}`);

const notWriter = (caller: PersonCaller, place: string) =>
  forbidden(
    `${caller.person.login} cannot write to ${place} on GitHub. ${instead(caller, 'Ask somebody who can')}`,
  );

/** The callers that a verb of a repository allows. */
export type RepositoryAudience = Recency & {
  scope: KeyScope;
  /** `write`: also a person who can write there. */
  least?: 'write';
  /** Also a person to whom the settings of the repository give this role, or one of these. */
  role?: Role | readonly Role[];
  /** What a rule must allow a job in its own repository. If it is not set, no job is allowed. */
  job?: JobPermission;
};

/** What a caller may be who is no admin. */
type Admitted = {
  /** Why the caller may not act as an admin of it, if the verb also allows writers; null if they may. */
  notAdmin: Refusal | null;
  /** The role that lets a person in; null for admins, keys, jobs and writers. */
  byRole: Role | null;
};
export type AuthorizedRepository = { repository: FoundRepository } & Admitted;
const asAdmin: Admitted = { notAdmin: null, byRole: null };

/** Checks that the verb takes this kind of caller, and that a key belongs to the owner in the path. */
function assertKind(
  caller: Caller,
  scope: KeyScope,
  owner: string,
): asserts caller is KeyCaller | PersonCaller {
  if (caller.kind === 'job-token')
    throw forbidden(`This route takes ${wanted[scope]}, not the OIDC token of a job.`);
  if (caller.kind !== 'application-key') {
    if (scope === 'ci') throw forbidden(`This route takes ${wanted.ci}, not a GitHub token.`);
    return;
  }
  const { key } = caller;
  if (key.scope !== scope)
    throw forbidden(`This route takes ${wanted[scope]}, not one with the scope ${key.scope}.`);
  assertOwnKey(key, owner);
}

/** Checks that the key belongs to the owner in the path. */
function assertOwnKey({ account }: Pick<CallingKey, 'account'>, owner: string): void {
  if (account.loginKey !== owner.toLowerCase()) throw foreignKey(owner);
}

/**
 * The repository of the path, for a caller who can use it: a key of its owner with the right scope; a person who is an
 * admin of it, with a token that can administer it if they sent one; if the verb names a role, a person who has it; if
 * it allows writers, one of them; if it allows jobs, one of its own jobs.
 * @throws Refusal forbidden, not-found (also for a person or a token that cannot see it), or unavailable.
 */
export async function authorizeRepository(
  deps: AuthDeps,
  caller: Caller,
  { job, scope, least, role, ...recency }: RepositoryAudience,
  path: RepositoryPath,
): Promise<AuthorizedRepository> {
  if (caller.kind === 'job-token' && job)
    return { repository: await repositoryOfJob(deps, caller, job, path), ...asAdmin };
  assertKind(caller, scope, path.owner);
  if (caller.kind === 'application-key')
    return { repository: await repositoryOfKey(deps, caller, path), ...asAdmin };
  const repository = await findForPerson(deps, caller, path, 'administer');
  const standing = await standingIn(deps, caller, repository, path, recency);
  const audience = { least, role, ...recency };
  return { repository, ...(await assertStanding(deps, caller, standing, repository, audience)) };
}

/**
 * The repository of the path, for a caller who can read it: any key of its owner, a person who can, with a token that can
 * read it if they sent one, or one of its own jobs that a rule lets in.
 * @throws Refusal like `authorizeRepository`.
 */
export async function authorizeReader(
  deps: AuthDeps,
  caller: Caller,
  path: RepositoryPath,
  recency: Recency = {},
): Promise<FoundRepository> {
  if (caller.kind === 'job-token') return repositoryOfJob(deps, caller, 'push_scopes', path);
  if (caller.kind === 'application-key') {
    assertOwnKey(caller.key, path.owner);
    return repositoryOfKey(deps, caller, path);
  }
  const repository = await findForPerson(deps, caller, path, 'read');
  if (repository.private || repository.installation.suspendedAt !== null)
    await standingIn(deps, caller, repository, path, recency);
  return repository;
}

/** The repository of the path, for a key of its owner. @throws Refusal not-found. */
async function repositoryOfKey(
  deps: AuthDeps,
  { key, ...caller }: KeyCaller,
  path: RepositoryPath,
): Promise<FoundRepository> {
  const repository = caller.repository ?? (await lookUpRepository(deps, path.owner, path.repository));
  // After a rename, GitHub can answer for the old name with a repository that moved to somebody else.
  if (repository.accountId !== key.accountId) throw repositoryAbsent(path.owner, path.repository);
  return repository;
}

/** What a person may do in a repository, and whether the token that they sent can administer it. */
type Standing = { permission: RepositoryPermission; tokenCan: boolean };

/** @throws Refusal not-found if they cannot see it. */
async function standingIn(
  deps: AuthDeps,
  caller: PersonCaller,
  repository: FoundRepository,
  path: RepositoryPath,
  recency?: Recency,
): Promise<Standing> {
  const token = caller.kind === 'github-token' ? caller.token : null;
  const permission = await deps.permissions.ofRepository(deps, caller.person, repository, recency, token);
  const trial =
    caller.kind === 'github-token' && caller.grant.by === 'trial'
      ? await deps.permissions.tryRepository(deps, caller.token, repository, recency)
      : 'yes';
  // While the installation is suspended, only its admins learn that it exists.
  const isHidden = permission !== 'admin' && repository.installation.suspendedAt !== null;
  if (permission === 'none' || trial === 'hidden' || isHidden) throw await answerAsHidden(deps, path);
  return { permission, tokenCan: trial === 'yes' };
}

/**
 * Refuses a person who may not do enough in a repository that they can read.
 * @returns as what they may act: admins, and who has the role of the verb, as admins.
 * @throws Refusal forbidden; unavailable while GitHub does not say whether they have the role; too-many-requests if they
 *   asked too much.
 */
export async function assertStanding(
  deps: AuthDeps,
  caller: PersonCaller,
  { permission, tokenCan }: Standing,
  repository: FoundRepository,
  { least, role, releases }: Pick<RepositoryAudience, 'least' | 'role' | 'releases'>,
): Promise<Admitted> {
  const name = fullName(repository);
  if (permission === 'admin' && tokenCan) return asAdmin;
  if (permission === 'admin' && caller.kind === 'github-token') {
    const refusal = lacksAdministration(deps, caller.token, name);
    if (least === 'write') return { notAdmin: refusal, byRole: null };
    throw refusal;
  }
  const whyNot: Parameters<typeof withRoles>[1][] = [];
  const asked = role === undefined ? [] : [role].flat();
  const settings = asked.length > 0 ? await readSettings(deps.db, repository.id) : null;
  for (const each of asked) {
    const { [roles[each]]: holders } = settings!;
    const lacks = await whyRoleLacks(deps, caller, repository, each, holders, true, { releases });
    if (lacks === null) return { notAdmin: null, byRole: each };
    whyNot.push(lacks);
  }
  const refusal = withRoles(notAdmin(caller, name), ...whyNot);
  if (least !== 'write') throw refusal;
  if (permission === 'read') throw withRoles(notWriter(caller, name), ...whyNot);
  return { notAdmin: refusal, byRole: null };
}

/**
 * The repository of the path, for a person. It judges the scopes of a token before anything shows whether the repository
 * exists.
 * @param to what the token is for.
 */
async function findForPerson(
  deps: AuthDeps,
  caller: PersonCaller,
  path: RepositoryPath,
  to: 'administer' | 'read',
): Promise<FoundRepository> {
  if (caller.kind !== 'github-token') return findIfVisible(deps, path);
  const { token, grant } = caller;
  if (grant.by === 'sign-in') throw fromSignIn();
  if (grant.by === 'trial' || hasScope(grant.scopes, 'repo')) return findIfVisible(deps, path);
  const lacksRepo = lacksScope(deps, token, 'repo', 'every repository that is not public');
  if (to === 'administer' && !hasScope(grant.scopes, 'public_repo'))
    throw lacksScope(deps, token, 'repo', 'this route');
  // A private repository gets the same answer as one that does not exist.
  const repository = await findIfVisible(deps, path).catch((error: unknown) => {
    throw error instanceof Refusal && error.code === 'not-found' ? lacksRepo : error;
  });
  if (!repository.private) return repository;
  await askNothing(deps, repository);
  await answerAsHidden(deps, path);
  throw lacksRepo;
}

/** While its installation is suspended, a repository that we do not know yet does not exist for a person. */
async function findIfVisible(
  deps: AuthDeps,
  { owner, repository: name }: RepositoryPath,
): Promise<FoundRepository> {
  try {
    return await findRepository(deps, owner, name);
  } catch (error) {
    throw isConflict(error) ? repositoryAbsent(owner, name) : error;
  }
}

/**
 * The owner of the path, for a caller who can read or change what belongs to it: an admin key of the owner, or the owner
 * itself or an admin of the organization, with a token that can do as much at GitHub if they sent one.
 * @throws Refusal forbidden, not-found, or unavailable.
 */
export async function authorizeOwner(
  deps: AuthDeps,
  caller: Caller,
  owner: string,
  access: 'read' | 'change',
  recency: Recency = {},
): Promise<InstalledAccount> {
  assertKind(caller, 'admin', owner);
  if (caller.kind !== 'application-key') return ownerOfPerson(deps, caller, owner, access, recency);
  const account = await findAccount(deps, owner);
  // A former login may belong to somebody else by now, so the account counts.
  if (account.id !== caller.key.accountId) throw foreignKey(owner);
  return account;
}

async function ownerOfPerson(
  deps: AuthDeps,
  caller: PersonCaller,
  owner: string,
  access: 'read' | 'change',
  recency: Recency,
): Promise<InstalledAccount> {
  const sent = caller.kind === 'github-token' ? caller : null;
  if (sent?.grant.by === 'sign-in') throw fromSignIn();
  const account = await findAccount(deps, owner);
  const { suspendedAt } = account.installation;
  // A caller who cannot see the repository does not learn that the installation is suspended.
  const orAbsent = (refusal: Refusal) => (suspendedAt ? notInstalled(owner) : refusal);
  if (sent?.grant.by === 'scopes') {
    const scope = scopeFor(account, access);
    if (!hasScope(sent.grant.scopes, scope))
      throw orAbsent(lacksScope(deps, sent.token, scope, 'this route'));
  }
  if (!(await deps.permissions.isOwnerAdmin(deps, caller.person, account, recency, sent?.token ?? null)))
    throw orAbsent(notAdmin(caller, account.login));
  if (sent?.grant.by === 'trial') await assertAdministers(deps, sent.token, account);
  return account;
}

/** The scope that a token needs for what belongs to an account. */
function scopeFor({ type }: InstalledAccount, access: 'read' | 'change'): Scope {
  if (type !== 'Organization') return 'repo';
  return access === 'read' ? 'read:org' : 'admin:org';
}

/** Tries a token without scopes: on the organization, or on the oldest repository of a person. */
async function assertAdministers(deps: AuthDeps, token: string, account: InstalledAccount): Promise<void> {
  if (account.type === 'Organization') {
    if ((await deps.permissions.tryOrganization(deps, token, account)) === 'yes') return;
    throw lacksAdministration(deps, token, account.login);
  }
  const repository = await deps.db.repository.findFirst({
    where: { accountId: account.id, installation: { deletedAt: null } },
    orderBy: { id: 'asc' },
  });
  if (!repository) throw lacksAdministration(deps, token, `a repository of ${account.login}`);
  const place = { ...repository, account };
  if ((await deps.permissions.tryRepository(deps, token, place)) === 'yes') return;
  throw lacksAdministration(deps, token, fullName(place));
}
