import { accountJson, organizationJson } from '../json/account-json.ts';
import { notAccessible, notFound, GitHubError } from '../http/github-error.ts';
import { installationJson } from '../json/installation-json.ts';
import { page } from '../http/paging.ts';
import { hasScopes, isExplicit, membersOf, permits } from '../state/access.ts';
import type { Account, Team } from '../state/model.ts';
import type { Api, ApiContext, Parts } from '../http/api.ts';

/** Each includes `read:org`. */
const orgScopes = new Set(['read:org', 'write:org', 'admin:org']);

/** Users, organizations and their members, and the caller's rate limit. */
export function peopleRoutes(api: Api, { world, limits }: Parts): void {
  const organization = (c: ApiContext) => {
    const account = world.findAccount(c.req.param('org') ?? '');
    if (account?.type !== 'Organization') throw notFound();
    return account;
  };
  const membershipJson = (org: Account, user: Account) => ({
    url: `${world.url}/orgs/${org.login}/memberships/${user.login}`,
    state: 'active',
    role: org.members.get(user.id),
    organization: organizationJson(world, org),
    user: accountJson(world, user),
  });

  api.get('/user', (c) => {
    const user = person(c);
    return c.json({ ...accountJson(world, user), name: user.login });
  });

  api.get('/users/:login', (c) => {
    const account = world.findAccount(c.req.param('login'));
    if (!account) throw notFound();
    return c.json(accountJson(world, account));
  });

  api.get('/user/:id{[0-9]+}', (c) => {
    const account = world.accounts.values().find(({ id }) => id === Number(c.req.param('id')));
    if (!account) throw notFound();
    return c.json(accountJson(world, account));
  });

  api.get('/orgs/:org', (c) => {
    const org = organization(c);
    return c.json({ ...accountJson(world, org), ...organizationJson(world, org) });
  });

  api.get('/user/memberships/orgs/:org', (c) => {
    const user = person(c);
    const org = organization(c);
    if (!org.members.has(user.id)) throw notFound();
    return c.json(membershipJson(org, user));
  });

  api.get('/orgs/:org/memberships/:login', (c) => {
    const principal = c.get('principal');
    const org = organization(c);
    if (principal.kind === 'installation') {
      const { installation, permissions } = principal.token;
      if (installation.account !== org || !permits(permissions, 'members', 'read'))
        throw notAccessible('members=read');
    } else if (!org.members.has(person(c).id)) {
      throw new GitHubError(403, `You must be a member of ${org.login} to see membership information.`);
    }
    const user = world.findAccount(c.req.param('login'));
    if (!user || !org.members.has(user.id)) throw notFound();
    return c.json(membershipJson(org, user));
  });

  const organizationOfId = (c: ApiContext) => {
    const id = Number(c.req.param('org_id'));
    const account = world.accounts.values().find((each) => each.id === id);
    if (account?.type !== 'Organization') throw notFound();
    return account;
  };

  // Teams are visible to members of the organization, and to its installation if that can read members.
  const teamOf = (c: ApiContext, org: Account, isMeant: (team: Team) => boolean) => {
    const principal = c.get('principal');
    if (principal.kind === 'installation') {
      const { installation, permissions } = principal.token;
      if (installation.account !== org || !permits(permissions, 'members', 'read'))
        throw notAccessible('members=read');
    } else if (!org.members.has(person(c).id)) throw notFound();
    const found = org.teams.values().find(isMeant);
    if (!found) throw notFound();
    return found;
  };
  const bySlug = (c: ApiContext) =>
    teamOf(c, organization(c), ({ slug }) => slug === (c.req.param('team_slug') ?? '').toLowerCase());
  const byId = (c: ApiContext) =>
    teamOf(c, organizationOfId(c), ({ id }) => id === Number(c.req.param('team_id')));

  // GitHub serves both by slug and, at the addresses in its answers, by id.
  const places = [
    ['/orgs/:org/teams/:team_slug', bySlug],
    ['/organizations/:org_id/team/:team_id', byId],
  ] as const;
  for (const [path, team] of places) {
    api.get(path, (c) => {
      const { id, slug, parent, organization } = team(c);
      const url = `${world.url}/organizations/${organization.id}/team/${id}`;
      const its = { organization: organizationJson(world, organization) };
      return c.json({ id, url, slug, name: slug, parent: parent === null ? null : { slug: parent }, ...its });
    });

    // A member of a child team is one of the team. Whoever was invited is `pending`. Nobody else has a membership.
    api.get(`${path}/memberships/:login`, (c) => {
      const found = team(c);
      const user = world.findAccount(c.req.param('login') ?? '');
      const isMember = user !== undefined && membersOf(found).has(user);
      if (!isMember && !(user && found.invited.has(user))) throw notFound();
      const url = `${world.url}/organizations/${found.organization.id}/team/${found.id}/memberships/${user.login}`;
      return c.json({ url, role: 'member', state: isMember ? 'active' : 'pending' });
    });
  }

  // Installations of the token's App that its person has explicit permission to see.
  api.get('/user/installations', (c) => {
    const user = person(c);
    const principal = c.get('principal');
    if (principal.kind !== 'user' || !principal.token.ownApp)
      throw new GitHubError(
        403,
        'You must authenticate with an access token authorized to a GitHub App in order to list installations',
      );
    const found = [...world.installations.values()].filter((each) =>
      world.repositoriesOf(each).some((repository) => isExplicit(user, repository)),
    );
    const installations = page(c, found).map((each) => installationJson(world, each));
    return c.json({ total_count: found.length, installations });
  });

  // Only owners of an organization, with tokens that can read its administration, see its Apps.
  api.get('/orgs/:org/installations', (c) => {
    const principal = c.get('principal');
    const org = organization(c);
    const user = person(c);
    if (principal.kind !== 'user' || org.members.get(user.id) !== 'admin') throw notFound();
    const { token } = principal;
    if (hasScopes(token) ? !token.scopes.some((scope) => orgScopes.has(scope)) : !token.administration)
      throw new GitHubError(403, 'Resource not accessible by personal access token');
    const found = [...world.installations.values()].filter(({ account }) => account === org);
    const installations = page(c, found).map((each) => installationJson(world, each));
    return c.json({ total_count: found.length, installations });
  });

  // Where webhooks come from: GitHub's networks, and this machine, from which the sandbox sends.
  api.get('/meta', (c) =>
    c.json({
      verifiable_password_authentication: false,
      hooks: [
        '192.30.252.0/22',
        '185.199.108.0/22',
        '140.82.112.0/20',
        '143.55.64.0/20',
        '2a0a:a440::/29',
        '127.0.0.0/8',
        '::1/128',
      ],
    }),
  );

  api.get('/rate_limit', (c) => {
    const core = limits.read(c.get('holder'), 'core');
    const graphql = limits.read(c.get('holder'), 'graphql');
    return c.json({ resources: { core, graphql }, rate: core });
  });
}

/** The person behind a token. Installations belong to nobody. */
function person(c: ApiContext): Account {
  const principal = c.get('principal');
  if (principal.kind === 'user') return principal.token.user;
  if (principal.kind === 'installation') throw notAccessible();
  throw new GitHubError(401, 'Requires authentication');
}
