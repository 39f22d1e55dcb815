import { createHash } from 'node:crypto';
import { bodyOf, type Api, type ApiContext, type Parts } from '../http/api.ts';
import { invalid, notFound } from '../http/github-error.ts';
import { makeRuleset, tellRuleset, type RulesetContent } from '../actions/branch-rules.ts';
import { page } from '../http/paging.ts';
import { permits, reaches, roleOf } from '../state/access.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { rulesetsOn } from '../state/branch-rules.ts';
import { administer, refuseByPlan } from './branch-routes.ts';
import { onRepository } from './on-repository.ts';
import type { BypassActor, Repository, RequiredCheck, Ruleset } from '../state/model.ts';

/** The rulesets of a repository. Reading needs `metadata`. Only people who can edit a ruleset see who can bypass it. */
export function rulesetRoutes(api: Api, { world, webhooks }: Parts): void {
  onRepository(api, world, 'get', '/rules/branches/:branch', (c, repository) => {
    refuseByPlan(repository);
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
    refuseByPlan(repository);
    const parents = c.req.query('includes_parents') === 'false' ? [] : repository.owner.rulesets;
    const all = page(c, [...parents, ...repository.rulesets]).map((each) => summary(world, repository, each));
    const etag = `W/"${createHash('sha256').update(JSON.stringify(all)).digest('hex')}"`;
    if (c.req.header('if-none-match') === etag) return c.body(null, 304, { etag });
    return c.json(all, 200, { etag });
  });

  const mayWrite = (c: ApiContext, repository: Repository) => {
    administer(c, repository, 'write');
    refuseByPlan(repository);
  };
  const own = (c: ApiContext, repository: Repository) => {
    const ruleset = repository.rulesets.find(({ id }) => String(id) === c.req.param('id'));
    if (!ruleset) throw notFound();
    return ruleset;
  };

  onRepository(api, world, 'post', '/rulesets', async (c, repository) => {
    mayWrite(c, repository);
    if (repository.rulesets.length >= mostRulesets)
      throw invalid('Ruleset', [
        { code: 'custom', message: `You can have at most ${mostRulesets} rulesets` },
      ]);
    const ruleset = makeRuleset(world, repository, rulesetIn(await bodyOf(c)));
    tellRuleset(world, webhooks, 'created', ruleset);
    return c.json(whole(c, world, repository, ruleset), 201);
  });

  // GitHub keeps what the body leaves out.
  onRepository(api, world, 'put', '/rulesets/:id', async (c, repository) => {
    mayWrite(c, repository);
    const ruleset = own(c, repository);
    const { bypassActors } = ruleset;
    const change = rulesetIn({
      ...bodyOfRuleset(ruleset),
      bypass_actors: bypassActors,
      ...(await bodyOf(c)),
    });
    world.rulesetFaults.changing(ruleset);
    if (!world.rulesetFaults.ignores()) Object.assign(ruleset, change, { updatedAt: world.now() });
    tellRuleset(world, webhooks, 'edited', ruleset);
    return c.json(whole(c, world, repository, ruleset));
  });

  onRepository(api, world, 'delete', '/rulesets/:id', (c, repository) => {
    mayWrite(c, repository);
    const ruleset = own(c, repository);
    repository.rulesets = repository.rulesets.filter((each) => each !== ruleset);
    tellRuleset(world, webhooks, 'deleted', ruleset);
    return c.body(null, 204);
  });

  onRepository(api, world, 'get', '/rulesets/:id', (c, repository) => {
    refuseByPlan(repository);
    const all = [...repository.owner.rulesets, ...repository.rulesets];
    const ruleset = all.find(({ id }) => String(id) === c.req.param('id'));
    if (!ruleset) throw notFound();
    return c.json(whole(c, world, repository, world.rulesetFaults.shown(ruleset)));
  });
}

const mostRulesets = 75;

const sourceType = ({ source }: Ruleset) => ('owner' in source ? 'Repository' : 'Organization');
const sourceName = ({ source }: Ruleset) => ('owner' in source ? fullNameOf(source) : source.login);

function rulesOf({ checks, strict }: Ruleset) {
  if (checks.length === 0) return [];
  return [
    {
      type: 'required_status_checks',
      parameters: {
        strict_required_status_checks_policy: strict,
        do_not_enforce_on_create: true,
        required_status_checks: checks.map(({ context, appId }) => ({
          context,
          ...(appId !== null && { integration_id: appId }),
        })),
      },
    },
  ];
}

function summary(world: World, repository: Repository, ruleset: Ruleset) {
  const { id, name, enforcement, createdAt, updatedAt } = ruleset;
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
    updated_at: updatedAt.toISOString(),
  };
}

const bodyOfRuleset = (ruleset: Ruleset) => ({
  name: ruleset.name,
  enforcement: ruleset.enforcement,
  conditions: { ref_name: ruleset.refs },
  rules: rulesOf(ruleset),
});

function whole(c: ApiContext, world: World, repository: Repository, ruleset: Ruleset) {
  const { refs, repositories, bypassActors } = ruleset;
  return {
    ...summary(world, repository, ruleset),
    ...bodyOfRuleset(ruleset),
    conditions: {
      ref_name: refs,
      ...('owner' in ruleset.source ? {} : { repository_name: { ...repositories, protected: false } }),
    },
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

function rulesetIn(body: Record<string, unknown>): RulesetContent {
  const { name, enforcement, conditions, rules = [], bypass_actors: actors = [] } = body;
  if (typeof name !== 'string' || !name) throw invalid('Ruleset', [{ code: 'missing_field', field: 'name' }]);
  if (!['active', 'evaluate', 'disabled'].includes(String(enforcement))) {
    throw invalid('Ruleset', [{ code: 'invalid', field: 'enforcement' }]);
  }
  const { include = [], exclude = [] } = (conditions as RefsBody | undefined)?.ref_name ?? {};
  const isRef = (pattern: string) =>
    pattern.startsWith('refs/heads/') || ['~ALL', '~DEFAULT_BRANCH'].includes(pattern);
  if (![...include, ...exclude].every(isRef))
    throw invalid('Ruleset', [{ code: 'custom', message: 'Invalid target patterns' }]);
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
  return checks.map(({ context, integration_id: id }: { context: string; integration_id?: number }) => {
    if (context.length > 255 || (id !== undefined && id < 0))
      throw invalid('Ruleset', [{ code: 'invalid', field: 'required_status_checks' }]);
    return { context, appId: id ?? null };
  });
}
