import {
  deploymentsOfPlan,
  freezeEnforcement,
  planEnforcement,
  refusedOf,
} from '../explanations/enforcement/progress.ts';
import { recentEnforcement } from '../explanations/enforcement/recent-enforcement.ts';
import { type EnforcedWord, enforcedOf } from '../explanations/repository-states.ts';
import { type DeploymentsToHold, whatDeploymentsWait, whatIsBlocked } from '../words/describe-fields.ts';
import {
  deploymentsHeldBy,
  holdsSomething,
  judgeHeldDeployments,
} from '../explanations/enforcement/judge-environments.ts';
import { holdsDeployments, holdsMerges, type StoredFreeze } from '../freezes/freeze.ts';
import { onlyBranches } from '../freezes/judge-freeze.ts';
import { repositoryIdOf } from '../freezes/list-freezes.ts';
import { fullName, repositoriesOfIds } from '../installations/find-repository.ts';
import { freezePath, planPath } from '../page-paths.ts';
import { matchedRepositories } from '../plans/matched-repositories.ts';
import { ongoingFreezes } from '../plans/show-plan.ts';
import { nowOf } from '../time/clock.ts';
import { asGitHubSees } from './held.ts';
import { insidesAmong } from './insiders.ts';
import { type OwnerVisit, type PlanVisit } from './owner/open-owner.ts';

/** A repository to name, and what of it, if not all. */
export type NamedPlace = { name: string; of?: string[] };

/**
 * How many of the pull requests that a freeze or a plan should hold are held on GitHub. What it says of enforcement and
 * environments is of repositories whose inside the viewer sees: of others it says nothing, and GitHub is not asked.
 */
export type FreezeProgress = {
  /** The page with the details. */
  path: string;
  /** `acme/web`, if it is a freeze of one repository. */
  only: string | null;
  /** The ends of what is ongoing; null for none. */
  ends: (Date | null)[];
  /** What the form that ends freezes shows and has selected, as its query. */
  toEnd: Record<string, string>;
  /** Whether any of its freezes is ongoing. */
  isOn: boolean;
  holdsMerges: boolean;
  /** What it does to deployments, in sentences; null if nothing. */
  deployments: string | null;
  repositories: number;
  /** In how many of them deployments are known to wait, and in how many that is not known; null if nothing is known of any. */
  stops: Record<'known' | 'unknown', number> | null;
  /** Repositories whose open pull requests still have to be checked. */
  toLook: number;
  toHold: number;
  /** Those that GitHub refuses: their status stands where it is required, or GitHub says so. */
  held: number;
  /** Pull requests whose status still has to be written. */
  waiting: number;
  /** Pull requests whose status stands, and of which it is not known whether GitHub would merge them; and those of which it will say so soon. */
  unsaid: number;
  toSay: number;
  /** How long until what waits is blocked; 0 if a ruleset blocks it. */
  secondsUntilHeld: number | null;
  /** The number of repositories about which GitHub is still asked whether the freeze is enforced. */
  toAsk: number;
  /** Repositories where a freeze is not enforced, by name. */
  notEnforced: string[];
  /** Repositories where GitHub does not say whether it is enforced, by name. */
  notKnown: string[];
  /** Where a freeze of deployments does not stop all: environments without the rule, and repositories without such an environment. */
  withoutRule: (NamedPlace & { isPartly: boolean })[];
  withoutEnvironment: string[];
  /** Repositories of whose environments GitHub says nothing. */
  environmentsUnknown: string[];
  /** The environments that it names, by repository, as far as the viewer may know them. */
  environments: DeploymentsToHold[];
  /** Since when a ruleset holds the repository of a freeze at once. */
  heldAtOnceSince?: Date | null;
};

/** Where deployments wait: `in 3 of 8 repositories`. */
export function whereStopped({
  repositories,
  stops,
}: Pick<FreezeProgress, 'repositories' | 'stops'>): string {
  const all = `${repositories} ${repositories === 1 ? 'repository' : 'repositories'}`;
  if (!stops) return all;
  const { known, unknown } = stops;
  if (known === repositories) return `in ${all}`;
  return unknown > 0 ? `in ${known} of ${all}, and perhaps in ${unknown} more` : `in ${known} of ${all}`;
}

/**
 * In how many repositories the freeze is not enforced, and in how many it holds only some environments. Nothing goes past a
 * freeze of merges, too, where there is no environment.
 */
export function lacksOf({
  notEnforced,
  withoutRule,
  withoutEnvironment,
  holdsMerges: isOfMerges,
}: FreezeProgress): Record<'notEnforced' | 'partly', number> {
  const all = new Set([
    ...notEnforced,
    ...withoutRule.filter(({ isPartly }) => !isPartly).map(({ name }) => name),
    ...(isOfMerges ? [] : withoutEnvironment),
  ]);
  const partly = withoutRule.filter(({ name, isPartly }) => isPartly && !all.has(name));
  return { notEnforced: all.size, partly: partly.length };
}

/** Whether it is known to hold nothing: it is of deployments alone, and GitHub waits for Holdfast nowhere. */
export const holdsNothing = ({ holdsMerges: isOfMerges, stops }: FreezeProgress): boolean =>
  !isOfMerges && stops !== null && stops.known + stops.unknown === 0;

/**
 * What it does not hold of deployments, in sentences; none if all that it names is known to wait. `isKnown`: something is
 * known not to be held, and not only not known.
 */
export function whatGoesPast(progress: FreezeProgress): { said: string[]; isKnown: boolean } {
  // Nothing goes past a freeze of merges, too, where there is no environment.
  const places = progress.environments.filter(
    ({ waiting, loose }) => !progress.holdsMerges || waiting.length + loose.length > 0,
  );
  const { held, leaks, notes } = whatDeploymentsWait(places, progress.environmentsUnknown, 'are');
  const isWhole = leaks.length + notes.length === 0;
  return {
    said: isWhole ? [] : [...(held === null ? [] : [held]), ...leaks, ...notes],
    isKnown: places.some(({ waiting, loose }) => loose.length > 0 || waiting.length === 0),
  };
}

/** Whether nothing will change on its own. */
export const isProgressDone = ({ isOn, toLook, waiting, toSay, toAsk }: FreezeProgress): boolean =>
  !isOn || toLook + waiting + toSay + toAsk === 0;

/** The progress of the ongoing freezes of a plan that is not over. @param read them, where the page has read them. */
export async function planProgress(
  visit: PlanVisit,
  read: Promise<StoredFreeze[]> = ongoingFreezes(visit.deps.db, visit.plan, nowOf(visit.deps.clock)),
): Promise<FreezeProgress> {
  const { deps, account, repositories, plan } = visit;
  const [{ used }, ongoing] = await Promise.all([matchedRepositories(deps.sql, plan), read]);
  const matched = new Set(used.map((each) => each.id));
  const on = new Set(ongoing.map(({ repositoryId }) => repositoryId));
  const rows = repositories.filter((each) => matched.has(each.id) || on.has(each.id));
  const insides = await insidesAmong(visit, rows);
  const inside = rows.filter(({ id }) => insides.has(id));
  const holding = new Set(
    ongoing.filter((each) => holdsDeployments(each)).map(({ repositoryId }) => repositoryId),
  );
  const ofDeployments = inside.filter(({ id }) => holding.has(id));
  const [{ unjudged, ...found }, enforced, environments] = await Promise.all([
    planEnforcement(deps, account, plan, used),
    enforcedOf(deps, inside, onlyBranches(plan) ?? undefined),
    deploymentsOfPlan(deps, ongoing, ofDeployments),
  ]);
  const held = ofDeployments.map(({ id, name }) => ({ name, its: environments.get(id) ?? null }));
  const known = held.flatMap(({ name, its }) => (its && its !== 'unknown' ? [{ name, ...its }] : []));
  // What is known of branches says nothing about deployments.
  const namesOf = (word: EnforcedWord) =>
    (holdsMerges(plan) ? inside : [])
      .filter((each) => enforced.get(each.id) === word)
      .map(({ name }) => name);
  const neverHeld = new Set(found.notEnforced.map((fullName) => fullName.slice(account.login.length + 1)));
  return {
    ...found,
    path: planPath(account.login, plan.id),
    only: null,
    ends: ongoing.map(({ endsAt }) => endsAt),
    toEnd: { ongoing: plan.id },
    isOn: on.size > 0,
    holdsMerges: holdsMerges(plan),
    deployments: whatIsBlocked(plan),
    repositories: matched.size,
    ...(await refusedOf(deps, { held: found.held, unjudged }, insides)),
    toLook: rows.filter((each) => on.has(each.id) && each.isUpdating).length,
    toAsk: new Set([...namesOf(null), ...held.flatMap(({ name, its }) => (its ? [] : [name]))]).size,
    stops:
      held.length < holding.size || held.length === 0
        ? null
        : {
            known: known.filter((its) => holdsSomething(deploymentsHeldBy(its)) === true).length,
            unknown: held.length - known.length,
          },
    withoutRule: known
      .filter(({ loose }) => loose.length > 0)
      .map(({ name, loose: of, waiting }) => ({ name, of, isPartly: waiting.length > 0 })),
    withoutEnvironment: known.filter((its) => deploymentsHeldBy(its) === 'absent').map(({ name }) => name),
    environmentsUnknown: held.filter(({ its }) => its === 'unknown').map(({ name }) => name),
    environments: known,
    notEnforced: [
      ...new Set([
        ...inside.map(({ name }) => name).filter((name) => neverHeld.has(name)),
        ...namesOf(false),
      ]),
    ],
    notKnown: namesOf('unknown'),
  };
}

/** The progress of a freeze; null if the viewer cannot read its repository. @throws Refusal not-found if it is over. */
export async function freezeProgress(visit: OwnerVisit, id: string): Promise<FreezeProgress | null> {
  const { deps, repositories, archived } = visit;
  const repositoryId = await repositoryIdOf(deps.db, id);
  const row = [...repositories, ...archived].find((each) => each.id === repositoryId);
  const [repository] = row ? await repositoriesOfIds(deps.sql, [row.id]) : [];
  if (!row || !repository) return null;
  const isInside = (await insidesAmong(visit, [row])).has(row.id);
  const found = await freezeEnforcement(deps, repository, id, isInside ? recentEnforcement : null);
  const { freeze, environments, phase, held, isLookDue, instant, secondsUntilHeld } = found;
  const enforced = found.mergesEnforced;
  const its = holdsDeployments(freeze) && isInside ? judgeHeldDeployments(freeze, environments) : null;
  const stopsIt = its && holdsSomething(its.held);
  const seen = await asGitHubSees(deps, repository, held, isInside);
  const isLoose = its?.enforced === false && stopsIt === false;
  const all = (why: (typeof seen)[number]['notHeld']) => seen.filter(({ notHeld }) => notHeld === why);
  const isSeenNotHeld = held.some(({ notHeld }) => notHeld !== null && notHeld !== 'waiting');
  return {
    path: freezePath(repository, id),
    only: fullName(repository),
    ends: [freeze.endsAt],
    // A freeze of a plan stands there as one of its plan, in this repository.
    toEnd: { repository: repository.name, ongoing: freeze.planId ?? id },
    isOn: phase === 'ongoing',
    holdsMerges: holdsMerges(freeze),
    deployments: holdsDeployments(freeze) ? `${whatIsBlocked(freeze)} ${its?.sentence ?? ''}`.trim() : null,
    repositories: 1,
    stops: its && { known: stopsIt === true ? 1 : 0, unknown: stopsIt === 'unknown' ? 1 : 0 },
    toLook: isLookDue && holdsMerges(freeze) ? 1 : 0,
    toHold: held.length,
    held: all(null).length,
    waiting: all('waiting').length,
    unsaid: all('unsaid').length,
    toSay: [...all('unsaid'), ...all('unrequired')].filter(({ mergeAnswer }) => mergeAnswer === 'asked')
      .length,
    secondsUntilHeld,
    toAsk: 0,
    // What it does to deployments says so.
    ...{ withoutRule: [], withoutEnvironment: [] },
    environments: its?.environments ? [{ name: repository.name, ...its.environments }] : [],
    environmentsUnknown: its && !its.environments ? [repository.name] : [],
    notEnforced:
      isInside && ((holdsMerges(freeze) && enforced === false) || isSeenNotHeld || isLoose)
        ? [repository.name]
        : [],
    notKnown:
      isInside && enforced === 'unknown' && !isSeenNotHeld && holdsMerges(freeze) ? [repository.name] : [],
    heldAtOnceSince: instant.since,
  };
}
