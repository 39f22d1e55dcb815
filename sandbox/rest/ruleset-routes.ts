import { bodyOf, type Api, type ApiContext, type Parts } from '../http/api.ts';
import { invalid, notFound } from '../http/github-error.ts';
import { makeRuleset } from '../actions/branch-rules.ts';
import { page } from '../http/paging.ts';
import { permits, reaches, roleOf } from '../state/access.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { rulesetsOn } from '../state/branch-rules.ts';
import { administer } from './branch-routes.ts';
import { onRepository } from './on-repository.ts';
import type { BypassActor, Repository, RequiredCheck, Ruleset } from '../state/model.ts';

/** The rulesets of a repository. Reading needs `metadata`. Only people who can edit a ruleset see who can bypass it. */
export function rulesetRoutes(api: Api, { world }: Parts): void {
  onRepository(api, world, 'get', '/rules/branches/:branch', (c, repository) => {
    const rules = rulesetsOn(repository, c.req.param('branch') ?? '').flatMap((ruleset) =>
      rulesOf(ruleset).map((rule) => ({
        ...rule,
        ruleset_source_type: sourceType(ruleset),
        ruleset_source: sourceName(ruleset),
        ruleset_id: ruleset.id,
      })),
    );
    return c.json(page(c, rules));
  });

  onRepository(api, world, 'get', '/rulesets', (c, repository) => {
    const parents = c.req.query('includes_parents') === 'false' ? [] : repository.owner.rulesets;
    return c.json(
      page(c, [...parents, ...repository.rulesets]).map((each) => summary(world, repository, each)),
    );
  });

  onRepository(api, world, 'post', '/rulesets', async (c, repository) => {
    administer(c, repository, 'write');
    const ruleset = makeRuleset(world, repository, rulesetIn(await bodyOf(c)));
    return c.json(whole(c, world, repository, ruleset), 201);
  });

  onRepository(api, world, 'get', '/rulesets/:id', (c, repository) => {
    const all = [...repository.owner.rulesets, ...repository.rulesets];
    const ruleset = all.find(({ id }) => String(id) === c.req.param('id'));
    if (!ruleset) throw notFound();
    return c.json(whole(c, world, repository, ruleset));
  });
}

const sourceType = ({ source }: Ruleset) => ('owner' in source ? 'Repository' : 'Organization');
const sourceName = ({ source }: Ruleset) => ('owner' in source ? fullNameOf(source) : source.login);

function rulesOf({ checks, strict }: Ruleset) {
  if (checks.length === 0) return [];
  return [
    {
      type: 'required_status_checks',
      parameters: {
        strict_required_status_checks_policy: strict,
        do_not_enforce_on_create: false,
        required_status_checks: checks.map(({ context, appId }) => ({
          context,
          ...(appId !== null && { integration_id: appId }),
        })),
      },
    },
  ];
}

function summary(world: World, repository: Repository, ruleset: Ruleset) {
  const { id, name, enforcement, createdAt } = ruleset;
  const page =
    'owner' in ruleset.source
      ? `${fullNameOf(repository)}/rules`
      : `organizations/${sourceName(ruleset)}/settings/rules`;
  return {
    id,
    name,
    target: 'branch',
    source_type: sourceType(ruleset),
    source: sourceName(ruleset),
    enforcement,
    _links: {
      self: { href: `${world.url}/repos/${fullNameOf(repository)}/rulesets/${id}` },
      html: { href: `https://github.com/${page}/${id}` },
    },
    created_at: createdAt.toISOString(),
    updated_at: createdAt.toISOString(),
  };
}

function whole(c: ApiContext, world: World, repository: Repository, ruleset: Ruleset) {
  const { refs, repositories, bypassActors } = ruleset;
  return {
    ...summary(world, repository, ruleset),
    conditions: {
      ref_name: refs,
      ...('owner' in ruleset.source ? {} : { repository_name: { ...repositories, protected: false } }),
    },
    rules: rulesOf(ruleset),
    ...(mayEdit(c, repository, ruleset) && { bypass_actors: bypassActors }),
  };
}

function mayEdit(c: ApiContext, repository: Repository, { source }: Ruleset): boolean {
  const principal = c.get('principal');
  const ofOrganization = !('owner' in source);
  if (principal.kind === 'installation') {
    const { token } = principal;
    const permission = ofOrganization ? 'organization_administration' : 'administration';
    return reaches(token, repository) && permits(token.permissions, permission, 'write');
  }
  if (principal.kind !== 'user') return false;
  const { user } = principal.token;
  return ofOrganization ? source.members.get(user.id) === 'admin' : roleOf(user, repository) === 'admin';
}

type RuleBody = { type?: unknown; parameters?: { required_status_checks?: unknown } };
type RefsBody = { ref_name?: { include?: string[]; exclude?: string[] } };

function rulesetIn(body: Record<string, unknown>): Omit<Ruleset, 'id' | 'source' | 'createdAt'> {
  const { name, enforcement, conditions, rules = [], bypass_actors: actors = [] } = body;
  if (typeof name !== 'string' || !name) throw invalid('Ruleset', [{ code: 'missing_field', field: 'name' }]);
  if (!['active', 'evaluate', 'disabled'].includes(String(enforcement))) {
    throw invalid('Ruleset', [{ code: 'invalid', field: 'enforcement' }]);
  }
  const { include = [], exclude = [] } = (conditions as RefsBody | undefined)?.ref_name ?? {};
  return {
    name,
    enforcement: enforcement as Ruleset['enforcement'],
    refs: { include, exclude },
    repositories: { include: ['~ALL'], exclude: [] },
    checks: (rules as RuleBody[]).flatMap(checksIn),
    strict: false,
    bypassActors: actors as BypassActor[],
  };
}

function checksIn({ type, parameters }: RuleBody): RequiredCheck[] {
  const checks = parameters?.required_status_checks;
  if (type !== 'required_status_checks' || !Array.isArray(checks)) {
    throw invalid('Ruleset', [{ code: 'invalid', field: 'rules' }]);
  }
  return checks.map(({ context, integration_id: id }: { context: string; integration_id?: number }) => ({
    context,
    appId: id ?? null,
  }));
}
