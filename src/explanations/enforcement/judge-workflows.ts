import { isMap, isScalar, LineCounter, type Node, parseDocument, type Scalar } from 'yaml';
import { listed } from '../../events/event-words.ts';
import type { Fact } from '../../github/pull-requests/pull-request.ts';
import type { EnvironmentFacts, Environments } from './judge-environments.ts';
import { type Finding, findingsOf } from './finding.ts';

/**
 * A job that fails at once in an environment with a custom protection rule, or may do so.
 * @property environment the name that it gives; null if an expression, another repository or nothing names one.
 */
export type DeployingJob = {
  place: string;
  environment: string | null;
  without: 'deployment' | 'cannot tell';
};

/** What the workflows of the default branch say. @property unread the paths of those that are too large or too many. */
export type Workflows = { jobs: DeployingJob[]; unread: string[] };

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

/** How many jobs have a finding of their own, and how many places a list names. */
const most = 10;

/** Which jobs fail at once where a protection rule is on. @param workflows null: we did not look. */
export function judgeWorkflows(
  workflows: Fact<Workflows> | null,
  environments: Fact<Environments> | null,
  repository: string,
): Finding[] {
  if (!workflows) return [];
  const found = findingsOf('deployments');
  if (!workflows.known)
    return [found('unknown', `Holdfast cannot read the workflows of ${repository}: ${workflows.reason}.`)];
  const { jobs, unread } = workflows.value;
  const failing = jobs.filter(({ without }) => without === 'deployment');
  const unclear = jobs.filter(({ without }) => without === 'cannot tell').map(({ place }) => place);
  const known = environments?.known ? environments.value.environments : [];
  const rest = failing.slice(most).map(({ place }) => place);
  return [
    ...failing.slice(0, most).map((job) => ofJob(job, known)),
    ...(rest.length > 0
      ? [
          found(
            'warning',
            `More jobs say deployment: false: ${listed(rest, most)}.`,
            'Remove deployment: false there.',
          ),
        ]
      : []),
    ...(unclear.length > 0
      ? [
          found(
            'unknown',
            `Holdfast cannot tell whether these jobs say deployment: false, because an expression or another repository decides: ${listed(unclear, most)}.`,
            'Check them: such a job fails at once in an environment with a custom protection rule.',
          ),
        ]
      : []),
    ...(unread.length > 0
      ? [
          found(
            'unknown',
            `Holdfast did not read these workflows, because they are too large or too many: ${listed(unread, most)}.`,
            'Check that none of their jobs says deployment: false.',
          ),
        ]
      : []),
  ];
}

function ofJob({ place, environment }: DeployingJob, known: EnvironmentFacts[]): Finding {
  const found = findingsOf('deployments');
  const to = environment === null ? '' : ` for ${environment}`;
  const says = `The job at ${place} says deployment: false${to}, so`;
  const isOn =
    environment !== null &&
    known.some(({ name, rules }) => rules > 0 && name.toLowerCase() === environment.toLowerCase());
  return isOn
    ? found(
        'failed',
        `${says} it fails at once: a custom protection rule is enabled there.`,
        'Remove deployment: false there.',
      )
    : found(
        'warning',
        `${says} it fails at once where a custom protection rule is enabled.`,
        'Remove deployment: false there before somebody enables the rule.',
      );
}
