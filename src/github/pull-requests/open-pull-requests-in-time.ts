import { within } from '../../clock.ts';
import { cachePerService, keepAnswer } from '../cache.ts';
import type { FactNeeds } from '../../conditions/needs.ts';
import type { Deps } from '../../deps.ts';
import { pauseIfLimited } from '../pause.ts';
import { takeOne } from '../limits/minute-counts.ts';
import { type LoadedPullRequest, loadOpenPullRequests, type LoadFrom } from './load-pull-requests.ts';

/** The most milliseconds that a person who saves a freeze waits. After that, the look stops. */
const patience = 2_000;
/** Milliseconds that the result of one look is used. */
const freshFor = 10_000;
const mostKept = 100;
/** The most open pull requests to read: GitHub cannot give more in time. */
const mostOpen = 300;
/** Looks for each minute and installation, and the share of GitHub's hourly budget that stays for statuses. */
const usual = { name: 'looks ahead', perMinute: 30 };
const reserve = 1 / 2;

type Open = LoadedPullRequest[] | null;

/** The fields of the repository that this needs. */
type Watched = LoadFrom['repository'] & {
  observations: bigint;
  installation: { id: bigint; pausedUntil: Date | null; permissions: unknown };
};

const looksOf = cachePerService<string, Promise<Open>>(mostKept, freshFor);

/**
 * The open pull requests of a repository, if GitHub gives them soon and statuses do not suffer.
 * @param looksAllowed how many such looks for each minute and installation, and the name of their count.
 * @returns null otherwise; never throws.
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
    return await loadOpenPullRequests({ deps, client, repository, needs, stacks: [], signal });
  } catch (error) {
    await pauseIfLimited(deps, installation, error);
    throw error;
  }
}
