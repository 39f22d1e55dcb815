import { covers } from './world.ts';
import type { AppIdentity } from './world.ts';
import type { Account, Installation, InstallationToken, Repository, Role, Team, UserToken } from './model.ts';

/** The caller of a request. */
export type Principal =
  | { kind: 'app'; app: AppIdentity }
  | { kind: 'installation'; token: InstallationToken }
  | { kind: 'user'; token: UserToken }
  /** The App's OAuth client: its id and secret. */
  | { kind: 'client' }
  | { kind: 'anonymous' };

const order: Role[] = ['read', 'triage', 'write', 'maintain', 'admin'];

export function atLeast(role: Role | 'none', wanted: Role): boolean {
  return role !== 'none' && order.indexOf(role) >= order.indexOf(wanted);
}

/** The strongest role of a person: by ownership, membership, a direct role or a public repository. */
export function roleOf(user: Account, repository: Repository): Role | 'none' {
  if (user === repository.owner) return 'admin';
  const membership = repository.owner.members.get(user.id);
  if (membership === 'admin') return 'admin';
  const granted: (Role | 'none')[] = [repository.roles.get(user.id) ?? 'none'];
  if (membership) granted.push(repository.owner.basePermission);
  if (!repository.private) granted.push('read');
  return order.findLast((role) => granted.includes(role)) ?? 'none';
}

/** Whether a person can read a repository, not only because it is public. */
export const isExplicit = (user: Account, repository: Repository): boolean =>
  repository.roles.has(user.id) || roleOf(user, { ...repository, private: true }) !== 'none';

/** Whether an installation token covers a repository, not only because it is public. */
export function reaches(token: InstallationToken, repository: Repository): boolean {
  return covers(token.installation, repository) && (token.repositoryIds?.has(repository.id) ?? true);
}

/** Only these have scopes. `repo` includes `public_repo`, and `admin:org` includes `read:org`. */
export const hasScopes = ({ kind }: UserToken): boolean => kind === 'classic' || kind === 'oauth';

/**
 * Classic and OAuth tokens need the scope `repo` for a private repository, and `public_repo` to change a public one.
 * Fine-grained tokens reach only the repositories that they were made for.
 */
export function scopesAllow(token: UserToken, repository: Repository): boolean {
  if (!hasScopes(token)) return token.repositoryIds?.has(repository.id) ?? true;
  if (token.scopes.includes('repo')) return true;
  return !repository.private && token.scopes.includes('public_repo');
}

export function canSee(principal: Principal, repository: Repository): boolean {
  if (!repository.private) return true;
  if (principal.kind === 'installation') return reaches(principal.token, repository);
  if (principal.kind === 'user') {
    return scopesAllow(principal.token, repository) && roleOf(principal.token.user, repository) !== 'none';
  }
  return false;
}

/** The members of a team, with those of its child teams. */
export function membersOf(team: Team): Set<Account> {
  const children = team.organization.teams.values().filter(({ parent }) => parent === team.slug);
  return new Set([...team.members, ...children.flatMap((child) => [...membersOf(child)])]);
}

/** Whether the granted permissions include one; `write` includes `read`. */
export function permits(permissions: Installation['permissions'], name: string, level: 'read' | 'write') {
  const granted = permissions[name];
  return granted === 'write' || granted === level;
}
