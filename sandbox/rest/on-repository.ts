import { atLeast, canSee, reaches, roleOf, scopesAllow } from '../state/access.ts';
import { badCredentials, GitHubError, notAccessible, notFound } from '../http/github-error.ts';
import type { Account, PullRequest, Repository, Role } from '../state/model.ts';
import type { Api, ApiContext } from '../http/api.ts';
import { includesOne, permissionsFor } from '../state/route-permissions.ts';
import type { World } from '../state/world.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Handler = (c: ApiContext, repository: Repository) => Response | Promise<Response>;

/**
 * Serves a route of a repository by name and by id. A former name redirects with the same method and body. An
 * installation needs the permission of the table, and of a repository that it does not reach reads what is public.
 */
export function onRepository(api: Api, world: World, method: Method, path: string, handler: Handler): void {
  const wanted = permissionsFor(method, path);
  const serve = (c: ApiContext, repository: Repository) => {
    const principal = c.get('principal');
    if (principal.kind !== 'installation') return handler(c, repository);
    const { token } = principal;
    const isPublic = method === 'get' && !repository.private && !wanted.startsWith('administration');
    if (!includesOne(token.permissions, wanted) || !(isPublic || reaches(token, repository)))
      throw notAccessible(wanted);
    c.header('x-accepted-github-permissions', wanted);
    return handler(c, repository);
  };
  api[method](`/repositories/:repository_id{[0-9]+}${path}`, (c) => {
    const repository = world.repositories.get(Number(c.req.param('repository_id')));
    return serve(c, visible(c, repository));
  });
  api[method](`/repos/:owner/:repo${path}`, (c) => {
    const name = `${c.req.param('owner')}/${c.req.param('repo')}`;
    const repository = world.findRepository(name);
    if (repository) return serve(c, visible(c, repository));
    return redirect(c, world, visible(c, world.findRenamed(name)));
  });
}

export const reading = { level: 'read', role: 'read' } as const;
export const writing = { level: 'write', role: 'write' } as const;

/** The role that a person needs for a request. */
export function demand(
  c: ApiContext,
  repository: Repository,
  wanted: { level: 'read' | 'write'; role: Role },
): void {
  const principal = c.get('principal');
  if (principal.kind === 'installation') return;
  if (principal.kind === 'user') {
    if (wanted.level === 'write' && !scopesAllow(principal.token, repository)) throw notFound();
    if (atLeast(roleOf(principal.token.user, repository), wanted.role)) return;
    throw new GitHubError(403, `Must have ${wanted.role} access to Repository.`);
  } else if (wanted.level === 'write') {
    throw new GitHubError(401, 'Requires authentication');
  }
}

export function refuseArchived(repository: Repository): void {
  if (repository.archived) throw new GitHubError(403, 'Repository was archived so is read-only.');
}

/** The account that acts: the person, or the bot of the App. */
export function actor(c: ApiContext, world: World): Account {
  const principal = c.get('principal');
  if (principal.kind === 'user') return principal.token.user;
  const { slug } = principal.kind === 'installation' ? principal.token.installation.app : world.app;
  return world.account(`${slug}[bot]`);
}

/** The pull request in the path. A number beyond GitHub's integers is not found. */
export function pullRequestIn(c: ApiContext, repository: Repository): PullRequest {
  const text = c.req.param('number') ?? '';
  const pr = /^\d{1,10}$/.test(text) ? repository.pullRequests.get(Number(text)) : undefined;
  if (!pr) throw notFound();
  return pr;
}

function visible(c: ApiContext, repository: Repository | undefined): Repository {
  const principal = c.get('principal');
  // The App's JWT has one question about a repository: which installation covers it.
  const asApp = principal.kind === 'app';
  if (asApp && !c.req.path.endsWith('/installation')) throw badCredentials();
  if (!repository || !(asApp || canSee(principal, repository))) throw notFound();
  return repository;
}

function redirect(c: ApiContext, world: World, repository: Repository): Response {
  const { pathname, search } = new URL(c.req.url);
  const rest = pathname.split('/').slice(4).join('/');
  const url = `${world.url}/repositories/${repository.id}${rest && `/${rest}`}${search}`;
  c.header('location', url);
  // It says so of temporary ones, too.
  const told = { message: 'Moved Permanently', url, documentation_url: 'https://docs.github.com/rest' };
  return c.json(told, c.req.method === 'GET' ? 301 : 307);
}
