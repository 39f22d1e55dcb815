import pLimit from 'p-limit';
import { nowOf } from '../clock.ts';
import { compileNameGlob } from '../conditions/patterns/compile-glob.ts';
import type { Deps } from '../deps.ts';
import { isFreezeEnforced } from './enforcement/finding.ts';
import { recentEnforcement } from './enforcement/recent-enforcement.ts';
import { judgeFreeze, needsOf, parseFreeze, type ParsedFreeze } from '../freezes/judge-freeze.ts';
import type { Account } from '../generated/prisma/client.ts';
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import { openPullRequestsInTime } from '../github/pull-requests/open-pull-requests-in-time.ts';
import { repositoryOfId, repositoryOfRow } from '../installations/repository-rows.ts';
import { assertNotOver, checkPlan } from '../plans/check-plan.ts';
import { next } from '../plans/keep-plan.ts';
import { matchedRepositories, type PlanRepository } from '../plans/matched-repositories.ts';
import type { Occurrence } from '../plans/occurrences.ts';
import type { PlanInput } from '../plans/plan.ts';
import { mostShown, foreseeGivenEnds } from '../plans/show-plan.ts';
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
  /** The included globs that match no repository, as they were sent. */
  matchesNone: string[];
  nextOccurrences: Occurrence[];
  /** Warnings for the creator, in sentences. */
  warnings: string[];
};

/** Milliseconds after which we start no more checks: one check takes 3 s at most, and all of them 10 s. */
const patience = 6_500;
const sideBySide = 6;
/** Checks per minute and installation. */
const looks = { name: 'plan previews', perMinute: 240 };

/**
 * Previews a plan on the open pull requests, as far as GitHub answers within 10 s. Saves nothing.
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

/** Checks repositories in parallel until the time is up. Keeps their order. */
async function lookAtAll(
  deps: Deps,
  places: PlanRepository[],
  look: (place: PlanRepository) => Promise<PreviewedRepository | null>,
): Promise<PreviewedRepository[]> {
  const timeUp = AbortSignal.any([AbortSignal.timeout(patience), deps.stopping]);
  const seen = await pLimit(sideBySide).map(places, (place) => (timeUp.aborted ? null : look(place)));
  return seen.filter((each) => each !== null);
}

/** @returns null if GitHub did not list the open pull requests in time. @param all gets the pull requests. */
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
