import { within } from '../../time/clock.ts';
import { mayAskNow, pauseIfLimited } from '../ask-github.ts';
import { answersPerService } from '../cache.ts';
import type { FactNeeds } from '../../conditions/needs.ts';
import { searchAhead } from '../../conditions/search-ahead.ts';
import { searchInThread } from './search-in-thread.ts';
import { type LoadedPullRequest, loadOpenPullRequests, type LoadFrom } from './load-pull-requests.ts';
import type { GitHubDeps } from '../github-deps.ts';

/** The most milliseconds that a person who saves a freeze waits. After that, the look stops. */
const lookAheadPatience = 2_000;
/** Milliseconds that an answer is used. */
const lookAheadFreshFor = 10_000;
const mostLooksKept = 100;
/** The most open pull requests to read: GitHub cannot give more in time. */
const mostOpen = 300;
/** Looks for each minute and installation, and the share of GitHub's hourly budget that stays for statuses. */
const usual = { name: 'looks ahead', perMinute: 30 };
const lookAheadReserve = 1 / 2;

type Open = LoadedPullRequest[] | null;

/** The fields of the repository that this needs. */
type WatchedLook = LoadFrom['repository'] & {
  observations: bigint;
  installation: { id: bigint; pausedUntil: Date | null; readsPausedUntil: Date | null; permissions: unknown };
};

const answersOf = answersPerService<Open>(mostLooksKept, () => lookAheadFreshFor);

/**
 * The open pull requests of a repository, if GitHub gives them soon and statuses do not suffer.
 * @param count how many such looks for each minute and installation, and the name of their count.
 * @returns null otherwise; never throws.
 */
export async function openPullRequestsInTime(
  deps: GitHubDeps,
  repository: WatchedLook,
  needs: FactNeeds,
  count = usual,
): Promise<Open> {
  const { id, observations } = repository;
  const key = JSON.stringify([
    String(id),
    String(observations),
    [...needs.facts].sort(),
    [...needs.teams].sort(),
  ]);
  const answer = answersOf(deps).get(key, () => readOpen(deps, repository, needs, count));
  try {
    const open = await within(lookAheadPatience, answer);
    // The answer may be to the same question about other conditions.
    for (const { facts } of open ?? []) await searchAhead(needs, facts, searchInThread);
    return open;
  } catch (error) {
    deps.log.debug({ err: error }, 'the open pull requests could not be read in time');
    return null;
  }
}

async function readOpen(
  deps: GitHubDeps,
  repository: WatchedLook,
  needs: FactNeeds,
  count: typeof usual,
): Promise<Open> {
  const { id: installation, pausedUntil, readsPausedUntil, permissions } = repository.installation;
  const signal = AbortSignal.timeout(lookAheadPatience);
  const isPaused = (until: Date | null) => until !== null && until.getTime() > deps.clock.now();
  if (isPaused(pausedUntil) || isPaused(readsPausedUntil)) return null;
  const known = await deps.db.openPullRequest.count({ where: { repositoryId: repository.id } });
  if (known > mostOpen) return null;
  const counted = { ...count, name: `${count.name} ${installation}` };
  if ((await mayAskNow(deps, installation, lookAheadReserve, counted)) !== 'yes') return null;
  const client = await deps.github.asInstallation(installation, permissions);
  try {
    return await loadOpenPullRequests({ deps, client, repository, needs, stacks: [], signal });
  } catch (error) {
    await pauseIfLimited(deps, installation, error);
    throw error;
  }
}
