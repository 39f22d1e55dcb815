import { instantJson } from '../json/instant-json.ts';
import { bodyOf, type Api, type ApiContext, type Parts } from '../http/api.ts';
import { GitHubError, invalid, notFound } from '../http/github-error.ts';
import { mergeQueueVerbs } from '../actions/merge-queue-verbs.ts';
import { makeRuleset, tellRuleset, type RulesetContent } from '../actions/branch-rules.ts';
import { page } from '../http/paging.ts';
import { permits, reaches, roleOf } from '../state/access.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { rulesetsOn } from '../state/branch-rules.ts';
import { administer, refuseByPlan } from './branch-routes.ts';
import { onRepository } from './on-repository.ts';
import type { BypassActor, Repository, RequiredCheck, Ruleset } from '../state/model.ts';

/** The rulesets of a repository. Reading needs `metadata`. Only people who can edit a ruleset see who can bypass it. */
export function rulesetRoutes(api: Api, { world, webhooks, queues }: Parts): void {
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
    const all = [...parents, ...repository.rulesets];
    return c.json(page(c, all).map((each) => summary(world, repository, each)));
  });

  const mayWrite = (c: ApiContext, repository: Repository) => {
    administer(c, repository);
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
    if (ruleset.otherRules.some(({ type }) => type === 'merge_queue'))
      // GitHub has a queue only where the whole name of the branch is given.
      for (const ref of ruleset.refs.include)
        mergeQueueVerbs(world, queues).enableMergeQueue(
          fullNameOf(repository),
          ref.slice('refs/heads/'.length),
        );
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

function rulesOf({ checks, strict, otherRules }: Ruleset) {
  if (checks.length === 0) return otherRules;
  return [
    ...otherRules,
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
    created_at: instantJson(createdAt),
    updated_at: instantJson(updatedAt),
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

const kinds = [
  ...['creation', 'update', 'deletion', 'required_linear_history', 'merge_queue', 'required_deployments'],
  ...['required_signatures', 'pull_request', 'required_status_checks', 'non_fast_forward', 'workflows'],
  ...['commit_message_pattern', 'commit_author_email_pattern', 'committer_email_pattern', 'code_scanning'],
  ...['branch_name_pattern', 'tag_name_pattern', 'copilot_code_review'],
];

/** What GitHub says of a body that its schema does not allow. */
const unfit = (what: string) => new GitHubError(422, `Invalid request.\n\n${what}`);
const noInput = (place: string) => unfit(`Invalid property ${place}: data matches no possible input.`);

type RefsBody = { ref_name?: { include?: string[]; exclude?: string[] } };

function rulesetIn(body: Record<string, unknown>): RulesetContent {
  const { name, enforcement, conditions, rules = [], bypass_actors: actors = [] } = body;
  if (typeof name !== 'string' || !name) throw unfit('"name" wasn\'t supplied.');
  const enforcements = ['disabled', 'active', 'evaluate'];
  if (!enforcements.includes(String(enforcement))) {
    const allowed = `Must be one of the following: ${enforcements.join(', ')}.`;
    throw unfit(`Invalid property /enforcement: \`${enforcement}\` is not a possible value. ${allowed}`);
  }
  const { include, exclude } = (conditions as RefsBody | undefined)?.ref_name ?? {};
  if (!Array.isArray(include) || !Array.isArray(exclude)) throw noInput('/conditions');
  const isRef = (pattern: string) =>
    pattern.startsWith('refs/heads/') || ['~ALL', '~DEFAULT_BRANCH'].includes(pattern);
  if (![...include, ...exclude].every(isRef))
    throw invalid('Ruleset', [{ code: 'custom', message: 'Invalid target patterns' }]);
  const read = (rules as RuleBody[]).map((rule, index) => [rule, checksIn(rule, `/rules/${index}`)] as const);
  return {
    name,
    enforcement: enforcement as Ruleset['enforcement'],
    refs: { include, exclude },
    repositories: { include: ['~ALL'], exclude: [] },
    checks: read.flatMap(([, checks]) => checks ?? []),
    strict: read.some(([{ parameters }]) => parameters?.strict_required_status_checks_policy === true),
    otherRules: read.flatMap(([rule, checks]) => (checks === null ? [rule] : [])),
    bypassActors: actors as BypassActor[],
  };
}

type RuleBody = Ruleset['otherRules'][number] & {
  parameters?: { required_status_checks?: unknown; strict_required_status_checks_policy?: unknown };
};

/** The checks that a rule requires; null for a rule of another kind. */
function checksIn({ type, parameters }: RuleBody, place: string): RequiredCheck[] | null {
  if (!kinds.includes(type)) throw noInput(place);
  if (type !== 'required_status_checks') return null;
  const { required_status_checks: checks, strict_required_status_checks_policy: strict } = parameters ?? {};
  if (!Array.isArray(checks) || typeof strict !== 'boolean') throw noInput(place);
  return checks.map(({ context, integration_id: id }: { context: unknown; integration_id?: unknown }) => {
    if (typeof context !== 'string' || (id !== undefined && typeof id !== 'number')) throw noInput(place);
    if (context.length > 255 || (id !== undefined && id < 0))
      throw invalid('Ruleset', [{ code: 'invalid', field: 'required_status_checks' }]);
    return { context, appId: id ?? null };
  });
}
