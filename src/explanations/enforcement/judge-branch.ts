import { type Grants, missingEvents, missingPermissions, permissionText } from '../../github/app-manifest.ts';
import type { Fact } from '../../github/pull-requests/pull-request.ts';
import { type Finding, findingsOf } from './finding.ts';

/**
 * Why we check a branch. `chained`: it is the base of one open pull request and the head of another, and GitHub knows of
 * no stack.
 */
export type BranchReason = 'default' | 'freeze' | 'base' | 'chained';

export type LookedAtBranch = { name: string; reason: BranchReason };

/** A protection or ruleset that requires our status check on a branch. */
export type Requirement = {
  by:
    | { kind: 'protection' }
    | { kind: 'ruleset'; id: number; level: string; source: string; name: string | null };
  /** The App whose status counts; null for any source. */
  appId: number | null;
  /** Who may bypass it, in words; empty for nobody. */
  bypass: Fact<string[]>;
};

export type BranchFacts = LookedAtBranch & {
  /** False if the branch does not exist. */
  exists: Fact<boolean>;
  /** The branch to which GitHub leads from this name, which no branch has any more; else null. */
  leadsTo: string | null;
  /** What GitHub says of the plan of the account if that has no rules for this repository; else null. */
  upgrade: string | null;
  requirements: Requirement[];
  /** Why the list of requirements may be incomplete; empty if we read all. */
  notRead: string[];
  hasQueue: Fact<boolean>;
};

/** A ruleset that names our check but does not enforce it. */
export type DormantRuleset = Extract<Requirement['by'], { kind: 'ruleset' }> & { enforcement: string };

/** The repository that is checked, as URLs and commands name it. */
export type RemedyTarget = {
  /** `https://github.com` */
  web: string;
  /** `https://api.github.com` */
  api: string;
  /** `owner/name` */
  repository: string;
  /** The name of the status check. */
  context: string;
  appId: number;
};

/** All findings about one branch. */
export function judgeBranch(
  facts: BranchFacts,
  target: RemedyTarget,
  grants: Fact<Grants>,
  dormant: DormantRuleset[],
): Finding[] {
  const required = judgeRequired(facts, target, dormant);
  return [required, judgeQueue(facts, target, grants, required), judgeBypass(facts, target)].filter(
    (finding) => finding !== null,
  );
}

/** Whether GitHub refuses to merge into the branch what has no success of ours. */
export function isRequired(facts: BranchFacts, target: RemedyTarget): boolean | 'unknown' {
  const { requirements, notRead } = facts;
  if (whyNever(facts, target) !== null) return false;
  if (requirements.some(({ appId }) => appId !== null && appId !== target.appId)) return false;
  return requirements.length > 0 || (notRead.length > 0 && 'unknown');
}

/** Whether the branch requires our check, with our App as its source. */
export function judgeRequired(
  facts: BranchFacts,
  target: RemedyTarget,
  dormant: DormantRuleset[] = [],
): Finding {
  const { name: branch, requirements, notRead } = facts;
  const { context, appId: ourId } = target;
  const found = findingsOf('required_check', branch);
  const never = whyNever(facts, target);
  if (never !== null)
    return found(
      'failed',
      `${branch} cannot require ${context}: ${never}. So nothing stops merges during a freeze of ${branch}.`,
      remedyOfNever(facts, target),
    );
  const foreign = requirements.find(({ appId }) => appId !== null && appId !== ourId);
  if (foreign)
    return found(
      'failed',
      `${branch} requires ${context} from the App ${foreign.appId}, by ${branchName(foreign.by)}. Holdfast is the App ${ourId}, so its status does not count.`,
      `Choose Holdfast as the source of ${context} at ${settingsPage(target, foreign.by)}.`,
    );
  const ours = requirements.filter(({ appId }) => appId === ourId);
  if (ours.length > 0) return found('ok', `${branch} requires ${context} from this App, by ${listOf(ours)}.`);
  const [anySource] = requirements;
  if (anySource)
    return found(
      'warning',
      `${branch} requires ${context} from any source, by ${listOf(requirements)}. Anybody who can write to the repository can post a success.`,
      `Choose Holdfast (the App ${ourId}) as the source of ${context} at ${settingsPage(target, anySource.by)}.`,
    );
  if (notRead.length > 0)
    return found(
      'unknown',
      `Holdfast cannot tell whether ${branch} requires ${context}: ${[...new Set(notRead)].join('; ')}.`,
      `Check ${settingsPage(target, { kind: 'protection' })} and ${target.web}/${target.repository}/rules.`,
    );
  const { state, why } = weightOf(facts);
  const [asleep] = dormant;
  if (asleep)
    return found(
      state,
      `${branch} does not require ${context}: ${branchName(asleep)} names it but is ${asleep.enforcement === 'evaluate' ? 'only evaluated' : asleep.enforcement}.`,
      `If that ruleset is meant for ${branch}, set it to active at ${settingsPage(target, asleep)}.`,
    );
  return found(state, `${branch} does not require ${context}${why}`, requireCheck(target, branch));
}

/** Why nobody can require our check on a branch, to go on after a colon; null if somebody can. */
export function whyNever(
  { leadsTo, upgrade }: Pick<BranchFacts, 'leadsTo' | 'upgrade'>,
  { repository }: Pick<RemedyTarget, 'repository'>,
): string | null {
  if (upgrade !== null)
    return `the plan of ${ownerOfTarget(repository)} is GitHub Free, which has no branch protection and no rulesets for private repositories (GitHub says "${upgrade}")`;
  return leadsTo === null
    ? null
    : `there is no such branch any more, and GitHub leads from it to ${leadsTo}, as after a rename`;
}

const ownerOfTarget = (repository: string): string => repository.split('/')[0]!;

const remedyOfNever = ({ name, leadsTo, upgrade }: BranchFacts, { repository }: RemedyTarget): string =>
  upgrade === null
    ? `In the conditions of the freeze, change base=${name} to base=${leadsTo}.`
    : `Upgrade ${ownerOfTarget(repository)} to GitHub Team or GitHub Enterprise (a person: to GitHub Pro), or make ${repository} public.`;

/** How bad it is that a branch does not require our check. */
function weightOf({ reason, exists }: BranchFacts): { state: Finding['state']; why: string } {
  if (reason === 'chained')
    return {
      state: 'warning',
      why: '. It is the head of another open pull request, which is blocked when it merges.',
    };
  if (exists.known && !exists.value)
    return { state: 'warning', why: '. The branch does not exist yet, and no ruleset covers it.' };
  return { state: 'failed', why: ', so pull requests can merge into it during a freeze.' };
}

/** GitHub requires the branch's checks for each merge group. The queue stalls if we cannot hear of groups or answer. */
function judgeQueue(
  { name: branch, hasQueue }: BranchFacts,
  target: RemedyTarget,
  grants: Fact<Grants>,
  required: Finding,
): Finding | null {
  const found = findingsOf('merge_queue', branch);
  if (!hasQueue.known)
    return found(
      'unknown',
      `Holdfast cannot tell whether ${branch} has a merge queue: ${hasQueue.reason}.`,
      `Check ${target.web}/${target.repository}/queue/${encodeURIComponent(branch)}.`,
    );
  if (!hasQueue.value) return null;
  if (required.state === 'failed' || required.state === 'unknown') {
    const message =
      required.state === 'failed'
        ? `The merge queue of ${branch} merges groups without a required status from Holdfast.`
        : `Holdfast cannot tell whether the merge queue of ${branch} waits for ${target.context}.`;
    return found(required.state, message, required.remedy);
  }
  if (!grants.known)
    return found(
      'unknown',
      `Holdfast cannot tell whether it receives the merge groups of ${branch}: ${grants.reason}.`,
    );
  const missing = queueLacks(grants.value);
  if (missing.length === 0)
    return found('ok', `The merge groups of ${branch} wait for ${target.context} too.`);
  return found(
    'failed',
    `${branch} has a merge queue, but Holdfast lacks ${missing.join(' and ')}, so merge groups get no status and the queue stalls.`,
    'See the findings about permissions and events.',
  );
}

/** What we need to receive and answer a merge group. */
export const queueNeeds = { permissions: ['merge_queues', 'statuses'], events: ['merge_group'] };

const queueLacks = (grants: Grants): string[] => [
  ...missingPermissions(grants)
    .filter((name) => queueNeeds.permissions.includes(name))
    .map((name) => `the permission ${permissionText(name)}`),
  ...missingEvents(grants)
    .filter((name) => queueNeeds.events.includes(name))
    .map((name) => `the event ${name}`),
];

/** All requirements apply, so one that nobody may bypass is enough. */
function judgeBypass({ name: branch, requirements }: BranchFacts, target: RemedyTarget): Finding | null {
  const [first] = requirements;
  if (!first) return null;
  const found = findingsOf('bypass', branch);
  const firm = requirements.find(({ bypass }) => bypass.known && bypass.value.length === 0);
  if (firm) return found('ok', `Nobody can bypass ${branchName(firm.by)} on ${branch}.`);
  const who: string[] = [];
  for (const { by, bypass } of requirements) {
    if (!bypass.known)
      return found(
        'unknown',
        `Holdfast cannot tell who can bypass ${branchName(by)} on ${branch}: ${bypass.reason}.`,
        `Check the bypass list at ${settingsPage(target, by)}.`,
      );
    who.push(...bypass.value);
  }
  const how =
    first.by.kind === 'protection'
      ? 'select "Do not allow bypassing the above settings"'
      : 'shorten the bypass list';
  return found(
    'warning',
    `${capitalized([...new Set(who)].join(', '))} can bypass ${listOf(requirements)} on ${branch}. Holdfast records such merges as freeze.bypassed.`,
    `To block them too, ${how} at ${settingsPage(target, first.by)}.`,
  );
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const listOf = (requirements: Requirement[]): string =>
  requirements.map(({ by }) => branchName(by)).join(' and ');

function branchName(by: Requirement['by']): string {
  if (by.kind === 'protection') return 'branch protection';
  const name = by.name === null ? `ruleset ${by.id}` : `ruleset "${by.name}"`;
  return by.level === 'Repository'
    ? `the ${name}`
    : `the ${name} of the ${by.level.toLowerCase()} ${by.source}`;
}

/** One argument of a POSIX shell, whatever it contains. */
const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** How to require our check on a branch with a new ruleset, which does not touch other rules. */
function requireCheck({ web, api, repository, context, appId }: RemedyTarget, branch: string): string {
  const ruleset = {
    name: `${context} on ${branch}`,
    target: 'branch',
    enforcement: 'active',
    conditions: { ref_name: { include: [`refs/heads/${branch}`], exclude: [] } },
    rules: [
      {
        type: 'required_status_checks',
        parameters: {
          strict_required_status_checks_policy: false,
          required_status_checks: [{ context, integration_id: appId }],
        },
      },
    ],
  };
  return (
    `Require ${context} at ${web}/${repository}/settings/rules/new?target=branch, or as an admin: ` +
    `curl -X POST -H "Authorization: Bearer $GITHUB_TOKEN" ${shellQuote(`${api}/repos/${repository}/rulesets`)} ` +
    `-d ${shellQuote(JSON.stringify(ruleset))}`
  );
}

/** The page to change a requirement. */
function settingsPage({ web, repository }: RemedyTarget, by: Requirement['by']): string {
  if (by.kind === 'protection') return `${web}/${repository}/settings/branches`;
  if (by.level === 'Organization') return `${web}/organizations/${by.source}/settings/rules/${by.id}`;
  if (by.level === 'Enterprise') return `${web}/enterprises/${by.source}/settings/policies`;
  return `${web}/${repository}/settings/rules/${by.id}`;
}
