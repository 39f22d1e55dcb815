import { toEnvironments } from '../../words/describe-fields.ts';
import { listedWords } from '../../words/event-words.ts';
import { type Freeze, holdsDeployments, holdsMerges, type StoredFreeze } from '../../freezes/freeze.ts';
import type { Fact } from '../../github/pull-requests/pull-request.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { RemedyTarget } from './judge-branch.ts';

/** An environment of a repository on GitHub. */
export type EnvironmentFacts = {
  id: number;
  name: string;
  /** Whether our protection rule is enabled. */
  waits: boolean;
  /** How many custom protection rules are enabled, of all Apps. */
  rules: number;
  /** Whether administrators can start waiting jobs. */
  adminsBypass: boolean;
};

/** @property total how many there are, of which we looked at some. */
export type Environments = { environments: EnvironmentFacts[]; total: number };

/** GitHub enables at most this many. */
const mostRules = 6;

/** Encodes what a URL has a meaning for, and what a shell has one for. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*~]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);

/** The call that enables our rule, for an admin to paste into a shell. */
export function enablingCommand({ web, repository, appId }: RemedyTarget, environment: string): string {
  const { host } = new URL(web);
  const where = host === 'github.com' ? '' : ` --hostname ${host}`;
  const path = `repos/${repository}/environments/${encoded(environment)}/deployment_protection_rules`;
  return `gh api${where} --method POST ${path} -F integration_id=${appId}`;
}

/**
 * Which environments there are, and in which of them GitHub waits for Holdfast.
 * @param facts null: we did not look. @param freezes those that are not over.
 */
export function judgeEnvironments(
  facts: Fact<Environments> | null,
  freezes: StoredFreeze[],
  target: RemedyTarget,
  isPrivate: boolean,
): Finding[] {
  if (!facts) return [];
  const { repository } = target;
  const found = findingsOf('deployments');
  if (!facts.known)
    return [
      found('unknown', `Holdfast cannot read the environments of ${repository}: ${facts.reason}.`),
      ...judgePlan([], target, isPrivate),
    ];
  const { environments, total } = facts.value;
  const isWanted = freezes.some((freeze) => holdsDeployments(freeze));
  const left = total - environments.length;
  return [
    ...judgePlan(environments, target, isPrivate),
    total === 0 &&
      found(
        isWanted ? 'warning' : 'ok',
        `${repository} has no environments on GitHub.`,
        'Name one in a job that deploys, such as environment: production. Then enable the rule there.',
      ),
    ...environments.map((each) => judgeEnvironment(each, freezes, target)),
    left > 0 && found('unknown', `Holdfast did not look at ${left} more environments of ${repository}.`),
    environments.some(({ waits }) => waits) &&
      found(
        'ok',
        'Anybody who can edit a workflow can name another environment, which has no rule.',
        'Require reviews for .github/workflows, for example with a CODEOWNERS file.',
      ),
  ].filter((finding) => finding !== false);
}

/** GitHub does not tell an App the plan of an owner. A rule that is enabled shows it. */
function judgePlan(
  environments: EnvironmentFacts[],
  { web, repository }: RemedyTarget,
  isPrivate: boolean,
): Finding[] {
  if (!isPrivate || web !== 'https://github.com' || environments.some(({ rules }) => rules > 0)) return [];
  return [
    findingsOf('deployments')(
      'unknown',
      `${repository} is private, where GitHub offers custom protection rules only with GitHub Enterprise. Holdfast cannot tell which plan it has.`,
      `With another plan, add a gate to the pipeline: holdfast gate ${repository} --environment NAME`,
    ),
  ];
}

function judgeEnvironment(
  { id, name, waits, rules, adminsBypass }: EnvironmentFacts,
  freezes: StoredFreeze[],
  target: RemedyTarget,
): Finding {
  const found = findingsOf('deployments');
  const page = `${target.web}/${target.repository}/settings/environments/${id}/edit`;
  if (waits && adminsBypass)
    return found(
      'warning',
      `GitHub waits for Holdfast before it deploys to ${name}, but administrators can bypass that.`,
      `Clear “Allow administrators to bypass configured protection rules” at ${page}.`,
    );
  if (waits) return found('ok', `GitHub waits for Holdfast before it deploys to ${name}.`);
  const isHeld = freezes.some((freeze) => holdsDeployments(freeze, name));
  const message = `GitHub does not wait for Holdfast before it deploys to ${name}`;
  const remedy =
    rules >= mostRules
      ? `It has ${mostRules} protection rules, the most that GitHub allows. Disable one first at ${page}.`
      : `An admin can enable the rule at ${page}, or with: ${enablingCommand(target, name)}`;
  return isHeld
    ? found('warning', `${message}, so freezes do not block that.`, remedy)
    : found('ok', `${message}. No freeze blocks deployments there now.`, remedy);
}

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

/** How many jobs have a finding of their own, and how many places a list names. */
const mostJobsFound = 10;

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
  const rest = failing.slice(mostJobsFound).map(({ place }) => place);
  return [
    ...failing.slice(0, mostJobsFound).map((job) => ofJob(job, known)),
    rest.length > 0 &&
      found(
        'warning',
        `More jobs say deployment: false: ${listedWords(rest, mostJobsFound)}.`,
        'Remove deployment: false there.',
      ),
    unclear.length > 0 &&
      found(
        'unknown',
        `Holdfast cannot tell whether these jobs say deployment: false, because an expression or another repository decides: ${listedWords(unclear, mostJobsFound)}.`,
        'Check them: such a job fails at once in an environment with a custom protection rule.',
      ),
    unread.length > 0 &&
      found(
        'unknown',
        `Holdfast did not read these workflows, because they are too large or too many: ${listedWords(unread, mostJobsFound)}.`,
        'Check that none of their jobs says deployment: false.',
      ),
  ].filter((finding) => finding !== false);
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

/** What a freeze says of deployments. */
type OfDeployments = Pick<Freeze, 'holds' | 'environments'>;

/** The environments of a repository that freezes name: those where GitHub waits for Holdfast, and those where not. */
export type HeldEnvironments = { waiting: string[]; loose: string[] };

/** `unknown` if we did not look at all environments, and what we did not see may decide. */
export function heldAmong(
  { environments, total }: Environments,
  freezes: OfDeployments[],
): HeldEnvironments | 'unknown' {
  const named = environments.filter(({ name }) => freezes.some((freeze) => holdsDeployments(freeze, name)));
  const namesOf = (isIt: boolean) => named.filter(({ waits }) => waits === isIt).map(({ name }) => name);
  const [waiting, loose] = [namesOf(true), namesOf(false)];
  const isSeen = total <= environments.length || (waiting.length > 0 && loose.length > 0);
  return isSeen ? { waiting, loose } : 'unknown';
}

/**
 * What freezes of deployments hold in a repository: `all` environments that they name, `some`, or `none` of them, because
 * the rule is not enabled; `absent`: there is no such environment.
 */
export type DeploymentsHeld = 'all' | 'some' | 'none' | 'absent' | 'unknown';

/** All pages, messages and answers of the API count by this. */
export function deploymentsHeldBy(its: HeldEnvironments | 'unknown'): DeploymentsHeld {
  if (its === 'unknown') return its;
  const [waits, leaks] = [its.waiting.length > 0, its.loose.length > 0];
  return waits ? (leaks ? 'some' : 'all') : leaks ? 'none' : 'absent';
}

/** Whether GitHub waits for Holdfast in at least one environment. */
export const holdsSomething = (held: DeploymentsHeld): boolean | 'unknown' =>
  held === 'unknown' ? held : held === 'all' || held === 'some';

/**
 * Whether deployments are held as a freeze says.
 * @param isOfMerges whether it holds merges, too: then it lacks nothing where no environment exists, as nothing can go past it.
 */
export const areDeploymentsEnforced = (held: DeploymentsHeld, isOfMerges: boolean): boolean | 'unknown' =>
  held === 'unknown' ? held : held === 'all' || (held === 'absent' && isOfMerges);

/**
 * What a freeze holds of deployments, whether that is enforced, and both in a sentence.
 * @returns `environments`: those that it names; null if that is not known.
 */
export function judgeHeldDeployments(
  freeze: OfDeployments,
  facts: Fact<Environments> | null,
): {
  held: DeploymentsHeld;
  enforced: boolean | 'unknown';
  sentence: string;
  environments: HeldEnvironments | null;
} {
  const its = facts?.known ? heldAmong(facts.value, [freeze]) : 'unknown';
  const held = deploymentsHeldBy(its);
  const enforced = areDeploymentsEnforced(held, holdsMerges(freeze));
  const environments = its === 'unknown' ? null : its;
  return { held, enforced, sentence: sentenceOf(freeze, facts, its), environments };
}

/** Whether GitHub enforces all that a freeze holds. @param ofMerges whether it refuses the merges. */
export function isAllEnforced(
  freeze: OfDeployments,
  ofMerges: boolean | 'unknown',
  facts: Fact<Environments> | null,
): boolean | 'unknown' {
  const words = [
    ...(holdsMerges(freeze) ? [ofMerges] : []),
    ...(holdsDeployments(freeze) ? [judgeHeldDeployments(freeze, facts).enforced] : []),
  ];
  return ([false, 'unknown'] as const).find((word) => words.includes(word)) ?? true;
}

function sentenceOf(
  freeze: OfDeployments,
  facts: Fact<Environments> | null,
  its: HeldEnvironments | 'unknown',
): string {
  const to = toEnvironments(freeze.environments);
  if (!facts?.known)
    return `Holdfast cannot tell whether deployments${to} are stopped${facts ? `: ${facts.reason}` : ''}.`;
  const stopped = (waiting: string[]) =>
    `GitHub waits for Holdfast before it deploys${toEnvironments(waiting)}.`;
  if (its === 'unknown') {
    const seen = facts.value.environments.filter(({ name }) => holdsDeployments(freeze, name));
    const waiting = seen.filter(({ waits }) => waits).map(({ name }) => name);
    return `Holdfast did not look at all environments. ${waiting.length > 0 ? stopped(waiting) : ''}`.trim();
  }
  const { waiting, loose } = its;
  switch (deploymentsHeldBy(its)) {
    case 'some':
      return `Deployments${toEnvironments(loose)} are not stopped: the rule is not enabled there. ${stopped(waiting)}`;
    case 'none':
      return `Deployments${to} are not stopped: no environment has the rule.`;
    case 'absent':
      return `Deployments${to} are not stopped: there is no ${to === '' ? '' : 'such '}environment.`;
    default:
      return stopped(waiting);
  }
}
