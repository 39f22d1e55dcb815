import { instantJson } from '../json/instant-json.ts';
import { bodyOf, type Api, type ApiContext, type Parts } from '../http/api.ts';
import { GitHubError, invalid, notAccessible, upgradeNeeded } from '../http/github-error.ts';
import { roleOf, scopesAllow } from '../state/access.ts';
import { accountJson } from '../json/account-json.ts';
import { nodeId } from '../state/ids.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { hasRules, rulesetsOn } from '../state/branch-rules.ts';
import { demand, onRepository, reading } from './on-repository.ts';
import type { BranchProtection, Repository, RequiredCheck } from '../state/model.ts';

/** Branches, who moved them, and their classic protection. */
export function branchRoutes(api: Api, { world }: Parts): void {
  // Newest first. Nothing that asks the sandbox reads beyond the first page.
  onRepository(api, world, 'get', '/activity', (c, repository) => {
    demand(c, repository, reading);
    const branch = c.req.query('ref')?.replace(/^refs\/heads\//, '');
    const [type, isOfWeek] = [c.req.query('activity_type'), c.req.query('time_period') === 'week'];
    const activities = repository.activities.filter(
      (each) =>
        (!branch || each.branch === branch) &&
        (!type || each.type === type) &&
        (!isOfWeek || world.now().getTime() - each.at.getTime() < 7 * 86_400_000),
    );
    return c.json(
      activities.slice(0, Number(c.req.query('per_page') ?? 30)).map((activity) => ({
        id: activity.id,
        node_id: nodeId('Push', repository.id, activity.id),
        before: activity.before,
        after: activity.after,
        ref: `refs/heads/${activity.branch}`,
        timestamp: instantJson(activity.at),
        activity_type: activity.type,
        actor: accountJson(world, activity.actor),
      })),
    );
  });

  onRepository(api, world, 'get', '/branches/:branch', (c, repository) => {
    demand(c, repository, reading);
    const name = c.req.param('branch') ?? '';
    const sha = repository.branches.get(name);
    const present = repository.renamedBranches.get(name);
    if (!sha && present !== undefined) {
      const url = `${world.url}/repositories/${repository.id}/branches/${encodeURIComponent(present)}`;
      c.header('location', url);
      return c.json({ message: 'Moved Permanently', url }, 301);
    }
    if (!sha) throw new GitHubError(404, 'Branch not found');
    return c.json(branchJson(world, repository, name, sha));
  });

  onRepository(api, world, 'get', '/branches/:branch/protection', (c, repository) => {
    administer(c, repository);
    refuseByPlan(repository);
    const protection = protectionIn(c, repository);
    const { enforceAdmins } = protection;
    return c.json({
      url: urlOf(c, world, repository),
      ...(protection.checks.length > 0 && {
        required_status_checks: checksJson(c, world, repository, protection),
      }),
      enforce_admins: { url: `${urlOf(c, world, repository)}/enforce_admins`, enabled: enforceAdmins },
    });
  });

  const path = '/branches/:branch/protection/required_status_checks';
  onRepository(api, world, 'get', path, (c, repository) => {
    administer(c, repository);
    refuseByPlan(repository);
    const protection = protectionIn(c, repository);
    if (protection.checks.length === 0) throw new GitHubError(404, 'Required status checks not enabled');
    return c.json(checksJson(c, world, repository, protection));
  });

  onRepository(api, world, 'patch', path, async (c, repository) => {
    administer(c, repository);
    refuseByPlan(repository);
    const protection = protectionIn(c, repository);
    const { checks, strict } = await bodyOf(c);
    if (checks !== undefined) protection.checks = checksIn(checks);
    if (typeof strict === 'boolean') protection.strict = strict;
    return c.json(checksJson(c, world, repository, protection));
  });
}

/** Requires that a person is an admin of the repository. */
export function administer(c: ApiContext, repository: Repository): void {
  const principal = c.get('principal');
  if (principal.kind === 'installation') return;
  if (principal.kind !== 'user') throw new GitHubError(401, 'Requires authentication');
  const { token } = principal;
  if (roleOf(token.user, repository) !== 'admin' || !scopesAllow(token, repository))
    throw new GitHubError(404, 'Not Found');
  if (!token.administration) throw notAccessible();
}

/** GitHub refuses to show rules, too. */
export function refuseByPlan(repository: Repository): void {
  if (!hasRules(repository)) throw upgradeNeeded();
}

function protectionIn(c: ApiContext, repository: Repository): BranchProtection {
  const name = c.req.param('branch') ?? '';
  if (!repository.branches.has(name)) throw new GitHubError(404, 'Branch not found');
  const protection = repository.protection.get(name);
  if (!protection) throw new GitHubError(404, 'Branch not protected');
  return protection;
}

const urlOf = (c: ApiContext, world: World, repository: Repository) =>
  `${world.url}/repos/${fullNameOf(repository)}/branches/${c.req.param('branch')}/protection`;

const checkJson = ({ context, appId }: RequiredCheck) => ({ context, app_id: appId });

function checksJson(
  c: ApiContext,
  world: World,
  repository: Repository,
  { checks, strict }: BranchProtection,
) {
  const url = `${urlOf(c, world, repository)}/required_status_checks`;
  const contexts = checks.map(({ context }) => context);
  return { url, strict, contexts, contexts_url: `${url}/contexts`, checks: checks.map(checkJson) };
}

/** -1 means any source. Without a value, GitHub uses the App that last set it; the sandbox uses any. */
function checksIn(value: unknown): RequiredCheck[] {
  const refuse = () => invalid('ProtectedBranch', [{ code: 'invalid', field: 'checks' }]);
  if (!Array.isArray(value)) throw refuse();
  return value.map((each: { context?: unknown; app_id?: unknown } | null) => {
    const { context, app_id: app } = each ?? {};
    if (typeof context !== 'string') throw refuse();
    return { context, appId: typeof app === 'number' && app !== -1 ? app : null };
  });
}

/** A branch with its protection. */
export function branchJson(world: World, repository: Repository, name: string, sha: string) {
  const protection = repository.protection.get(name);
  const url = `${world.url}/repos/${fullNameOf(repository)}/branches/${encodeURI(name)}`;
  return {
    name,
    commit: {
      sha,
      node_id: `${nodeId('Commit', repository.id)}_${sha}`,
      url: `${world.url}/repos/${fullNameOf(repository)}/commits/${sha}`,
    },
    _links: { self: url, html: `https://github.com/${fullNameOf(repository)}/tree/${name}` },
    protected: protection !== undefined || rulesetsOn(repository, name).length > 0,
    protection: {
      enabled: protection !== undefined,
      required_status_checks: {
        enforcement_level: protection ? (protection.enforceAdmins ? 'everyone' : 'non_admins') : 'off',
        contexts: (protection?.checks ?? []).map(({ context }) => context),
        checks: (protection?.checks ?? []).map(checkJson),
      },
    },
    protection_url: `${url}/protection`,
  };
}
