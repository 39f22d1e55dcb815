import { accountJson } from '../json/account-json.ts';
import { atLeast, reaches, roleOf, scopesAllow } from '../state/access.ts';
import { GitHubError, notAccessible, notFound } from '../http/github-error.ts';
import { onRepository } from './on-repository.ts';
import { repositoryJson, rolePermissions } from '../json/repository-json.ts';
import type { Api, ApiContext, Parts } from '../http/api.ts';
import type { Repository, Role } from '../state/model.ts';

/** A repository and the permissions in it. */
export function repositoryRoutes(api: Api, { world }: Parts): void {
  onRepository(api, world, 'get', '', (c, repository) => {
    const principal = c.get('principal');
    const role = principal.kind === 'user' && roleOf(principal.token.user, repository);
    return c.json({
      ...repositoryJson(world, repository),
      ...(role && { permissions: rolePermissions(role) }),
    });
  });

  onRepository(api, world, 'get', '/collaborators/:login/permission', (c, repository) => {
    refuseOutsider(c, repository);
    const login = c.req.param('login') ?? '';
    const user = world.findAccount(login);
    if (!user || user.type === 'Organization') throw new GitHubError(404, `${login} is not a user`);
    const role = roleOf(user, repository);
    return c.json({
      permission: folded(role),
      role_name: role,
      user: { ...accountJson(world, user), permissions: rolePermissions(role), role_name: role },
    });
  });

  // Deploy keys need administration:read, so here a token proves that it can administer.
  onRepository(api, world, 'get', '/keys', (c, repository) => {
    const principal = c.get('principal');
    if (principal.kind !== 'user') throw notAccessible();
    const { kind, administration, user } = principal.token;
    if (!atLeast(roleOf(user, repository), 'admin')) throw notFound();
    if (!scopesAllow(principal.token, repository)) throw notFound();
    if (!administration) {
      const message = kind === 'fine-grained' ? 'personal access token' : 'integration';
      throw new GitHubError(403, `Resource not accessible by ${message}`);
    }
    return c.json([]);
  });
}

/** `permission` has four words; `role_name` has all of them. */
function folded(role: Role | 'none'): string {
  if (role === 'maintain') return 'write';
  return role === 'triage' ? 'read' : role;
}

function refuseOutsider(c: ApiContext, repository: Repository): void {
  const principal = c.get('principal');
  if (principal.kind === 'installation') {
    if (!reaches(principal.token, repository)) throw notAccessible();
  } else if (principal.kind === 'user') {
    if (atLeast(roleOf(principal.token.user, repository), 'write')) return;
    throw new GitHubError(403, 'Must have push access to view collaborator permission.');
  } else {
    throw new GitHubError(401, 'Requires authentication');
  }
}
