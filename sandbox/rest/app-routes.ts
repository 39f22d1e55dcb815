import { instantJson } from '../json/instant-json.ts';
import { accountJson } from '../json/account-json.ts';
import { GitHubError, notAccessible, notFound } from '../http/github-error.ts';
import { installationJson } from '../json/installation-json.ts';
import { onRepository } from './on-repository.ts';
import { page } from '../http/paging.ts';
import { permits, reaches } from '../state/access.ts';
import { repositoryJson } from '../json/repository-json.ts';
import { bodyOf, type Api, type ApiContext, type Parts } from '../http/api.ts';
import type { AppIdentity } from '../state/world.ts';
import type { Installation, InstallationToken, Permissions, Repository } from '../state/model.ts';

const hour = 3_600_000;

/** The App itself, its installations and their tokens. */
export function appRoutes(api: Api, { world }: Parts): void {
  const found = (installation: Installation | undefined) => {
    if (!installation) throw notFound();
    return installation;
  };
  const installationsOf = (app: AppIdentity) =>
    [...world.installations.values()].filter((each) => each.app === app);
  const inPath = (c: ApiContext) => {
    const app = requireApp(c);
    const installation = found(world.installations.get(Number(c.req.param('id'))));
    if (installation.app !== app) throw notFound();
    return installation;
  };
  const ofAccount = (types: string[]) => (c: ApiContext) => {
    const app = requireApp(c);
    const account = world.findAccount(c.req.param('login') ?? '');
    if (!account || !types.includes(account.type)) throw notFound();
    return c.json(installationJson(world, found(world.installationOf(account, app))));
  };

  api.get('/app', (c) => {
    const app = requireApp(c);
    const { id, slug, clientId, name, permissions, events } = app;
    const owner = accountJson(world, app.owner ?? world.account(`${slug}[bot]`));
    const installations_count = installationsOf(app).length;
    const html_url = `${world.url}/apps/${slug}`;
    const made = '2026-01-01T00:00:00Z';
    const its = { node_id: `A_${id}`, description: '', created_at: made, updated_at: made };
    const shown = { id, slug, client_id: clientId, name, owner, html_url, permissions, events, ...its };
    return c.json({ ...shown, installations_count });
  });

  api.get('/app/installations', (c) => {
    const all = installationsOf(requireApp(c));
    return c.json(page(c, all).map((each) => installationJson(world, each)));
  });

  api.get('/app/installations/:id', (c) => {
    return c.json(installationJson(world, inPath(c)));
  });

  api.post('/app/installations/:id/access_tokens', async (c) => {
    const installation = inPath(c);
    if (installation.suspendedAt) throw new GitHubError(403, 'This installation has been suspended');
    const token = issue(installation, await bodyOf(c));
    return c.json(
      {
        token: token.token,
        expires_at: instantJson(token.expiresAt),
        permissions: token.permissions,
        repository_selection: selectionOf(token),
        ...(token.repositoryIds && {
          repositories: reachedBy(token).map((repository) => repositoryJson(world, repository)),
        }),
      },
      201,
    );
  });

  onRepository(api, world, 'get', '/installation', (c, repository) => {
    return c.json(installationJson(world, found(world.installationFor(repository, requireApp(c)))));
  });
  api.get('/orgs/:login/installation', ofAccount(['Organization']));
  // GitHub also answers this route for organizations (actions/create-github-app-token#175).
  api.get('/users/:login/installation', ofAccount(['User', 'Organization']));

  api.get('/installation/repositories', (c) => {
    const principal = c.get('principal');
    if (principal.kind !== 'installation') throw notAccessible();
    const { token } = principal;
    const all = reachedBy(token);
    const repositories = page(c, all).map((repository) => repositoryJson(world, repository));
    return c.json({ total_count: all.length, repository_selection: selectionOf(token), repositories });
  });

  const reachedBy = (token: InstallationToken) =>
    world.repositoriesOf(token.installation).filter((repository) => reaches(token, repository));
  const selectionOf = ({ repositoryIds, installation }: InstallationToken) =>
    repositoryIds ? 'selected' : installation.selection;

  /** The repositories that a token is asked for, by name or by id; null: all that the installation has. */
  function wantedIn(installation: Installation, body: Record<string, unknown>): Set<number> | null {
    const { repositories: names = [], repository_ids: ids = [] } = body;
    const wanted = [...(names as string[]), ...(ids as number[])];
    if (wanted.length === 0) return null;
    const found = world.repositoriesOf(installation);
    const idOf = (each: string | number) => {
      const isMeant = ({ id, name }: Repository) =>
        typeof each === 'number' ? id === each : name.toLowerCase() === each.toLowerCase();
      const repository = found.find(isMeant);
      if (repository) return repository.id;
      throw new GitHubError(
        422,
        'There is at least one repository that does not exist or is not accessible to the parent installation.',
      );
    };
    return new Set(wanted.map(idOf));
  }

  /** Tokens are as long as GitHub's newest ones, so that code with a shorter limit fails here. */
  function issue(installation: Installation, body: Record<string, unknown>): InstallationToken {
    const name = `installation ${installation.id} ${world.ids.next('installation token', 0)}`;
    const part = (label: string, length: number) => world.ids.characters(`${name} ${label}`, length);
    const { permissions = installation.permissions } = body;
    const wanted = Object.entries(permissions as Permissions);
    if (!wanted.every(([name, level]) => permits(installation.permissions, name, level))) {
      throw new GitHubError(422, 'The permissions requested are not granted to this installation.');
    }
    const token: InstallationToken = {
      token: `ghs_${installation.app.id}_${part('header', 36)}.${part('payload', 120)}.${part('signature', 342)}`,
      installation,
      expiresAt: new Date(Date.now() + hour),
      // Each installation has it, and nobody has to ask for it.
      permissions: { metadata: 'read', ...Object.fromEntries(wanted) },
      repositoryIds: wantedIn(installation, body),
    };
    world.installationTokens.set(token.token, token);
    return token;
  }
}

/** Routes that take only an App's JWT. */
export function requireApp(c: ApiContext): AppIdentity {
  const principal = c.get('principal');
  if (principal.kind !== 'app') throw new GitHubError(401, 'A JSON web token could not be decoded');
  return principal.app;
}
