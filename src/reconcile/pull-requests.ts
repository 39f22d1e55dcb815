import type { Deps } from '../deps.ts';
import { endLeftBehind } from '../exemptions/end-exemptions.ts';
import { leftBehind, subjectOf } from '../exemptions/judge-exemption.ts';
import {
  type LoadedPullRequest,
  loadPullRequest,
  loadPullRequestNodes,
} from '../github/pull-requests/load-pull-requests.ts';
import { changedAtOf } from '../github/pull-requests/pull-request.ts';
import { jobs, type Told } from '../queue/jobs.ts';
import { observe, type Observed, openObservation } from './observe.ts';
import { type Found, save } from './save.ts';

/**
 * Observes some pull requests of a repository and those that share a SHA with one of them, now or until now, as head
 * or test merge commit: a status belongs to the SHA. One question serves all that wait at the same time.
 * @throws NotNow; and what GitHub throws while it cannot answer: the worker tries again.
 */
export async function reconcilePullRequests(deps: Deps, repositoryId: bigint, told: Told[]): Promise<void> {
  const through = told.find(({ installationId }) => installationId !== null)?.installationId;
  const observed = await openObservation(deps, repositoryId, { through });
  const subjects = [...new Map(told.map((each) => [each.number, each])).values()];
  const pullRequests = await observe(deps, observed.repository, () => loadSubjects(observed.from, subjects));
  await saveWithSharers(deps, observed, { pullRequests, of: told });
}

/** By node id, many at once; a single one, and those that no event gave an id of, by number. */
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

/** GitHub gives no more with one question: where more share a SHA, all of the repository is observed. */
const mostSharers = 100;

/**
 * Saves what was found, as soon as everybody who shares a SHA with those was observed, too. Then ends the exemptions
 * that were for another head or base branch: none of them has let this one through.
 * @returns how many statuses are to be written.
 */
export async function saveWithSharers(
  deps: Deps,
  observed: Observed,
  found: Found,
): Promise<{ differing: number }> {
  const asked = new Set<number>();
  let { pullRequests } = found;
  for (;;) {
    const { differing, unseen } = await save(deps, observed, { ...found, pullRequests, asked });
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
