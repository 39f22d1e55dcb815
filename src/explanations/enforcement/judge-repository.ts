import { listedWords } from '../../words/event-words.ts';
import { isForgotten, type StoredFreeze } from '../../freezes/freeze.ts';
import type { Fact } from '../../github/pull-requests/pull-request.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import type { HeldPullRequest, ReasonNotHeld } from '../../statuses/held-pull-requests.ts';
import type { Instant } from '../../statuses/instant-hold/hold-store.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { RemedyTarget } from './judge-branch.ts';
import type { TouchedBranches } from './read-branches.ts';

// Findings from our own data.

/** @param isOn whether a product switches freezes on. @param installationUrl the page of the installation. */
export function judgeInstallation(
  { account, name, archived, installation }: FoundRepository,
  isOn: boolean,
  { web, repository }: RemedyTarget,
  installationUrl: string,
): Finding[] {
  const found = findingsOf('installation');
  const product = findingsOf('product');
  return [
    installation.suspendedAt !== null &&
      found(
        'failed',
        `Holdfast's installation on ${account.login} is suspended, so it can neither read nor block anything.`,
        `Unsuspend it at ${installationUrl}.`,
      ),
    archived &&
      found(
        'warning',
        `${repository} is archived, so nothing merges there and you cannot create freezes.`,
        `Unarchive it at ${web}/${repository}/settings.`,
      ),
    !archived &&
      (isOn
        ? product('ok', `Freezes are switched on for ${repository}.`)
        : product(
            'failed',
            `Neither merge_protections nor merge_queue is enabled on ${repository}, so nothing is blocked.`,
            `Enable one with PUT /v1/products/${account.login}/${name} and {"products": ["merge_protections"]}.`,
          )),
  ].filter((finding) => finding !== false);
}

/** Outgoing webhooks of the owner that Holdfast disabled. Never their addresses: that of a chat is a secret. */
export function judgeOutgoing(
  disabled: { id: string; kind: string; disabledWhy: string | null }[],
  owner: string,
): Finding[] {
  return disabled.map(({ id, kind, disabledWhy }) =>
    findingsOf('outgoing_webhooks')(
      'warning',
      `Holdfast disabled the outgoing webhook ${id} (${kind}) of ${owner}: ${disabledWhy}`,
      `Correct it, and enable it with PATCH /v1/webhooks/${owner}/${id} and {"enabled": true}, or delete it.`,
    ),
  );
}

/** Freezes that somebody may have forgotten. @param freezes the freezes that are not over. */
export function judgeForgotten(freezes: StoredFreeze[], now: Date, { repository }: RemedyTarget): Finding[] {
  const forgotten = freezes
    .filter((freeze) => isForgotten(freeze, now))
    .map(({ id, startsAt }) => `${id} (since ${startsAt.toISOString().slice(0, 10)})`);
  if (forgotten.length === 0) return [];
  return [
    findingsOf('forgotten')(
      'warning',
      `Freezes without an end have been ongoing for two weeks or longer: ${listedWords(forgotten, 5)}.`,
      `If nobody needs them, delete them with POST /v1/repos/${repository}/scheduled_freeze/{id}/delete, or set an end with PATCH.`,
    ),
  ];
}

/** A person or team with a role, as people write it. @property isThere whether GitHub still has it. */
export type RoleFact = { text: string; isThere: Fact<boolean> };

/** People and teams with a role that are gone. */
export function judgeRoles(all: RoleFact[], { repository }: RemedyTarget): Finding[] {
  const found = findingsOf('roles');
  const texts = (of: RoleFact[]) => listedWords([...new Set(of.map(({ text }) => text))], 10);
  const gone = all.filter(({ isThere }) => isThere.known && !isThere.value);
  const unknown = all.filter(({ isThere }) => !isThere.known);
  const [owner] = repository.split('/');
  return [
    gone.length > 0 &&
      found(
        'warning',
        `GitHub no longer has these freezers or approvers: ${texts(gone)}.`,
        `Send the lists without them to PATCH /v1/repos/${repository}/settings. For inherited lists, use PATCH /v1/settings/${owner}.`,
      ),
    unknown.length > 0 &&
      found('unknown', `Holdfast cannot tell whether these freezers or approvers exist: ${texts(unknown)}.`),
  ].filter((finding) => finding !== false);
}

/** Branches that we could not list, or that were too many. @param most how many we check. */
export function judgeTouched(
  { defaultBranch, bases }: TouchedBranches,
  count: number,
  most: number,
  { web, repository, context }: RemedyTarget,
): Finding[] {
  const found = findingsOf('branches');
  const settings = `${web}/${repository}/settings`;
  return [
    !defaultBranch.known &&
      findingsOf('required_check')(
        'unknown',
        `Holdfast cannot tell whether the default branch requires ${context}: ${defaultBranch.reason}.`,
        `Check ${settings}/branches and ${web}/${repository}/rules.`,
      ),
    !bases.known &&
      found('unknown', `Holdfast cannot tell which branches have open pull requests: ${bases.reason}.`),
    count > most &&
      found(
        'warning',
        `Pull requests are open for ${count} branches. Holdfast checked ${most} of them.`,
        `Require ${context} with a branch name pattern at ${settings}/rules.`,
      ),
  ].filter((finding) => finding !== false);
}

/**
 * Whether everything that freezes should block is known to be blocked.
 * @param held what they hold or should hold. @param wait for how many minutes the first one waits, and
 *   how long all take: `about 8 minutes`.
 */
export function judgeHeld(
  held: HeldPullRequest[],
  { web, repository, context }: RemedyTarget,
  wait: { minutes: number; takes: string },
): Finding[] {
  const rules = `${web}/${repository}/settings/rules`;
  const kinds: [ReasonNotHeld, Finding['state'], message: string, remedy: string][] = [
    [
      'leaking',
      'failed',
      'GitHub would merge pull requests that freezes should block',
      `Require ${context} from Holdfast on their base branches at ${rules}. Holdfast asks GitHub again within a minute.`,
    ],
    [
      'refused',
      'failed',
      'GitHub refused the Holdfast status on pull requests that freezes should block',
      'Push a new commit to each. GitHub accepts at most 1,000 statuses with the same name on a commit.',
    ],
    [
      'contested',
      'failed',
      'Somebody keeps overwriting the Holdfast status on pull requests that freezes should block',
      `Find out who in the audit log (freeze_status.overwritten), and choose Holdfast as the source of ${context} at ${rules}.`,
    ],
    [
      'waiting',
      'warning',
      `These pull requests are waiting for their statuses, the first for ${wait.minutes} min`,
      `Wait. At the current pace, it takes ${wait.takes}. Holdfast writes at most STATUS_WRITES_PER_MINUTE statuses in a minute.`,
    ],
  ];
  const findings = kinds.flatMap(([reason, state, message, remedy]) => {
    const numbers = held.flatMap(({ notHeld, number }) => (notHeld === reason ? `#${number}` : []));
    const found = findingsOf(reason === 'leaking' ? 'leaking' : 'held');
    return numbers.length > 0 ? found(state, `${message}: ${listedWords(numbers, 20)}.`, remedy) : [];
  });
  if (held.length === 0 || findings.length > 0) return findings;
  const message = `Every pull request that freezes should block is known to be blocked: ${held.length}.`;
  return [findingsOf('held')('ok', message)];
}

/** Whether the ruleset that holds the repository at once is as it should be. */
export function judgeInstant({ mode, state, since, error }: Instant): Finding[] {
  const found = findingsOf('instant_hold');
  if (state === 'unavailable') return [found('warning', `The instant hold does not work. ${error}`)];
  if (mode === 'off') return [];
  return [
    since
      ? found('ok', `A ruleset blocks the repository at once since ${since.toISOString()}.`)
      : found('ok', 'No ruleset blocks the repository at once now.'),
  ];
}
