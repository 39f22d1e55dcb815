import pLimit from 'p-limit';
import type { Deps } from '../deps.ts';
import { type Freeze, holdsDeployments, holdsMerges } from '../freezes/freeze.ts';
import { judgeFreeze, needsOf, type ParsedFreeze, parseFreeze } from '../freezes/judge-freeze.ts';
import type { Account } from '../generated/prisma/client.ts';
import { cachePerService } from '../github/cache.ts';
import { openPullRequestsInTime } from '../github/pull-requests/open-pull-requests-in-time.ts';
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import { repositoryOfId, repositoryOfRow } from '../installations/find-repository.ts';
import { assertNotOver, checkPlan } from '../plans/check-plan.ts';
import { next } from '../plans/keep-plan.ts';
import { matchedRepositories, type PlanRepository } from '../plans/matched-repositories.ts';
import type { Occurrence } from '../plans/occurrences.ts';
import type { Plan, PlanInput } from '../plans/plan.ts';
import { readInput } from '../plans/source/read-source.ts';
import { foreseeGivenEnds, mostShown, warnOfDeployments, warnOfDates } from '../plans/show-plan.ts';
import { warnOfEnvironments } from '../plans/unknown-environments.ts';
import { nowOf, within } from '../time/clock.ts';
import { mapAtOnce } from '../time/slices.ts';
import { countRefused, isFreezeEnforced, isUnrequired } from './enforcement/finding.ts';
import {
  type DeploymentsHeld,
  isAllEnforced,
  judgeHeldDeployments,
} from './enforcement/judge-environments.ts';
import { recentEnforcement } from './enforcement/recent-enforcement.ts';
import {
  deploymentsForeseen,
  foreseeEnvironments,
  type PreviewedEnvironment,
} from './foreseen-deployments.ts';
import { baseOf, foreseeTime, isHeldVerdict, laterOf, seenOf, warningsToTell } from './preview-freeze.ts';
import { globsOfNothing } from '../freezes/freeze-warnings.ts';
import { type Selected, selectedAmong, type TimeUntilHeld } from '../statuses/time-until-held.ts';

type Enforced = 'yes' | 'no' | 'unknown';

/** What a plan would do in one repository. */
export type PreviewedRepository = {
  name: string;
  toHold: number;
  /** Those of them that GitHub refuses, because their branch requires the check; null if that is not known. */
  toRefuse: number | null;
  /** The numbers of those whose branch is known not to require the check. */
  unrequired: ReadonlySet<number>;
  /** The open ones. Those that it would block come first. */
  pullRequests: { number: number; title: string | null; author: string | null; held: boolean }[];
  excluded: number;
  /** Whether GitHub enforces all that it would hold, and whether it refuses the merges. */
  enforced: Enforced;
  mergesEnforced: Enforced;
  /** What it would hold of deployments; null if it is of merges alone. */
  deployments: DeploymentsHeld | null;
  /** The environments whose deployments it holds; null if it holds none, or GitHub does not say which there are. */
  environments: PreviewedEnvironment[] | null;
};

export type PlanPreview = {
  /** What it would hold of deployments; null for a plan of merges alone. */
  deployments: ReturnType<typeof deploymentsForeseen>;
  /** What it blocks. */
  holding: Pick<Freeze, 'holds' | 'environments' | 'onDeployment'>;
  /** The plan, as it would be saved. */
  plan: Omit<Plan, 'id'>;
  repositories: PreviewedRepository[];
  matched: number;
  /** The ids of the repositories that it matches. */
  matchedIds: bigint[];
  /** The archived repositories that it would skip, by name. */
  archived: string[];
  /** Full names. */
  notEnforced: string[];
  notLookedAt: string[];
  /** Whether Holdfast is still looking at those. */
  isLooking: boolean;
  /** The included globs that match no repository, as they were sent. */
  matchesNone: string[];
  nextOccurrences: Occurrence[];
  /** The titles of the events of the calendar that it follows, by the keys of its occurrences. */
  eventNames: ReadonlyMap<string, string>;
  /** Warnings for the creator, in sentences. */
  warnings: string[];
  /** How long it takes until everything is blocked where Holdfast looked; null if nothing is. */
  timeUntilHeld: TimeUntilHeld | null;
};

/** Milliseconds after which we start no more checks: one check takes 3 s at most, and all of them 10 s. */
const previewPatience = 6_500;
const previewsSideBySide = 6;
/** Checks per minute and installation. */
const looks = { name: 'plan previews', perMinute: 600 };

/** What a plan would do in one repository, and the pull requests that are open there. */
type PreviewSeen = {
  id: bigint;
  installationId: bigint;
  repository: PreviewedRepository;
  open: PullRequestFacts[];
  selected: Selected;
};

/** A look at the repositories of a plan, as far as it has come. */
type Look = { seen: Map<bigint, PreviewSeen>; isLooking: boolean; end: Promise<void> };

/**
 * Previews a plan on the open pull requests, as far as GitHub answers within 10 s. Saves nothing.
 * @throws Refusal invalid as for the creation.
 */
export const previewPlan = (deps: Deps, account: Account, input: PlanInput): Promise<PlanPreview> =>
  previewBy(deps, account, input, async (freezable, freeze, at) => {
    const look = beginLook(deps, freezable, freeze, at, previewPatience);
    await look.end;
    return look;
  });

/** Milliseconds that a page waits for its preview. The look goes on behind it. */
const previewSoon = 800;
/** Milliseconds after which that look starts no more checks. */
const longestLook = 60_000;
/** Milliseconds that a look that has seen everything is shared. */
const previewFreshFor = 10_000;
const mostPreviewsKept = 10;

const previewLooksOf = cachePerService<string, Look>(mostPreviewsKept, longestLook);

/** What decides about pull requests. The end is left out, because it moves on with the time of the request. */
const judgedBy = [
  'start',
  'timezone',
  'recurrence',
  'source',
  'matchingConditions',
  'excludeConditions',
  'holds',
  'environments',
] as const;

/**
 * The same for pages: what is known within a second. Holdfast goes on looking behind the page, and the same preview
 * shows more when it is asked for again.
 * @throws Refusal invalid as for the creation.
 */
export const previewPlanSoon = (deps: Deps, account: Account, input: PlanInput): Promise<PlanPreview> =>
  previewBy(deps, account, input, async (freezable, freeze, at) => {
    const judged = judgedBy.map((name) => input[name]);
    const key = JSON.stringify([judged, freezable.map(({ id }) => String(id))]);
    const kept = previewLooksOf(deps);
    const begin = (): Look => {
      const begun = beginLook(deps, freezable, freeze, at, longestLook);
      kept.set(key, begun);
      const isWhole = () => begun.seen.size === freezable.length;
      begun.end.then(
        () => isWhole() && kept.set(key, begun, previewFreshFor),
        () => kept.delete(key),
      );
      return begun;
    };
    const look = kept.get(key) ?? begin();
    await within(previewSoon, look.end);
    // Whoever asks again for what GitHub did not answer wants it to be asked again.
    if (!look.isLooking && look.seen.size < freezable.length) kept.delete(key);
    return look;
  });

/** Looks at repositories. What GitHub does not answer in time is missing. */
function beginLook(
  deps: Deps,
  repositories: PlanRepository[],
  freeze: ParsedFreeze,
  at: Date,
  milliseconds: number,
): Look {
  const timeUp = AbortSignal.any([AbortSignal.timeout(milliseconds), deps.stopping]);
  const seen = new Map<bigint, PreviewSeen>();
  const all = pLimit(previewsSideBySide).map(repositories, async (each) => {
    const found = timeUp.aborted ? null : await previewIn(deps, each, freeze, at);
    if (found) seen.set(each.id, found);
  });
  const look: Look = {
    seen,
    isLooking: true,
    end: all.then(() => {}).finally(() => (look.isLooking = false)),
  };
  return look;
}

async function previewBy(
  deps: Deps,
  account: Account,
  input: PlanInput,
  lookAt: (freezable: PlanRepository[], freeze: ParsedFreeze, at: Date) => Promise<Look>,
): Promise<PlanPreview> {
  const now = nowOf(deps.clock);
  const read = await readInput(deps, account, input);
  const plan = { ...checkPlan(read.input, now), accountId: account.id };
  assertNotOver(plan, now);
  const nextOccurrences = next(plan, now, mostShown);
  // A calendar can have no event ahead.
  const first = nextOccurrences[0] ?? { startsAt: now, endsAt: null };
  const freeze = parseFreeze({
    ...plan,
    ...first,
    id: '',
    repositoryId: 0n,
    publicReason: plan.publicReason,
  });
  const at = laterOf(first.startsAt, now);
  const { used: matched, archived } = await matchedRepositories(deps.sql, plan);
  const freezable = matched.filter(({ isFreezable }) => isFreezable);
  const look = await lookAt(freezable, freeze, at);
  const previewed = freezable.flatMap(({ id }) => look.seen.get(id) ?? []);
  const seen = previewed.map(({ repository }) => repository);
  const open = previewed.flatMap((each) => each.open);
  const isSeen = new Set(seen.map(({ name }) => name));
  const fullName = ({ name }: PlanRepository): string => `${account.login}/${name}`;
  const unenforced = new Set(seen.flatMap(({ name, enforced }) => (enforced === 'no' ? [name] : [])));
  return {
    holding: plan,
    deployments: deploymentsForeseen(plan, seen),
    plan,
    repositories: seen,
    matched: matched.length,
    matchedIds: matched.map(({ id }) => id),
    archived: archived.map(({ name }) => name),
    notEnforced: matched.filter((each) => !each.isFreezable || unenforced.has(each.name)).map(fullName),
    notLookedAt: freezable.filter(({ name }) => !isSeen.has(name)).map(fullName),
    isLooking: look.isLooking,
    matchesNone: globsOfNothing(
      input.repositories.include,
      [...matched, ...archived].map(({ name }) => name),
    ),
    nextOccurrences,
    eventNames: read.names,
    timeUntilHeld:
      previewed[0] && holdsMerges(freeze.freeze)
        ? await foreseeTime(
            deps,
            previewed[0].installationId,
            previewed.map(({ id, repository: { name, toRefuse: refused }, selected }) => ({
              ...{ id, name, refused },
              ...selected,
            })),
          )
        : null,
    warnings: [
      ...read.warnings,
      ...warningsToTell(freeze, await seenOf(freeze, { open, labels: [] }, at), true).map(
        ({ message }) => message,
      ),
      ...foreseeGivenEnds(plan, matched, now),
      ...warnOfDates(plan),
      ...(await warnOfDeployments(deps.db, plan, nextOccurrences)),
      ...(await warnOfEnvironments(deps, plan, matched)),
    ],
  };
}

/** @returns null if GitHub did not list the open pull requests in time. */
async function previewIn(
  deps: Deps,
  { id, name }: PlanRepository,
  freeze: ParsedFreeze,
  at: Date,
): Promise<PreviewSeen | null> {
  const [row] = await deps.sql.query('read-repository', repositoryOfId, [id]);
  const repository = row && repositoryOfRow(row);
  if (!repository) return null;
  const [loaded, report] = await Promise.all([
    openPullRequestsInTime(deps, repository, needsOf([freeze]), looks),
    recentEnforcement(deps, repository),
  ]);
  if (!loaded) return null;
  const open = loaded.map(({ facts }) => facts);
  const verdicts = await mapAtOnce(open, (facts) => judgeFreeze(freeze, facts, at.getTime()));
  const pullRequests = open.map(({ number, values }, index) => ({
    number,
    title: textOrNull(values['title']),
    author: textOrNull(values['author']),
    held: isHeldVerdict(verdicts[index]!),
  }));
  const held = open.filter((_, index) => pullRequests[index]!.held);
  const ofMerges = report ? isFreezeEnforced(report, freeze.freeze, []) : 'unknown';
  const environments = report ? report.environments : null;
  const wordOf = (word: boolean | 'unknown'): Enforced => (word === 'unknown' ? word : word ? 'yes' : 'no');
  return {
    id,
    installationId: repository.installation.id,
    open,
    selected: await selectedAmong(freeze, open, at),
    repository: {
      name,
      toHold: held.length,
      toRefuse: countRefused(report?.required, held.map(baseOf)),
      unrequired: new Set(
        held.filter((each) => isUnrequired(report?.required, baseOf(each))).map(({ number }) => number),
      ),
      pullRequests: pullRequests.toSorted((one, other) => Number(other.held) - Number(one.held)),
      excluded: verdicts.filter((verdict) => verdict === 'excluded').length,
      enforced: wordOf(isAllEnforced(freeze.freeze, ofMerges, environments)),
      mergesEnforced: wordOf(ofMerges),
      deployments: holdsDeployments(freeze.freeze)
        ? judgeHeldDeployments(freeze.freeze, environments).held
        : null,
      environments: await foreseeEnvironments(deps, id, freeze.freeze, report),
    },
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
