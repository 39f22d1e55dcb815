import { cachePerService, keepAnswer } from '../cache.ts';
import type { Deps } from '../deps.ts';
import { heldPullRequests } from '../reconcile/held-pull-requests.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import { within } from '../within.ts';
import { checkSettings, type EnforcementReport, reportOf, type Settings } from './check-enforcement.ts';
import { isEnforced } from './finding.ts';

/** Milliseconds that settings are used again: each look costs GitHub calls, and people load pages as often as they like. */
const freshFor = 60_000;
/** Those in which something is missing, shorter: whoever mends it loads the page again. */
const missingFreshFor = 10_000;
/** Milliseconds that somebody waits for a look; it goes on by itself for the next one. */
const patience = 3_000;
const mostKept = 1_000;

/** All answers about a repository rest on the same look, so they agree. */
const looksOf = cachePerService<bigint, Promise<Settings>>(mostKept, freshFor);

/** Whether freezes of a repository are enforced, as GitHub says now. */
export async function lookAtEnforcement(deps: Deps, repository: FoundRepository): Promise<EnforcementReport> {
  return withHeld(deps, repository, await begin(deps, repository));
}

/**
 * Whether freezes of a repository are enforced, as GitHub said a minute ago at most.
 * @returns null while the look is under way for longer than one waits.
 */
export async function recentEnforcement(
  deps: Deps,
  repository: FoundRepository,
): Promise<EnforcementReport | null> {
  const settings = await within(patience, looksOf(deps).get(repository.id) ?? begin(deps, repository));
  return settings && withHeld(deps, repository, settings);
}

/** What is held stands in our own tables, and is always of now. */
const withHeld = async (deps: Deps, repository: FoundRepository, settings: Settings) =>
  reportOf(deps, repository, settings, await heldPullRequests(deps, repository.id));

/** It fails only where our database does. */
const begin = (deps: Deps, repository: FoundRepository): Promise<Settings> =>
  keepAnswer(looksOf(deps), deps.clock, repository.id, checkSettings(deps, repository), ({ findings }) =>
    isEnforced(findings) === true ? freshFor : missingFreshFor,
  );
