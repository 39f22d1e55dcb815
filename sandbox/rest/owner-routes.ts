import { parse } from 'yaml';
import { environmentJson } from '../json/environment-json.ts';
import { repositoryJson } from '../json/repository-json.ts';
import { moveBranch } from '../state/activities.ts';
import { hasScopes, roleOf } from '../state/access.ts';
import { nodeId } from '../state/ids.ts';
import { fullNameOf } from '../state/world.ts';
import { bodyOf, type Api, type ApiContext, type Parts } from '../http/api.ts';
import { GitHubError, invalid, notFound } from '../http/github-error.ts';
import { page } from '../http/paging.ts';
import type { Account, Repository } from '../state/model.ts';
import { requireApp } from './app-routes.ts';
import { administer, branchJson } from './branch-routes.ts';
import { actor, demand, onRepository, refuseArchived, writing } from './on-repository.ts';

/** What owners do to their organization and its repositories: make, fill, rename, archive and delete them. */
export function ownerRoutes(api: Api, parts: Parts): void {
  const { world, pullRequests, deployments, repositories, branches, uninstall } = parts;

  /** The organization in the path, for one of its owners. */
  const owned = (c: ApiContext): Account => {
    const principal = c.get('principal');
    const account = world.findAccount(c.req.param('org') ?? '');
    if (account?.type !== 'Organization' || principal.kind !== 'user') throw notFound();
    if (account.members.get(principal.token.user.id) !== 'admin')
      throw new GitHubError(
        403,
        'You need admin access to the organization before adding a repository to it.',
      );
    return account;
  };

  api.get('/orgs/:org/repos', (c) => {
    const account = owned(c);
    const all = [...world.repositories.values()].filter(({ owner }) => owner === account);
    return c.json(page(c, all).map((each) => repositoryJson(world, each)));
  });

  api.post('/orgs/:org/repos', async (c) => {
    const account = owned(c);
    const { name, description, private: isPrivate = false } = await bodyOf(c);
    if (typeof name !== 'string' || name === '')
      throw invalid('Repository', [{ code: 'missing_field', field: 'name' }]);
    if (world.findRepository(`${account.login}/${name}`))
      throw invalid('Repository', [
        { code: 'custom', field: 'name', message: 'name already exists on this account' },
      ]);
    const { fullName } = repositories.addRepository(`${account.login}/${name}`, {
      private: isPrivate === true,
    });
    const repository = world.repository(fullName);
    repository.description = typeof description === 'string' ? description : null;
    return c.json(repositoryJson(world, repository), 201);
  });

  onRepository(api, world, 'patch', '', async (c, repository) => {
    administer(c, repository);
    const { name, archived } = await bodyOf(c);
    if (typeof name === 'string') repositories.renameRepository(fullNameOf(repository), name);
    if (archived === true) repositories.archive(fullNameOf(repository));
    if (archived === false) repositories.unarchive(fullNameOf(repository));
    return c.json(repositoryJson(world, repository));
  });

  // Classic and OAuth tokens need a scope of its own for that.
  onRepository(api, world, 'delete', '', (c, repository) => {
    const principal = c.get('principal');
    const mayDelete =
      principal.kind === 'user' &&
      roleOf(principal.token.user, repository) === 'admin' &&
      (!hasScopes(principal.token) || principal.token.scopes.includes('delete_repo'));
    if (!mayDelete) throw new GitHubError(403, 'Must have admin rights to Repository.');
    repositories.deleteRepository(fullNameOf(repository));
    return c.body(null, 204);
  });

  onRepository(api, world, 'post', '/git/refs', async (c, repository) => {
    demand(c, repository, writing);
    refuseArchived(repository);
    const { ref, sha } = await bodyOf(c);
    const [, branch] = /^refs\/heads\/(.+)$/.exec(String(ref)) ?? [];
    if (branch === undefined || !repository.commits.has(String(sha)))
      throw new GitHubError(422, 'Object does not exist');
    if (repository.branches.has(branch)) throw new GitHubError(422, 'Reference already exists');
    moveBranch(world, repository, branch, String(sha), actor(c, world));
    const url = `${world.url}/repos/${fullNameOf(repository)}/git`;
    const object = { type: 'commit', sha, url: `${url}/commits/${String(sha)}` };
    const node = `${nodeId('Ref', repository.id)}_${Buffer.from(String(ref)).toString('base64url')}`;
    return c.json({ ref, node_id: node, url: `${url}/${String(ref)}`, object }, 201);
  });

  onRepository(api, world, 'put', '/contents/:path{.+}', async (c, repository) => {
    demand(c, repository, writing);
    refuseArchived(repository);
    const path = c.req.param('path') ?? '';
    const { message, content, branch = repository.defaultBranch } = await bodyOf(c);
    if (
      typeof message !== 'string' ||
      typeof content !== 'string' ||
      !repository.branches.has(String(branch))
    )
      throw new GitHubError(422, 'Invalid request.');
    const sha = commit(repository, String(branch), path, actor(c, world));
    if (branch === repository.defaultBranch)
      repository.files.set(path, Buffer.from(content, 'base64').toString());
    return c.json({ content: { path }, commit: { sha, message } }, 201);
  });

  function commit(repository: Repository, branch: string, path: string, by: Account): string {
    const open = [...repository.pullRequests.values()].find(
      ({ state, head }) => state === 'open' && head.repository === repository && head.ref === branch,
    );
    if (open) return pullRequests.push(open, by, [path]);
    const sha = world.ids.sha();
    moveBranch(world, repository, branch, sha, by);
    repository.commits.add(sha);
    return sha;
  }

  onRepository(api, world, 'post', '/branches/:branch/rename', async (c, repository) => {
    administer(c, repository);
    const from = c.req.param('branch') ?? '';
    const { new_name: to } = await bodyOf(c);
    if (!repository.branches.has(from)) throw new GitHubError(404, 'Branch not found');
    if (typeof to !== 'string' || to === '') throw invalid('Branch', [{ code: 'invalid', field: 'name' }]);
    branches.renameBranch(fullNameOf(repository), from, to);
    return c.json(branchJson(world, repository, to, repository.branches.get(to)!), 201);
  });

  onRepository(api, world, 'put', '/environments/:environment', (c, repository) => {
    administer(c, repository);
    const environment = deployments.make(repository, c.req.param('environment') ?? '');
    return c.json(environmentJson(world, repository, environment));
  });

  // Starts a workflow of the default branch: of its file, only the environments of the jobs and their matrices count.
  onRepository(api, world, 'post', '/actions/workflows/:file/dispatches', async (c, repository) => {
    demand(c, repository, writing);
    const text = repository.files.get(`.github/workflows/${c.req.param('file') ?? ''}`);
    if (text === undefined) throw notFound();
    const { name, jobs } = parse(text) as { name: string; jobs: Record<string, WorkflowJob> };
    const all = Object.values(jobs).flatMap((job) => Array.from({ length: sizeOf(job) }, () => job));
    const named = all.flatMap(({ environment: of }) => (typeof of === 'string' ? { name: of } : (of ?? [])));
    const of = (isDeployment: boolean) =>
      named.filter(({ deployment = true }) => deployment === isDeployment).map((each) => each.name);
    const { ref } = await bodyOf(c);
    if (!repository.branches.has(String(ref))) throw new GitHubError(422, `No ref found for: ${String(ref)}`);
    const run = { workflow: name, environments: of(true), careless: of(false) };
    deployments.start(repository, { ...run, ref: String(ref), event: 'workflow_dispatch' });
    return c.body(null, 204);
  });

  api.delete('/app/installations/:id', (c) => {
    const app = requireApp(c);
    const installation = world.installations.get(Number(c.req.param('id')));
    if (installation?.app !== app) throw notFound();
    uninstall(installation.account.login, { app });
    return c.body(null, 204);
  });
}

type WorkflowJob = {
  environment?: string | { name: string; deployment?: boolean };
  strategy?: { matrix: Record<string, unknown[]> };
};

/** How many jobs a matrix makes of one. */
const sizeOf = ({ strategy }: WorkflowJob): number =>
  Object.values(strategy?.matrix ?? {}).reduce((size, values) => size * values.length, 1);
