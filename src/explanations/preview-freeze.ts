import type { Deps } from '../deps.ts';
import { planFreeze } from '../freezes/check-freeze.ts';
import { openExemptions } from '../exemptions/exemption-store.ts';
import { type Exemption, exemptionFrom, exemptedSubjectOf } from '../exemptions/exemption.ts';
import {
  type Counts,
  verdictCounts,
  type SeenOpen,
  type Warning,
  warningOfBranches,
  warningsOf,
  warningsOfDeployments,
  type Ahead,
  type KnownValues,
  labelsOnNone,
  globsOfNothing,
  namedEnvironments,
  unknownEnvironments,
} from '../freezes/freeze-warnings.ts';
import { phaseOf } from '../freezes/freeze-window.ts';
import { type Freeze, holdsMerges, type NewFreeze } from '../freezes/freeze.ts';
import {
  explainFreeze,
  type FreezeReasons,
  type FreezeVerdict,
  judgeFreeze,
  needsOf,
  type ParsedFreeze,
  parseFreeze,
} from '../freezes/judge-freeze.ts';
import { namesOfRepository } from '../github/names-of-repository.ts';
import { type LoadedPullRequest, loadOpenPullRequests } from '../github/pull-requests/load-pull-requests.ts';
import { openPullRequestsInTime } from '../github/pull-requests/open-pull-requests-in-time.ts';
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { freezesAreOn } from '../installations/product.ts';
import { readHold, readModes } from '../statuses/instant-hold/hold-store.ts';
import { nextChangeAmong } from '../statuses/judge.ts';
import { nowOf } from '../time/clock.ts';
import { mapAtOnce } from '../time/slices.ts';
import { countRefused } from './enforcement/finding.ts';
import { recentEnforcement, unenforcedBranches } from './enforcement/recent-enforcement.ts';
import { hideDependencies, readForExplanation } from './explain-pull-request.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';
import {
  type Outlook,
  selectedAmong,
  selectedByBases,
  timeUntilHeld,
  type TimeUntilHeld,
  whyNoBridge,
  paceOf,
} from '../statuses/time-until-held.ts';
import { readWaiting } from '../statuses/take-writes.ts';

/**
 * Checks what a freeze would do, before or while it is saved. Never throws and takes 2 s at most: asks GitHub both
 * questions in parallel, and gives no warning about what GitHub does not answer in time.
 */
export async function lookAhead(
  deps: FreezeDeps,
  repository: FoundRepository,
  freeze: Freeze,
): Promise<Ahead> {
  // There is nothing to say about a freeze that the change just ended.
  if (phaseOf(freeze, nowOf(deps.clock)) === 'ended') return { unenforced: [], warnings: [] };
  const { permissions } = repository.installation;
  const ofEnvironments = warningsOfEnvironments(deps, repository, freeze);
  const ofDeployments = messagesOf(warningsOfDeployments(freeze, [freeze], permissions));
  if (!holdsMerges(freeze))
    return { unenforced: [], warnings: [...ofDeployments, ...messagesOf(await ofEnvironments)] };
  const parsed = parseFreeze(freeze);
  const [unenforced, seen, unknown] = await Promise.all([
    unenforcedBranches(deps, repository, freeze),
    see(deps, repository, parsed),
    ofEnvironments,
  ]);
  const { publicUrl, statusContext } = deps.config;
  const url = `${publicUrl}/v1/repos/${fullName(repository)}/enforcement`;
  const isOn = freezesAreOn(repository.products);
  const warnings = [
    ...warningOfBranches(unenforced, statusContext, url),
    ...warningsToTell(parsed, seen, isOn),
  ];
  // Nobody waits for it if the freeze cannot be saved, and then the database may be down.
  const ofBridge = await warningOfBridge(deps, repository, parsed, seen).catch(() => []);
  const pause = warningOfPause(deps, repository);
  return {
    unenforced,
    warnings: [...pause, ...messagesOf(warnings), ...ofDeployments, ...messagesOf(unknown), ...ofBridge],
  };
}

const messagesOf = (warnings: Warning[]): string[] => warnings.map(({ message }) => message);

/** Warns of environments that a freeze names and the repository does not have. Never throws and takes some seconds at most. */
async function warningsOfEnvironments(
  deps: FreezeDeps,
  repository: FoundRepository,
  freeze: Freeze,
): Promise<Warning[]> {
  const named = namedEnvironments(freeze);
  if (named.length === 0) return [];
  const isEnough = (names: string[]) => globsOfNothing(named, names).length === 0;
  const names = await namesOfRepository(deps, repository, 'environments', isEnough);
  const places = names ? [{ repository: fullName(repository), names }] : [];
  return unknownEnvironments(named, places).map((message) => ({ type: 'environment_unknown', message }));
}

/** Why an instant hold does nothing for a freeze, if it is a bridge that is not worth it. */
async function warningOfBridge(
  deps: FreezeDeps,
  { id }: FoundRepository,
  freeze: ParsedFreeze,
  seen: SeenOpen | null,
): Promise<string[]> {
  if ((await deps.github.lock.id()) === null) return [];
  const hold = await readHold(deps.sql, id, nowOf(deps.clock));
  if (hold?.mode !== 'bridge') return [];
  const selected =
    selectedByBases(freeze, hold.bases) ?? (seen && (await selectedAmong(freeze, seen.open, seen.at)));
  const why = selected && whyNoBridge(selected, paceOf(deps, hold));
  return why ? [why] : [];
}

/**
 * How long a freeze takes until it blocks everything in some repositories of an owner, with instant holds and without.
 * @returns null if it blocks nothing.
 */
export async function foreseeTime(
  deps: Deps,
  installationId: bigint,
  selected: (Omit<Outlook, 'mode' | 'error'> & { id: bigint })[],
): Promise<TimeUntilHeld | null> {
  const [modes, pace, lockApp] = await Promise.all([
    readModes(
      deps.sql,
      selected.map(({ id }) => id),
    ),
    readWaiting(deps.sql, installationId),
    deps.github.lock.id(),
  ]);
  const none = { mode: 'off', error: null } as const;
  const outlooks = selected.map((each) => ({
    ...each,
    ...((lockApp !== null && modes.get(each.id)) || none),
  }));
  return timeUntilHeld(outlooks, paceOf(deps, pace));
}

/**
 * While GitHub limits the installation, nobody can know what a freeze holds. GitHub may have said so to other processes
 * before this request, or to this one since then.
 */
function warningOfPause({ clock, github }: FreezeDeps, { installation }: FoundRepository): string[] {
  const { id, pausedUntil, readsPausedUntil } = installation;
  const known = [pausedUntil?.getTime(), readsPausedUntil?.getTime(), github.budgets.usedUpUntil(id)];
  const until = Math.max(...known.map((each) => each ?? 0));
  if (until <= clock.now()) return [];
  return [
    `GitHub’s rate limit is used up until ${new Date(until).toISOString()}. What this freeze holds is not judged before then.`,
  ];
}

/** The warnings for the creator of a freeze. @param seen null if it is unknown or says nothing about the conditions. */
export const warningsToTell = (freeze: ParsedFreeze, seen: SeenOpen | null, isOn: boolean): Warning[] =>
  warningsOf(freeze, seen, isOn).filter(({ type }) => !forPreviews.has(type));

/** Leaves out two warnings: most freezes hold everything on purpose, and statuses say what could not be evaluated. */
const forPreviews = new Set(['matches_everything', 'not_judged']);

/** The verdicts of the freeze on the open pull requests; null if unknown, or if it says nothing about the conditions. */
async function see(
  deps: FreezeDeps,
  repository: FoundRepository,
  freeze: ParsedFreeze,
): Promise<SeenOpen | null> {
  if (!hasConditions(freeze)) return null;
  const loaded = await openPullRequestsInTime(deps, repository, needsOf([freeze]));
  if (!loaded) return null;
  const open = loaded.map(({ facts }) => facts);
  const labels = await labelsFor(deps, repository, freeze, open);
  return seenOf(freeze, { open, labels }, laterOf(freeze.freeze.startsAt, nowOf(deps.clock)));
}

/** The labels of a repository, if a freeze names one that no open pull request has. Never throws. */
async function labelsFor(
  deps: FreezeDeps,
  repository: FoundRepository,
  { conditions }: ParsedFreeze,
  open: PullRequestFacts[],
): Promise<string[]> {
  const named = conditions ? labelsOnNone(conditions, open) : [];
  if (named.length === 0 || open.length === 0) return [];
  const isEnough = (names: string[]) => named.every((label) => names.includes(label));
  return (await namesOfRepository(deps, repository, 'labels', isEnough)) ?? [];
}

/** The branch whose rules GitHub applies to a pull request: that of its stack, if it is in one. */
export const baseOf = ({ stack, values }: PullRequestFacts): string | null =>
  stack?.base ?? (typeof values['base'] === 'string' ? values['base'] : null);

/** A freeze that has begun is judged now, and one that has not at its start. */
export const laterOf = (start: Date, now: Date): Date => (start > now ? start : now);

const hasConditions = ({ freeze }: ParsedFreeze): boolean =>
  freeze.matchingConditions.length + freeze.excludeConditions.length > 0;

/** The verdicts of a freeze on some open pull requests at an instant, and what its values can be compared with; null if that says nothing about the conditions. */
export async function seenOf(freeze: ParsedFreeze, known: KnownValues, at: Date): Promise<SeenOpen | null> {
  const { open } = known;
  if (!hasConditions(freeze) || open.length === 0) return null;
  return {
    ...known,
    at,
    counts: verdictCounts(await mapAtOnce(open, (facts) => judgeFreeze(freeze, facts, at.getTime()))),
  };
}

/** Also what could not be judged is held. */
export const isHeldVerdict = (verdict: FreezeVerdict): boolean =>
  verdict === 'frozen' || verdict === 'unknown';

/** The verdict of a freeze on one open pull request, with its reasons. */
type Previewed = {
  pullRequest: LoadedPullRequest;
  /** The verdict of its conditions. */
  verdict: FreezeVerdict;
  /** The exemption from the freeze, if any. */
  exemption: Exemption | null;
  reasons: FreezeReasons;
};

export type FreezePreview = {
  /** The instant of the verdicts: the start, or now if the start has passed. */
  judgedAt: Date;
  /** When time alone next changes the answer; null if not before the end. */
  nextChangeAt: Date | null;
  counts: Counts;
  /** Of what it holds, those that GitHub refuses, because their branch requires the check; null if that is not known. */
  toRefuse: number | null;
  warnings: Warning[];
  /** How long it takes until everything is blocked; null if nothing is. */
  timeUntilHeld: TimeUntilHeld | null;
  /** The affected pull requests of this page, by number: all that match the freeze. */
  affected: Previewed[];
  /** Whether more follow. */
  hasMore: boolean;
};

/**
 * Previews a new freeze on the open pull requests. Saves nothing.
 * @param after only the affected pull requests with a greater number.
 * @throws Refusal invalid as for the creation; conflict if the repository cannot be read; unavailable while GitHub does
 *   not answer.
 */
export async function foreseeFreeze(
  deps: Deps,
  repository: FoundRepository,
  input: NewFreeze,
  { after, size }: { after: number; size: number },
): Promise<FreezePreview> {
  const { freeze } = await planFreeze(deps, repository, input, true);
  const parsed = parseFreeze(freeze);
  const judgedAt = laterOf(freeze.startsAt, nowOf(deps.clock));
  const [loaded, report] = await Promise.all([
    readForExplanation(deps, repository, needsOf([parsed]), loadOpenPullRequests),
    recentEnforcement(deps, repository),
  ]);
  const judged = await mapAtOnce(loaded, (pullRequest) => ({
    pullRequest,
    facts: pullRequest.facts,
    verdict: judgeFreeze(parsed, pullRequest.facts, judgedAt.getTime()),
  }));
  const affected = judged
    .filter(({ verdict, facts }) => verdict !== 'not_matched' && facts.number > after)
    .sort((one, other) => one.facts.number - other.facts.number);
  const counts = verdictCounts(judged.map(({ verdict }) => verdict));
  const open = judged.map(({ facts }) => facts);
  const isOn = freezesAreOn(repository.products);
  const page = affected.slice(0, size);
  const shown = page.map(({ facts }) => facts);
  const numbers = shown.map(({ number }) => number);
  const exemptions = await openExemptions(deps.db, repository.id, numbers);
  const hide = await hideDependencies(deps, repository, shown);
  const held = judged.filter(({ verdict }) => isHeldVerdict(verdict)).map(({ facts }) => baseOf(facts));
  const toRefuse = countRefused(report?.required, held);
  const labels = await labelsFor(deps, repository, parsed, open);
  const { id, name, installation } = repository;
  return {
    judgedAt,
    nextChangeAt: await nextChangeAmong([parsed], open, judgedAt),
    counts,
    toRefuse,
    warnings: [
      ...warningsOf(parsed, { counts, open, labels, at: judgedAt }, isOn),
      ...warningsOfDeployments(freeze, [freeze], repository.installation.permissions),
      ...(await warningsOfEnvironments(deps, repository, freeze)),
    ],
    timeUntilHeld:
      isOn && holdsMerges(parsed.freeze)
        ? await foreseeTime(deps, installation.id, [
            { id, name, refused: toRefuse, ...(await selectedAmong(parsed, open, judgedAt)) },
          ])
        : null,
    affected: await mapAtOnce(page, ({ pullRequest, facts, verdict }) => ({
      pullRequest,
      verdict,
      exemption:
        verdict === 'excluded'
          ? null
          : exemptionFrom(exemptions, exemptedSubjectOf(facts), freeze.id, judgedAt),
      reasons: hide(explainFreeze(parsed, facts, judgedAt.getTime()), facts),
    })),
    hasMore: affected.length > size,
  };
}
