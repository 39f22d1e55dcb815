import { nowOf } from '../clock.ts';
import { compileNameGlob } from '../conditions/patterns/compile-name-glob.ts';
import type { Deps } from '../deps.ts';
import { isFreezeEnforced } from '../enforcement/finding.ts';
import { recentEnforcement } from '../enforcement/recent-enforcement.ts';
import { judgeFreeze } from '../freezes/judge-freeze.ts';
import { needsOf, parseFreeze, type ParsedFreeze } from '../freezes/parsed-freeze.ts';
import type { Account } from '../generated/prisma/client.ts';
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import { openPullRequestsInTime } from '../github/pull-requests/open-pull-requests-in-time.ts';
import { repositoryOfId, repositoryOfRow } from '../installations/repository-rows.ts';
import { assertNotOver, checkPlan } from '../plans/check-plan.ts';
import { next } from '../plans/keep-plan.ts';
import { matchedRepositories, type PlanRepository } from '../plans/matched-repositories.ts';
import type { Occurrence } from '../plans/occurrences.ts';
import type { PlanInput } from '../plans/plan.ts';
import { mostShown } from '../plans/show-plan.ts';
import { foreseeGivenEnds } from '../plans/warn-of-given-ends.ts';
import { seenOf, warningsToTell } from './look-ahead.ts';

/** What a plan would do in one repository. */
export type PreviewedRepository = {
  name: string;
  toHold: number;
  excluded: number;
  enforced: 'yes' | 'no' | 'unknown';
};

export type PlanPreview = {
  repositories: PreviewedRepository[];
  matched: number;
  /** Full names. */
  notEnforced: string[];
  notLookedAt: string[];
  /** What it includes that no repository matches, as it was sent. */
  matchesNone: string[];
  nextOccurrences: Occurrence[];
  /** Sentences: what to warn of whoever makes it. */
  warnings: string[];
};

/** Milliseconds after which no more repositories are looked at: a look takes 3 s at most, and 10 s all of them. */
const patience = 6_500;
const sideBySide = 6;
/** Looks a minute and installation. */
const looks = { name: 'plan previews', perMinute: 240 };

/**
 * What a plan would do with the pull requests that are open now, as far as GitHub tells in 10 s. Nothing is saved.
 * @throws Refusal invalid as for the creation.
 */
export async function previewPlan(deps: Deps, account: Account, input: PlanInput): Promise<PlanPreview> {
  const now = nowOf(deps.clock);
  const plan = { ...checkPlan(input, now), accountId: account.id };
  assertNotOver(plan, now);
  const nextOccurrences = next(plan, now, mostShown);
  const [first] = nextOccurrences as [Occurrence];
  const freeze = parseFreeze({
    ...plan,
    ...first,
    id: '',
    repositoryId: 0n,
    publicReason: plan.publicReason,
  });
  const at = first.startsAt > now ? first.startsAt : now;
  const matched = await matchedRepositories(deps.sql, plan);
  const places = matched.filter(({ isFreezable }) => isFreezable);
  const open: PullRequestFacts[] = [];
  const seen = await lookAtAll(deps, places, (place) => lookAtOne(deps, place, freeze, at, open));
  const isSeen = new Set(seen.map(({ name }) => name));
  const fullName = ({ name }: PlanRepository): string => `${account.login}/${name}`;
  const unenforced = new Set(seen.flatMap(({ name, enforced }) => (enforced === 'no' ? [name] : [])));
  return {
    repositories: seen,
    matched: matched.length,
    notEnforced: matched.filter((each) => !each.isFreezable || unenforced.has(each.name)).map(fullName),
    notLookedAt: places.filter(({ name }) => !isSeen.has(name)).map(fullName),
    matchesNone: input.repositories.include.filter((glob) => {
      const matches = compileNameGlob(glob);
      return !matched.some(({ name }) => matches(name));
    }),
    nextOccurrences,
    warnings: [
      ...warningsToTell(freeze, seenOf(freeze, open, at), true).map(({ message }) => message),
      ...foreseeGivenEnds(plan, matched, now),
    ],
  };
}

/** Looks at some repositories side by side, until the time is up; in their order. */
async function lookAtAll(
  deps: Deps,
  places: PlanRepository[],
  look: (place: PlanRepository) => Promise<PreviewedRepository | null>,
): Promise<PreviewedRepository[]> {
  const timeUp = AbortSignal.any([AbortSignal.timeout(patience), deps.stopping]);
  const seen = new Array<PreviewedRepository | null>(places.length).fill(null);
  const waiting = places.entries();
  const lookOn = async () => {
    for (const [at, place] of waiting) {
      if (timeUp.aborted) return;
      seen[at] = await look(place);
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, lookOn));
  return seen.filter((each) => each !== null);
}

/** null where GitHub did not tell in time what is open. @param all gets what is. */
async function lookAtOne(
  deps: Deps,
  place: PlanRepository,
  freeze: ParsedFreeze,
  at: Date,
  all: PullRequestFacts[],
): Promise<PreviewedRepository | null> {
  const [row] = await deps.sql.query('read-repository', repositoryOfId, [place.id]);
  const repository = row && repositoryOfRow(row);
  if (!repository) return null;
  const [open, report] = await Promise.all([
    openPullRequestsInTime(deps, repository, needsOf([freeze]), looks),
    recentEnforcement(deps, repository),
  ]);
  if (!open) return null;
  all.push(...open.map(({ facts }) => facts));
  const verdicts = open.map(({ facts }) => judgeFreeze(freeze, facts, at.getTime()));
  const enforced = report ? isFreezeEnforced(report.findings, freeze.freeze, []) : 'unknown';
  return {
    name: place.name,
    toHold: verdicts.filter((verdict) => verdict === 'frozen' || verdict === 'unknown').length,
    excluded: verdicts.filter((verdict) => verdict === 'excluded').length,
    enforced: enforced === 'unknown' ? enforced : enforced ? 'yes' : 'no',
  };
}
