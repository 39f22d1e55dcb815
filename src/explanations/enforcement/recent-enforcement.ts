import { within } from '../../clock.ts';
import { answersPerService } from '../../github/cache.ts';
import type { Deps } from '../../deps.ts';
import { heldPullRequests } from '../../statuses/held-pull-requests.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { checkSettings, type EnforcementReport, reportOf, type Settings } from './check-enforcement.ts';
import { isEnforced } from './finding.ts';

/** Milliseconds to cache settings. Each check costs GitHub requests, and people may load pages often. */
const freshFor = 60_000;
/** Milliseconds to cache settings with a problem. People who fix it reload the page. */
const missingFreshFor = 10_000;
/** Milliseconds that a request waits for a check. The check then continues for the next request. */
const patience = 3_000;
const mostKept = 1_000;

/** All answers about a repository use the same check, so they agree. */
const answersOf = answersPerService<Settings>(mostKept, ({ findings }) =>
  isEnforced(findings) === true ? freshFor : missingFreshFor,
);

/** Checks now whether the freezes of a repository are enforced. */
export async function lookAtEnforcement(deps: Deps, repository: FoundRepository): Promise<EnforcementReport> {
  const settings = await answersOf(deps).refresh(String(repository.id), () =>
    checkSettings(deps, repository),
  );
  return withHeld(deps, repository, settings);
}

/**
 * Whether the freezes of a repository are enforced. The answer is a minute old at most.
 * @returns null if the check takes longer than a request waits.
 */
export async function recentEnforcement(
  deps: Deps,
  repository: FoundRepository,
): Promise<EnforcementReport | null> {
  const answer = answersOf(deps).get(String(repository.id), () => checkSettings(deps, repository));
  const settings = await within(patience, answer);
  return settings && withHeld(deps, repository, settings);
}

/** Our tables say what is held, so that part is always current. */
const withHeld = async (deps: Deps, repository: FoundRepository, settings: Settings) =>
  reportOf(deps, repository, settings, await heldPullRequests(deps, repository.id));
