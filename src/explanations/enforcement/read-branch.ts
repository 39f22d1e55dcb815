import type { Grants } from '../../github/app-manifest.ts';
import { isGitHubStatus, upgradeIn } from '../../github/github-error.ts';
import { type Fact, known, unknownFact } from '../../github/pull-requests/pull-request.ts';
import type { GitHubClient } from '../../github/github-app.ts';
import { type Asking, askInTime } from './ask.ts';
import type { LookedAtBranch, BranchFacts, DormantRuleset, Requirement } from './judge-branch.ts';

/** GitHub ignores the case of contexts. */
const isOurs = (asking: Asking, context: string): boolean =>
  context.toLowerCase() === asking.deps.config.statusContext.toLowerCase();

/** The App that must post a status. Both `null` and -1 mean any. */
const sourceOf = (id: number | null | undefined): number | null =>
  id === undefined || id === -1 ? null : id;

/** Reads what requires our check on a branch, but not bypass lists and merge queues. */
export async function readRequirements(asking: Asking, branch: LookedAtBranch): Promise<BranchFacts> {
  const [protection, rules] = await Promise.all([
    readProtection(asking, branch.name),
    readRules(asking, branch.name),
  ]);
  const upgrade = rules.known ? rules.value.upgrade : null;
  const about = { ...branch, leadsTo: protection.known ? protection.value.leadsTo : null, upgrade };
  const exists = protection.known ? known(protection.value.exists) : protection;
  // GitHub goes on showing what was set before an account chose a lesser plan, and enforces nothing of it.
  if (upgrade !== null) return { ...about, exists, requirements: [], notRead: [], hasQueue: known(false) };
  return {
    ...about,
    exists,
    requirements: [
      ...(protection.known ? protection.value.requirements : []),
      ...(rules.known ? rules.value.requirements : []),
    ],
    notRead: [protection, rules].flatMap((fact) => (fact.known ? [] : [fact.reason])),
    hasQueue: rules.known && rules.value.hasQueue ? known(true) : unknownFact('it was not read'),
  };
}

/** Reads all facts about a branch. */
export async function readBranch(
  asking: Asking,
  branch: LookedAtBranch,
  grants: Fact<Grants>,
  readRuleset: ReadRuleset,
): Promise<BranchFacts> {
  const facts = await readRequirements(asking, branch);
  const [hasQueue, requirements] = await Promise.all([
    facts.hasQueue.known ? facts.hasQueue : readHasQueue(asking, branch.name, grants),
    Promise.all(facts.requirements.map((each) => withBypass(each, readRuleset))),
  ]);
  return { ...facts, hasQueue, requirements };
}

async function withBypass(requirement: Requirement, readRuleset: ReadRuleset): Promise<Requirement> {
  const { by } = requirement;
  if (by.kind === 'protection') return requirement;
  const ruleset = await readRuleset(by.id);
  const name = ruleset.known ? ruleset.value.name : null;
  return { ...requirement, by: { ...by, name }, bypass: readBypass(ruleset) };
}

type Protection = { exists: boolean; leadsTo: string | null; requirements: Requirement[] };

/**
 * What classic branch protection requires, as the branch shows it. That takes `contents: read`; reading the protection
 * itself would take `administration`.
 */
function readProtection(asking: Asking, branch: string): Promise<Fact<Protection>> {
  return askInTime(asking, 'installation', async ({ rest }, named) => {
    try {
      const { data } = await rest.repos.getBranch({ ...named, branch });
      // GitHub redirects from the former name of a branch, and answers with the present branch.
      if (data.name !== branch) return { exists: false, leadsTo: data.name, requirements: [] };
      return { exists: true, leadsTo: null, requirements: requirementsIn(asking, data) };
    } catch (error) {
      // Any other 404 means that we have no permission to see it.
      if (isGitHubStatus(error, 404) && error.message.startsWith('Branch not found'))
        return { exists: false, leadsTo: null, requirements: [] };
      throw error;
    }
  });
}

type ShownBranch = Awaited<ReturnType<GitHubClient['rest']['repos']['getBranch']>>['data'];

function requirementsIn(asking: Asking, shown: ShownBranch): Requirement[] {
  const required = shown.protected ? shown.protection.required_status_checks : undefined;
  if (!required) return [];
  // Older servers have contexts but no checks.
  const checks: { context: string; app_id: number | null }[] =
    required.checks ?? required.contexts.map((context) => ({ context, app_id: null }));
  return checks
    .filter(({ context }) => isOurs(asking, context))
    .map(({ app_id: id }) => ({
      by: { kind: 'protection' },
      appId: sourceOf(id),
      bypass: bypassOf(required.enforcement_level),
    }));
}

/** Maps the level that "Do not allow bypassing the above settings" sets. */
function bypassOf(level: string | undefined): Fact<string[]> {
  if (level === 'everyone') return known([]);
  if (level === 'non_admins') return known(['admins, and roles that can bypass branch protections,']);
  return unknownFact('GitHub only shows it to admins');
}

type Rules = { requirements: Requirement[]; hasQueue: boolean; upgrade: string | null };

function readRules(asking: Asking, branch: string): Promise<Fact<Rules>> {
  return askInTime(asking, 'installation', async (client, named) => {
    const about = { ...named, branch, per_page: 100 };
    const reading = client.paginate(client.rest.repos.getBranchRules, about);
    const rules = await reading.catch(upgradeOrThrow);
    if (typeof rules === 'string') return { requirements: [], hasQueue: false, upgrade: rules };
    const requirements = rules.flatMap((rule): Requirement[] => {
      if (rule.type !== 'required_status_checks') return [];
      const checks = rule.parameters?.required_status_checks ?? [];
      const by = {
        kind: 'ruleset' as const,
        id: rule.ruleset_id ?? 0,
        level: rule.ruleset_source_type ?? 'Repository',
        source: rule.ruleset_source ?? '',
        name: null,
      };
      return checks
        .filter(({ context }) => isOurs(asking, context))
        .map(({ integration_id: id }) => ({
          by,
          appId: sourceOf(id),
          bypass: unknownFact('it was not read'),
        }));
    });
    return { requirements, hasQueue: rules.some(({ type }) => type === 'merge_queue'), upgrade: null };
  });
}

/** Where the plan of the account has no rules, GitHub says so: that is an answer. @throws any other error. */
function upgradeOrThrow(error: unknown): string {
  const upgrade = upgradeIn(error);
  if (upgrade === null) throw error;
  return upgrade;
}

const queueQuery = /* GraphQL */ `
  query HasMergeQueue($owner: String!, $name: String!, $branch: String!) {
    repository(owner: $owner, name: $name) {
      mergeQueue(branch: $branch) {
        id
      }
    }
  }
`;

type QueueAnswer = { repository: { mergeQueue: { id: string } | null } | null };

/** Classic protection can require a queue, too, and only GraphQL shows that. Null without the permission says nothing. */
async function readHasQueue(asking: Asking, branch: string, grants: Fact<Grants>): Promise<Fact<boolean>> {
  if (grants.known && grants.value.permissions['merge_queues'] === undefined) {
    return unknownFact('Holdfast lacks the permission merge_queues: read');
  }
  return askInTime(asking, 'installation', async (client, { owner, repo: name, request }) => {
    const answer: QueueAnswer = await client.graphql(queueQuery, { owner, name, branch, request });
    return Boolean(answer.repository?.mergeQueue);
  });
}

/** Rulesets that one more call is worth, where a branch turns out to require nothing. */
const mostDormant = 10;

/** Rulesets that require our check, were they active. Which branches they are meant for is theirs to say. */
export async function readDormant(asking: Asking, readRuleset: ReadRuleset): Promise<DormantRuleset[]> {
  const list = await askInTime(
    asking,
    'installation',
    async ({ rest }, named) => (await rest.repos.getRepoRulesets({ ...named, per_page: 100 })).data,
  );
  if (!list.known) return [];
  const asleep = list.value.filter(
    ({ enforcement, target }) => enforcement !== 'active' && (target ?? 'branch') === 'branch',
  );
  const rulesets = await Promise.all(asleep.slice(0, mostDormant).map(({ id }) => readRuleset(id)));
  return rulesets.flatMap((ruleset) =>
    ruleset.known && requiresOurs(asking, ruleset.value) ? [dormant(ruleset.value)] : [],
  );
}

const requiresOurs = (asking: Asking, { rules }: BranchRuleset): boolean =>
  (rules ?? []).some(
    (rule) =>
      rule.type === 'required_status_checks' &&
      rule.parameters?.required_status_checks.some(({ context }) => isOurs(asking, context)),
  );

const dormant = ({ id, name, source, source_type: level, enforcement }: BranchRuleset): DormantRuleset => ({
  kind: 'ruleset',
  id,
  name,
  source,
  level: level ?? 'Repository',
  enforcement,
});

type BranchRuleset = Awaited<ReturnType<GitHubClient['rest']['repos']['getRepoRuleset']>>['data'];
type Actor = NonNullable<BranchRuleset['bypass_actors']>[number];

type ReadRuleset = (id: number) => Promise<Fact<BranchRuleset>>;

/** Reads rulesets of the repository, its organization or its enterprise. Reads each once, even for many branches. */
export function rulesetReader(asking: Asking): ReadRuleset {
  const read = (id: number): Promise<Fact<BranchRuleset>> =>
    askInTime(
      asking,
      'installation',
      async ({ rest }, named) => (await rest.repos.getRepoRuleset({ ...named, ruleset_id: id })).data,
    );
  const answers = new Map<number, Promise<Fact<BranchRuleset>>>();
  return (id) => {
    const answer = answers.get(id) ?? read(id);
    answers.set(id, answer);
    return answer;
  };
}

/** Who may bypass a ruleset, in words. GitHub only says so to those who may edit it. Holdfast may not. */
function readBypass(ruleset: Fact<BranchRuleset>): Fact<string[]> {
  if (!ruleset.known) return ruleset;
  const actors = ruleset.value.bypass_actors;
  return actors
    ? known(actors.map(bypassActorName))
    : unknownFact('GitHub only shows it to people who can edit the ruleset');
}

/** GitHub's ids for its built-in roles. */
const roles: Record<number, string> = {
  2: 'maintainers',
  4: 'everybody with write access',
  5: 'repository admins',
};

/** Who can bypass a ruleset, in words. */
export function bypassActorName({
  actor_type: type,
  actor_id: id,
}: Pick<Actor, 'actor_type' | 'actor_id'>): string {
  switch (type) {
    case 'OrganizationAdmin':
      return 'organization owners';
    case 'RepositoryRole':
      return roles[id ?? 0] ?? `the role ${id}`;
    case 'DeployKey':
      return 'deploy keys';
    case 'Integration':
      return `the App ${id}`;
    default:
      return `the ${type.toLowerCase()} ${id}`;
  }
}
