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
  /** The open ones. Those that it would hold come first. */
  pullRequests: { number: number; title: string | null; author: string | null; held: boolean }[];
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
  const freezable = matched.filter(({ isFreezable }) => isFreezable);
  const timeUp = AbortSignal.any([AbortSignal.timeout(patience), deps.stopping]);
  const previewed = (
    await pLimit(sideBySide).map(freezable, (each) =>
      timeUp.aborted ? null : previewIn(deps, each, freeze, at),
    )
  ).filter((each) => each !== null);
  const seen = previewed.map(({ repository }) => repository);
  const open = previewed.flatMap((each) => each.open);
  const isSeen = new Set(seen.map(({ name }) => name));
  const fullName = ({ name }: PlanRepository): string => `${account.login}/${name}`;
  const unenforced = new Set(seen.flatMap(({ name, enforced }) => (enforced === 'no' ? [name] : [])));
  return {
    repositories: seen,
    matched: matched.length,
    notEnforced: matched.filter((each) => !each.isFreezable || unenforced.has(each.name)).map(fullName),
    notLookedAt: freezable.filter(({ name }) => !isSeen.has(name)).map(fullName),
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

/** @returns null if GitHub did not list the open pull requests in time. */
async function previewIn(
  deps: Deps,
  { id, name }: PlanRepository,
  freeze: ParsedFreeze,
  at: Date,
): Promise<{ repository: PreviewedRepository; open: PullRequestFacts[] } | null> {
  const [row] = await deps.sql.query('read-repository', repositoryOfId, [id]);
  const repository = row && repositoryOfRow(row);
  if (!repository) return null;
  const [loaded, report] = await Promise.all([
    openPullRequestsInTime(deps, repository, needsOf([freeze]), looks),
    recentEnforcement(deps, repository),
  ]);
  if (!loaded) return null;
  const open = loaded.map(({ facts }) => facts);
  const verdicts = open.map((facts) => judgeFreeze(freeze, facts, at.getTime()));
  const pullRequests = open.map(({ number, values }, index) => ({
    number,
    title: textOrNull(values['title']),
    author: textOrNull(values['author']),
    held: ['frozen', 'unknown'].includes(verdicts[index]!),
  }));
  const enforced = report ? isFreezeEnforced(report.findings, freeze.freeze, []) : 'unknown';
  return {
    open,
    repository: {
      name,
      toHold: pullRequests.filter(({ held }) => held).length,
      pullRequests: pullRequests.toSorted((one, other) => Number(other.held) - Number(one.held)),
      excluded: verdicts.filter((verdict) => verdict === 'excluded').length,
      enforced: enforced === 'unknown' ? enforced : enforced ? 'yes' : 'no',
    },
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
