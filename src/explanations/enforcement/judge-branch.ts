import { type Grants, missingEvents, missingPermissions, permissionText } from '../../github/app-manifest.ts';
import type { Fact } from '../../github/pull-requests/fact.ts';
import type { BranchFacts, DormantRuleset, Requirement } from './branch-facts.ts';
import type { Finding } from './finding.ts';
import { type Place, requireCheck, settingsOf } from './remedies.ts';

/** All findings about one branch. */
export function judgeBranch(
  facts: BranchFacts,
  place: Place,
  grants: Fact<Grants>,
  dormant: DormantRuleset[],
): Finding[] {
  const required = judgeRequired(facts, place, dormant);
  return [required, ...judgeQueue(facts, place, grants, required), ...judgeBypass(facts, place)];
}

/** Whether the branch requires our check, with our App as its source. */
export function judgeRequired(facts: BranchFacts, place: Place, dormant: DormantRuleset[] = []): Finding {
  const { name: branch, requirements, notRead } = facts;
  const { context } = place;
  const found = (state: Finding['state'], message: string, remedy: string | null): Finding => ({
    check: 'required_check',
    state,
    branch,
    message,
    remedy,
  });
  const foreign = requirements.find(({ appId }) => appId !== null && appId !== place.appId);
  if (foreign) {
    return found(
      'failed',
      `${branch} requires ${context} from the App ${foreign.appId}, by ${nameOf(foreign.by)}. Holdfast is the App ${place.appId}, so its status does not count.`,
      `Choose Holdfast as the source of ${context} at ${settingsOf(place, foreign.by)}.`,
    );
  }
  const ours = requirements.filter(({ appId }) => appId === place.appId);
  if (ours.length > 0) {
    return found('ok', `${branch} requires ${context} from this App, by ${listOf(ours)}.`, null);
  }
  const [anySource] = requirements;
  if (anySource) {
    return found(
      'warning',
      `${branch} requires ${context} from any source, by ${listOf(requirements)}. Anybody who can write to the repository can post a success.`,
      `Choose Holdfast (the App ${place.appId}) as the source of ${context} at ${settingsOf(place, anySource.by)}.`,
    );
  }
  if (notRead.length > 0) {
    return found(
      'unknown',
      `Holdfast cannot tell whether ${branch} requires ${context}: ${[...new Set(notRead)].join('; ')}.`,
      `Check ${settingsOf(place, { kind: 'protection' })} and ${place.web}/${place.repository}/rules.`,
    );
  }
  return notRequired(facts, place, dormant, found);
}

function notRequired(
  { name: branch, reason, exists }: BranchFacts,
  place: Place,
  [asleep]: DormantRuleset[],
  found: (state: Finding['state'], message: string, remedy: string | null) => Finding,
): Finding {
  const { context } = place;
  if (asleep) {
    const state = asleep.enforcement === 'evaluate' ? 'only evaluated' : asleep.enforcement;
    return found(
      isMinor(reason, exists) ? 'warning' : 'failed',
      `${branch} does not require ${context}: ${nameOf(asleep)} names it but is ${state}.`,
      `If that ruleset is meant for ${branch}, set it to active at ${settingsOf(place, asleep)}.`,
    );
  }
  if (isMinor(reason, exists)) {
    const why =
      reason === 'chained'
        ? 'It is the head of another open pull request, which is held when it merges.'
        : 'The branch does not exist yet, and no ruleset covers it.';
    return found('warning', `${branch} does not require ${context}. ${why}`, requireCheck(place, branch));
  }
  return found(
    'failed',
    `${branch} does not require ${context}, so pull requests can merge into it during a freeze.`,
    requireCheck(place, branch),
  );
}

const isMinor = (reason: BranchFacts['reason'], exists: BranchFacts['exists']): boolean =>
  reason === 'chained' || (exists.known && !exists.value);

/** GitHub requires the branch's checks for each merge group. The queue stalls if we cannot hear of groups or answer. */
function judgeQueue(
  { name: branch, hasQueue }: BranchFacts,
  place: Place,
  grants: Fact<Grants>,
  required: Finding,
): Finding[] {
  const found = (state: Finding['state'], message: string, remedy: string | null): Finding[] => [
    { check: 'merge_queue', state, branch, message, remedy },
  ];
  if (!hasQueue.known) {
    return found(
      'unknown',
      `Holdfast cannot tell whether ${branch} has a merge queue: ${hasQueue.reason}.`,
      `Check ${place.web}/${place.repository}/queue/${encodeURIComponent(branch)}.`,
    );
  }
  if (!hasQueue.value) return [];
  if (required.state === 'failed' || required.state === 'unknown') {
    const message =
      required.state === 'failed'
        ? `The merge queue of ${branch} merges groups without a required status from Holdfast.`
        : `Holdfast cannot tell whether the merge queue of ${branch} waits for ${place.context}.`;
    return found(required.state, message, required.remedy);
  }
  if (!grants.known) {
    return found(
      'unknown',
      `Holdfast cannot tell whether it receives the merge groups of ${branch}: ${grants.reason}.`,
      null,
    );
  }
  const missing = queueLacks(grants.value);
  if (missing.length === 0)
    return found('ok', `The merge groups of ${branch} wait for ${place.context} too.`, null);
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
function judgeBypass({ name: branch, requirements }: BranchFacts, place: Place): Finding[] {
  const [first] = requirements;
  if (!first) return [];
  const found = (state: Finding['state'], message: string, remedy: string | null): Finding[] => [
    { check: 'bypass', state, branch, message, remedy },
  ];
  const firm = requirements.find(({ bypass }) => bypass.known && bypass.value.length === 0);
  if (firm) return found('ok', `Nobody can bypass ${nameOf(firm.by)} on ${branch}.`, null);
  const hidden = requirements.find(({ bypass }) => !bypass.known);
  if (hidden && !hidden.bypass.known) {
    return found(
      'unknown',
      `Holdfast cannot tell who can bypass ${nameOf(hidden.by)} on ${branch}: ${hidden.bypass.reason}.`,
      `Check the bypass list at ${settingsOf(place, hidden.by)}.`,
    );
  }
  const who = requirements.flatMap(({ bypass }) => (bypass.known ? bypass.value : []));
  return found(
    'warning',
    `${capitalized([...new Set(who)].join(', '))} can bypass ${listOf(requirements)} on ${branch}. Holdfast records such merges as freeze.bypassed.`,
    first.by.kind === 'protection'
      ? `To hold them too, select "Do not allow bypassing the above settings" at ${settingsOf(place, first.by)}.`
      : `To hold them too, shorten the bypass list at ${settingsOf(place, first.by)}.`,
  );
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const listOf = (requirements: Requirement[]): string =>
  requirements.map(({ by }) => nameOf(by)).join(' and ');

function nameOf(by: Requirement['by']): string {
  if (by.kind === 'protection') return 'branch protection';
  const name = by.name === null ? `ruleset ${by.id}` : `ruleset "${by.name}"`;
  return by.level === 'Repository'
    ? `the ${name}`
    : `the ${name} of the ${by.level.toLowerCase()} ${by.source}`;
}
