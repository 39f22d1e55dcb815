import type { Deps } from '../deps.ts';
import { heldPullRequests } from '../reconcile/held-pull-requests.ts';
import type { GitHubApp } from '../github/github-app.ts';
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

type Look = { settings: Promise<Settings>; until: number };
type Looks = Map<bigint, Look>;

/** Of each service in this process. All answers about a repository rest on the same look, so they agree. */
const looksOf = new WeakMap<GitHubApp, Looks>();

/** Whether freezes of a repository are enforced, as GitHub says now. */
export async function lookAtEnforcement(deps: Deps, repository: FoundRepository): Promise<EnforcementReport> {
  return withHeld(deps, repository, await begin(deps, repository).settings);
}

/**
 * Whether freezes of a repository are enforced, as GitHub said a minute ago at most.
 * @returns null while the look is under way for longer than one waits.
 */
export async function recentEnforcement(
  deps: Deps,
  repository: FoundRepository,
): Promise<EnforcementReport | null> {
  const known = looksOf.get(deps.github)?.get(repository.id);
  const look = known && known.until > deps.clock.now() ? known : begin(deps, repository);
  const settings = await within(patience, look.settings);
  return settings && withHeld(deps, repository, settings);
}

/** What is held stands in our own tables, and is always of now. */
const withHeld = async (deps: Deps, repository: FoundRepository, settings: Settings) =>
  reportOf(deps, repository, settings, await heldPullRequests(deps, repository.id));

function begin(deps: Deps, repository: FoundRepository): Look {
  const looks = looksOf.get(deps.github) ?? (new Map() as Looks);
  looksOf.set(deps.github, looks);
  const now = deps.clock.now();
  const look = { settings: checkSettings(deps, repository), until: now + freshFor };
  look.settings.then(
    ({ findings }) => {
      if (isEnforced(findings) !== true) look.until = now + missingFreshFor;
    },
    // It fails only where our database does; then the next one looks again.
    () => looks.delete(repository.id),
  );
  if (looks.size >= mostKept) looks.clear();
  looks.set(repository.id, look);
  return look;
}
