import { cachePerService, keepAnswer } from '../../cache.ts';
import type { FactNeeds } from '../../conditions/needed-facts.ts';
import type { Deps } from '../../deps.ts';
import { pauseIfLimited } from '../pause.ts';
import { takeOne } from '../limits/minute-counts.ts';
import { within } from '../../within.ts';
import { type LoadedPullRequest, loadOpenPullRequests, type LoadFrom } from './load-pull-requests.ts';

/** Milliseconds that somebody who saves a freeze waits at most. What is not read by then is not asked for any more. */
const patience = 2_000;
/** Milliseconds that one look serves, while nothing was looked at anew. */
const freshFor = 10_000;
const mostKept = 100;
/** What GitHub cannot give in time, it is not asked for. */
const mostOpen = 300;
/** Looks a minute and installation, and the share of GitHub's hourly budget that is left for statuses. */
const usual = { name: 'looks ahead', perMinute: 30 };
const reserve = 1 / 2;

type Open = LoadedPullRequest[] | null;

/** The repository, as far as it matters here. */
type Watched = LoadFrom['repository'] & {
  observations: bigint;
  installation: { id: bigint; pausedUntil: Date | null; permissions: unknown };
};

const looksOf = cachePerService<string, Promise<Open>>(mostKept, freshFor);

/**
 * The open pull requests of a repository, if they can be had soon and at no cost to statuses.
 * @param looksAllowed how many such looks a minute and installation, and what they are counted as.
 * @returns null where they cannot; never throws.
 */
export async function openPullRequestsInTime(
  deps: Deps,
  repository: Watched,
  needs: FactNeeds,
  looksAllowed = usual,
): Promise<Open> {
  const looks = looksOf(deps);
  const { id, observations } = repository;
  const key = JSON.stringify([
    String(id),
    String(observations),
    [...needs.facts].sort(),
    [...needs.teams].sort(),
  ]);
  const ask = () =>
    keepAnswer(looks, deps.clock, key, read(deps, repository, needs, looksAllowed), () => freshFor);
  try {
    return await within(patience, looks.get(key) ?? ask());
  } catch (error) {
    deps.log.debug({ err: error }, 'the open pull requests could not be read in time');
    return null;
  }
}

async function read(
  deps: Deps,
  repository: Watched,
  needs: FactNeeds,
  looksAllowed: typeof usual,
): Promise<Open> {
  const { id: installation, pausedUntil, permissions } = repository.installation;
  const now = deps.clock.now();
  const signal = AbortSignal.timeout(patience);
  if (pausedUntil && pausedUntil.getTime() > now) return null;
  if (deps.github.budgetLeft(installation, now) < reserve) return null;
  const known = await deps.db.openPullRequest.count({ where: { repositoryId: repository.id } });
  const { name, perMinute } = looksAllowed;
  if (known > mostOpen || !(await takeOne(deps, `${name} ${installation}`, perMinute))) return null;
  const client = await deps.github.asInstallation(installation, permissions);
  try {
    return await loadOpenPullRequests({ deps, client, repository, needs, signal });
  } catch (error) {
    await pauseIfLimited(deps, installation, error);
    throw error;
  }
}
