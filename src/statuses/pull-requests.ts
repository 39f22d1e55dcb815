import type { Deps } from '../deps.ts';
import { endLeftBehind } from '../exemptions/end-exemptions.ts';
import { leftBehind, subjectOf } from '../exemptions/judge-exemption.ts';
import {
  type LoadedPullRequest,
  loadPullRequest,
  loadPullRequestNodes,
} from '../github/pull-requests/load-pull-requests.ts';
import { placesIn } from '../github/pull-requests/stacks.ts';
import { changedAtOf } from '../github/pull-requests/pull-request.ts';
import { defineTask } from '../queue/define-task.ts';
import { jobs, type Told } from '../queue/jobs.ts';
import { observe, type Observed, openObservation } from './observe.ts';
import { type Found, save } from './save.ts';

/**
 * Observes some pull requests of a repository, and those that share or shared a SHA with one of them as head or test
 * merge commit, because a status belongs to the SHA. One question to GitHub serves all that wait at the same time.
 * @throws NotNow, or GitHub's error while it cannot answer. The worker tries again.
 */
export async function reconcilePullRequests(deps: Deps, repositoryId: bigint, told: Told[]): Promise<void> {
  const through = told.find(({ installationId }) => installationId !== null)?.installationId;
  const observed = await openObservation(deps, repositoryId, { through });
  const places = placesIn(observed.from.stacks);
  const isNews = ({ number, stack }: Told) =>
    stack !== undefined && stack !== (places.get(number)?.number ?? null);
  // Who is below whom has changed: the whole repository is looked at, and nothing is said before.
  if (told.some(isNews)) return deps.queue.send([jobs.reconcileRepository(repositoryId)]);
  const subjects = [...new Map(told.map((each) => [each.number, each])).values()];
  const pullRequests = await observe(deps, observed.repository, () => loadSubjects(observed.from, subjects));
  await saveWithSharers(deps, observed, { pullRequests, of: told });
}

/** Asks for many by node id. Asks by number for a single one, and for those whose id no event gave. */
async function loadSubjects(from: Observed['from'], told: Told[]): Promise<LoadedPullRequest[]> {
  const named = told.length > 1 ? told.flatMap(({ nodeId }) => nodeId ?? []) : [];
  const others = told.filter(({ nodeId }) => nodeId === undefined || !named.includes(nodeId));
  const loaded = named.length > 0 ? await loadPullRequestNodes(from, named) : [];
  for (const { number } of others) {
    const one = await loadPullRequest(from, number);
    if (one) loaded.push(one);
  }
  return loaded;
}

/** The maximum for one question to GitHub. If more share a SHA, we observe the whole repository. */
const mostSharers = 100;

/**
 * Saves the result once all pull requests that share a SHA were observed too. Then ends exemptions for another head or
 * base branch. None of them applied to this verdict.
 * @returns how many statuses to write.
 */
export async function saveWithSharers(
  deps: Deps,
  observed: Observed,
  found: Found,
): Promise<{ differing: number }> {
  const asked = new Set<number>();
  let { pullRequests } = found;
  for (;;) {
    const { differing, unseen, isOutdated } = await save(deps, observed, { ...found, pullRequests, asked });
    if (isOutdated) return { differing };
    if (unseen.length === 0) {
      await endLeftBehind(deps, observed.repository, leftBehindIn(observed, pullRequests));
      return { differing };
    }
    if (found.of !== 'open' && unseen.length > mostSharers) {
      await deps.queue.send([jobs.reconcileRepository(observed.repository.id)]);
      return { differing };
    }
    const nodeIds = unseen.map(({ nodeId }) => nodeId);
    const sharing = await observe(deps, observed.repository, () =>
      loadPullRequestNodes(observed.from, nodeIds),
    );
    pullRequests = [...pullRequests, ...sharing];
    for (const { number } of unseen) asked.add(number);
  }
}

function leftBehindIn({ exemptions, observedAt }: Observed, pullRequests: LoadedPullRequest[]) {
  const seen = pullRequests.map(({ facts }) => ({ ...subjectOf(facts), changedAt: changedAtOf(facts) }));
  return leftBehind(exemptions, seen, observedAt);
}

/** One question reads the waiting pull requests of a repository, so few workers take many of them. */
export const reconcilePullRequestTask = defineTask(
  jobs.reconcilePullRequest,
  (deps, { repositoryId }, all) => reconcilePullRequests(deps, BigInt(repositoryId), all),
  { takers: 3, jobs: 40, together: ({ repositoryId }) => repositoryId },
);
