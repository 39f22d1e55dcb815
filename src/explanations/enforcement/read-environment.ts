import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import { isMap, isScalar, LineCounter, type Node, parseDocument, type Scalar } from 'yaml';
import { isRuleEnabled } from '../../deployments/ask-github.ts';
import { type Grants, missingPermissions } from '../../github/app-manifest.ts';
import { type Fact, unknownFact } from '../../github/pull-requests/pull-request.ts';
import { type Asking, askInTime } from './ask.ts';
import type { DeployingJob, Environments, Workflows } from './judge-environments.ts';

/**
 * Whether GitHub waits for Holdfast before a job deploys to an environment: our protection rule is enabled there. False
 * also if there is no such environment. It takes `actions: read`.
 */
export const waitsForUs = (asking: Asking, environment: string): Promise<Fact<boolean>> =>
  askInTime(asking, 'installation', (client, named) =>
    isRuleEnabled(client, named, asking.deps.config.app.id, environment),
  );

/** How many environments we look at, and how many of them at once. */
const mostEnvironments = 20;
const environmentsAtOnce = 4;

/** The environments of a repository. @param grants what the installation granted. */
export async function readEnvironments(asking: Asking, grants: Grants): Promise<Fact<Environments>> {
  if (missingPermissions(grants, { actions: 'read' }).length > 0)
    return unknownFact('it needs Actions: read');
  return askInTime(asking, 'installation', async ({ rest }, named) => {
    const { data } = await rest.repos.getAllEnvironments({ ...named, per_page: mostEnvironments });
    const listed = data.environments ?? [];
    const environments = await pLimit(environmentsAtOnce).map(
      listed,
      async ({ id, name, ...environment }) => {
        const about = { ...named, environment_name: name };
        const { data: found } = await rest.repos.getAllDeploymentProtectionRules(about);
        const rules = (found.custom_deployment_protection_rules ?? []).filter(({ enabled }) => enabled);
        // GitHub answers with it, and does not document it.
        const { can_admins_bypass: adminsBypass } = environment as { can_admins_bypass?: boolean };
        return {
          id,
          name,
          waits: rules.some(({ app }) => app.id === asking.deps.config.app.id),
          rules: rules.length,
          adminsBypass: adminsBypass ?? true,
        };
      },
    );
    return { environments, total: data.total_count ?? environments.length };
  });
}

/** A text without any of these says nothing that we look for. Reading YAML is slow. */
const worthReading =
  /deployment["']?\s*:|environment["']?\s*:\s*[>|]?[-+]?\s*["']?\$\{\{|\/\.github\/workflows\//;

const isExpression = (value: unknown): boolean => typeof value === 'string' && value.includes('${{');

/**
 * The jobs of a workflow that say `deployment: false`, and those of which the file alone does not tell: an expression
 * decides, or a workflow of another repository.
 */
export function readJobs(path: string, text: string): DeployingJob[] {
  if (!worthReading.test(text)) return [];
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (node: Node) => `${path}:${lines.linePos(node.range![0]).line}`;
  const cannotTell = (node: Node): DeployingJob[] => [
    { place: at(node), environment: null, without: 'cannot tell' },
  ];
  if (document.errors.length > 0) return [{ place: path, environment: null, without: 'cannot tell' }];
  /** The key and the value of a field, also through an alias. */
  const field = (of: unknown, name: string): [Scalar, Node] | null => {
    const pair = isMap(of) ? of.items.find(({ key }) => isScalar(key) && key.value === name) : null;
    return pair ? [pair.key as Scalar, pair.value as Node] : null;
  };
  const whole = (node: unknown): unknown =>
    (node as { resolve?: (of: object) => unknown } | null)?.resolve?.(document) ?? node;
  const jobs = whole(field(document.contents, 'jobs')?.[1]);
  if (!isMap(jobs)) return [];
  return jobs.items.flatMap((item) => {
    const job = whole(item.value);
    const [called, uses] = field(job, 'uses') ?? [];
    if (called && isScalar(uses) && !String(uses.value).startsWith('./')) return cannotTell(called);
    const [key, given] = field(job, 'environment') ?? [];
    const environment = whole(given);
    if (key && isScalar(environment) && isExpression(environment.value)) return cannotTell(key);
    const [said, deployment] = field(environment, 'deployment') ?? [];
    const value = whole(deployment);
    if (!said || !isScalar(value)) return [];
    if (isExpression(value.value)) return cannotTell(said);
    if (String(value.value) !== 'false') return [];
    const name = whole(field(environment, 'name')?.[1]);
    const isNamed = isScalar(name) && !isExpression(name.value);
    return { place: at(said), environment: isNamed ? String(name.value) : null, without: 'deployment' };
  });
}

/** How many workflows we read, and how large they may be. */
const mostWorkflows = 50;
const mostBytes = 50_000;
const mostBytesTogether = 500_000;

const folder = '.github/workflows';

const listQuery = `
  query workflows($owner: String!, $name: String!, $tree: String!) {
    repository(owner: $owner, name: $name) {
      object(expression: $tree) { ... on Tree { entries { name object { ... on Blob { byteSize } } } } }
    }
  }`;
type ListAnswer = {
  repository: { object: { entries?: { name: string; object: { byteSize?: number } | null }[] } | null };
};

/** Several files in one request. */
const textsQuery = (count: number): string => {
  const files = Array.from({ length: count }, (_, index) => index);
  return `
    query texts($owner: String!, $name: String!, ${files.map((index) => `$f${index}: String!`).join(', ')}) {
      repository(owner: $owner, name: $name) {
        ${files.map((index) => `f${index}: object(expression: $f${index}) { ... on Blob { text } }`).join('\n')}
      }
    }`;
};
type TextsAnswer = { repository: Record<string, { text?: string | null } | null> };

/**
 * What the workflows of the default branch say, in two requests.
 * @param grants what the installation granted.
 */
export async function readWorkflows(asking: Asking, grants: Grants): Promise<Fact<Workflows>> {
  if (missingPermissions(grants, { contents: 'read' }).length > 0)
    return unknownFact('it needs Contents: read');
  return askInTime(asking, 'installation', async (client, { owner, repo: name, request }) => {
    const about = { owner, name, request };
    const list: ListAnswer = await client.graphql(listQuery, { ...about, tree: `HEAD:${folder}` });
    const files = (list.repository.object?.entries ?? [])
      .filter((each) => /\.ya?ml$/i.test(each.name))
      .map((each) => ({ path: `${folder}/${each.name}`, size: each.object?.byteSize ?? Infinity }));
    let left = mostBytesTogether;
    const chosen = files
      .filter(({ size }) => size <= mostBytes && (left -= size) >= 0)
      .slice(0, mostWorkflows)
      .map(({ path }) => path);
    const unread = files.map(({ path }) => path).filter((path) => !chosen.includes(path));
    if (chosen.length === 0) return { jobs: [], unread };
    const expressions = chosen.map((path, index) => [`f${index}`, `HEAD:${path}`]);
    const variables = { ...about, ...(Object.fromEntries(expressions) as object) };
    const texts: TextsAnswer = await client.graphql(textsQuery(chosen.length), variables);
    const jobs: DeployingJob[] = [];
    for (const [index, path] of chosen.entries()) {
      jobs.push(...readJobs(path, texts.repository[`f${index}`]?.text ?? ''));
      // Others wait for this process too.
      await setImmediate();
    }
    return { jobs, unread };
  });
}
