import { accountJson } from '../json/account-json.ts';
import { notAccessible, notFound, GitHubError } from '../http/github-error.ts';
import { permits } from '../state/access.ts';
import type { Account } from '../state/model.ts';
import type { Api, ApiContext, Parts } from '../http/api.ts';

/** Users, organizations and who belongs to them; and the rate limit of whoever asks. */
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
    organization: { login: org.login, id: org.id, node_id: org.nodeId },
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

  api.get('/orgs/:org', (c) => c.json(accountJson(world, organization(c))));

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
      if (installation.account !== org || !permits(permissions, 'members', 'read')) throw notAccessible();
    } else if (!org.members.has(person(c).id)) {
      throw new GitHubError(403, `You must be a member of ${org.login} to see membership information.`);
    }
    const user = world.findAccount(c.req.param('login'));
    if (!user || !org.members.has(user.id)) throw notFound();
    return c.json(membershipJson(org, user));
  });

  api.get('/rate_limit', (c) => {
    const core = limits.read(c.get('holder'), 'core');
    const graphql = limits.read(c.get('holder'), 'graphql');
    return c.json({ resources: { core, graphql }, rate: core });
  });
}

/** The person behind a token; installations stand for nobody. */
function person(c: ApiContext): Account {
  const principal = c.get('principal');
  if (principal.kind === 'user') return principal.token.user;
  if (principal.kind === 'installation') throw notAccessible();
  throw new GitHubError(401, 'Requires authentication');
}
