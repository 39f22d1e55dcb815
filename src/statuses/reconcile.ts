import { nowOf } from '../time/clock.ts';
import { endLeftBehind } from '../exemptions/end-exemptions.ts';
import { leftBehind, exemptedSubjectOf } from '../exemptions/exemption.ts';
import {
  loadClosedPullRequests,
  type LoadedPullRequest,
  loadPullRequest,
  loadPullRequestNodes,
  loadRepository,
} from '../github/pull-requests/load-pull-requests.ts';
import { asOpen, changedAtOf } from '../github/pull-requests/pull-request.ts';
import { stackPlacesIn } from '../github/pull-requests/stacks.ts';
import { readsEventsAt } from '../github/limits/read-shares.ts';
import { fullName } from '../installations/find-repository.ts';
import { defineTask, NotNow } from '../database/queue/define-task.ts';
import { inSteps, jobs, type PullRequestEvent } from '../database/queue/jobs.ts';
import { followVerdicts, holdAtOnce, holdMeanwhile } from './instant-hold/settle.ts';
import { closedSince, judge, nextChangeAmong } from './judge.ts';
import { reconcileMergeQueues } from './merge-queue.ts';
import { observe, type Observed, openObservation, type PullRequestReading } from './observe.ts';
import { saveObservation, saveClosed } from './save.ts';
import type { StatusDeps } from './status-deps.ts';

// What is observed together, and saved as one observation: all open pull requests of a repository, some that events
// name, or the closed ones.

/**
 * Observes every open pull request of a repository and queues the changed statuses. Level-triggered: it works out what
 * should be true now and ignores what woke it.
 * @param at the instant that it was planned for: a boundary of a freeze or of its conditions on time.
 * @throws NotNow; and what GitHub throws while it cannot answer: the worker tries again.
 */
export async function reconcileRepository(
  deps: StatusDeps,
  repositoryId: bigint,
  at: Date | null = null,
): Promise<void> {
  try {
    await reconcile(deps, repositoryId, at);
  } catch (error) {
    if (error instanceof NotNow && error.until) await holdMeanwhile(deps, repositoryId);
    // If there is nothing to find, the sweep does not need to ask again.
    else if (error instanceof NotNow) await forgetRequests(deps, repositoryId);
    throw error;
  }
}

async function reconcile(deps: StatusDeps, repositoryId: bigint, at: Date | null): Promise<void> {
  const observed = await openObservation(deps, repositoryId, { notBefore: at });
  const { repository, freezes, from, instantHold } = observed;
  const hold = instantHold === 'off' ? null : await holdAtOnce(deps, observed);
  if (hold?.hasBegun) {
    // The rest comes later, so that other repositories are held first.
    return deps.queue.send([jobs.reconcileRepository(repositoryId, at ?? undefined)]);
  }
  if (observed.hasIdleExemptions) await deps.queue.send([jobs.endExemptions(repositoryId, at ?? undefined)]);
  if (observed.hasDeployments) await deps.queue.send([jobs.reviewDeployments(repositoryId)]);
  await reconcileMergeQueues(deps, observed);
  const { pullRequests, stacks, isPrivate } = await observe(deps, repository, () => loadRepository(from));
  const reading = { pullRequests, events: null, stacks, isPrivate };
  if (hold?.isUndecided) await holdAtOnce(deps, observed, pullRequests);
  const { differing } = await saveWithSharers(deps, observed, reading);
  if (hold) await followVerdicts(deps, repository, observed.observation);
  // Of other queues we only know the entries: the webhooks of their groups were lost or come later.
  const queued = new Set(pullRequests.flatMap(({ queueBranch }) => queueBranch ?? []));
  const others = [...queued].filter((branch) => !observed.groupBranches.includes(branch));
  await deps.queue.send(others.map((branch) => jobs.reconcileMergeQueue(repositoryId, branch)));
  const counts = { pullRequests: pullRequests.length, freezes: freezes.length, differing };
  deps.log.info({ repository: fullName(repository), ...counts }, 'repository reconciled');
}

async function forgetRequests({ sql, clock }: StatusDeps, repositoryId: bigint): Promise<void> {
  await sql.query(
    'forget-requests',
    `UPDATE repositories SET reconciled_at = $2, reconcile_requested_at = NULL, next_change_at = NULL
     WHERE id = $1`,
    [repositoryId, nowOf(clock)],
  );
}

/**
 * Observes some pull requests of a repository, and those that share or shared a SHA with one of them as head or test
 * merge commit, because a status belongs to the SHA. One question to GitHub serves all that wait at the same time.
 * @throws NotNow, or GitHub's error while it cannot answer. The worker tries again.
 */
export async function reconcilePullRequests(
  deps: StatusDeps,
  repositoryId: bigint,
  events: PullRequestEvent[],
): Promise<void> {
  const through = events.find(({ installationId }) => installationId !== null)?.installationId;
  const opened = await openObservation(deps, repositoryId, { through });
  const { needs, ...from } = opened.from;
  const readsAt = readsEventsAt(deps, opened.repository, 1 + needs.teams.size);
  // They wait under their own keys: a later event may know more than an earlier one.
  if (readsAt)
    return deps.queue.send(events.map((each) => jobs.reconcilePullRequest(repositoryId, each, readsAt)));
  const observed = { ...opened, from: { ...from, needs, leavesReserve: true } };
  const places = stackPlacesIn(observed.from.stacks);
  const isRestacked = ({ number, stack }: PullRequestEvent) =>
    stack !== undefined && stack !== (places.get(number)?.number ?? null);
  // Who is below whom has changed: the whole repository is looked at, and nothing is said before.
  if (events.some(isRestacked)) return deps.queue.send([jobs.reconcileRepository(repositoryId)]);
  const subjects = [...new Map(events.map((each) => [each.number, each])).values()];
  const pullRequests = await observe(deps, observed.repository, () => loadSubjects(observed.from, subjects));
  await saveWithSharers(deps, observed, { pullRequests, events });
  if (observed.instantHold !== 'off') await followVerdicts(deps, observed.repository);
}

/** Asks for many by node id. Asks by number for a single one, and for those whose id no event gave. */
async function loadSubjects(
  from: Observed['from'],
  events: PullRequestEvent[],
): Promise<LoadedPullRequest[]> {
  const named = events.length > 1 ? events.flatMap(({ nodeId }) => nodeId ?? []) : [];
  const others = events.filter(({ nodeId }) => nodeId === undefined || !named.includes(nodeId));
  const loaded = named.length > 0 ? await loadPullRequestNodes(from, named) : [];
  for (const { number } of others) {
    const one = await loadPullRequest(from, number);
    if (one) loaded.push(one);
  }
  return loaded;
}

/** Milliseconds between two checks of closed pull requests for changes that time alone causes. */
const closedStep = 10 * 60_000;

/**
 * Observes the closed pull requests of a repository during a freeze and holds their head commits. Without a freeze, it
 * reads nothing and releases them. Runs when the set of ongoing freezes has changed.
 * @throws NotNow, or GitHub's error while it cannot answer. The worker tries again.
 */
async function reconcileClosedHeads(deps: StatusDeps, repositoryId: bigint): Promise<void> {
  const observed = await openObservation(deps, repositoryId);
  const { repository, freezes, observedAt } = observed;
  const from: Observed['from'] = {
    ...observed.from,
    isDecided: (facts) => observed.from.isDecided?.(asOpen(facts)) ?? false,
    leavesReserve: true,
  };
  const pullRequests = await observe(deps, repository, async () =>
    freezes.length === 0 ? [] : loadClosedPullRequests(from, closedSince(observedAt)),
  );
  const facts = pullRequests.map((pullRequest) => asOpen(pullRequest.facts));
  const next = await nextChangeAmong(freezes, facts, observedAt);
  const soonest = inSteps(observedAt, closedStep);
  // Send the job before we save which freezes judged them: after that, nothing requests another check.
  if (next) await deps.queue.send([jobs.reconcileClosedHeads(repositoryId, next > soonest ? next : soonest)]);
  await saveClosed(deps, observed, pullRequests);
}

/** The maximum for one question to GitHub. */
const mostSharers = 100;

/**
 * Saves the result once all pull requests that share a SHA were observed too. Then ends exemptions for another head or
 * base branch. None of them applied to this verdict.
 * @returns how many statuses to write.
 */
async function saveWithSharers(
  deps: StatusDeps,
  observed: Observed,
  reading: PullRequestReading,
): Promise<{ differing: number }> {
  const sharers = new Set<number>();
  const { repository, from, exemptions, observedAt } = observed;
  let { pullRequests } = reading;
  for (;;) {
    const saved = await saveObservation(deps, observed, { ...reading, pullRequests, sharers });
    const { unseen, isOutdated } = saved;
    if (isOutdated) return saved;
    if (unseen.length === 0) {
      const seen = pullRequests.map(({ facts }) => ({
        ...exemptedSubjectOf(facts),
        changedAt: changedAtOf(facts),
      }));
      await endLeftBehind(deps, repository, leftBehind(exemptions, seen, observedAt));
      return saved;
    }
    if (reading.events && unseen.length > mostSharers) {
      const differing = await byOwnerOrLater(
        deps,
        observed,
        { ...reading, events: reading.events },
        unseen.length,
      );
      if (differing !== null) return { differing };
    }
    const nodeIds = unseen.map(({ nodeId }) => nodeId);
    const sharing = await observe(deps, repository, () => loadPullRequestNodes(from, nodeIds));
    pullRequests = [...pullRequests, ...sharing];
    for (const { number } of unseen) sharers.add(number);
  }
}

/**
 * Anybody can open hundreds of pull requests with one commit, and change them all day. So who causes more than one question
 * about sharers has a share of the repository's questions, and waits without it, except where a hole has to be closed.
 * Nobody waits for the pull requests of another owner.
 * @param count how many pull requests are to be read beside those of the events.
 * @returns how many statuses to write, if the owners were dealt with one by one, or later; null: they may be read now.
 */
async function byOwnerOrLater(
  deps: StatusDeps,
  observed: Observed,
  { pullRequests, events, ...reading }: PullRequestReading & { events: PullRequestEvent[] },
  count: number,
): Promise<number | null> {
  const { repository } = observed;
  const owners = new Map(pullRequests.map(({ facts, headOwner }) => [facts.number, headOwner]));
  const ofOwners = Map.groupBy(events, ({ number }) => owners.get(number) ?? '');
  if (ofOwners.size > 1) {
    let sum = 0;
    for (const [owner, own] of ofOwners) {
      const theirs = pullRequests.filter(({ headOwner }) => headOwner === owner);
      const saved = await saveWithSharers(deps, observed, { ...reading, pullRequests: theirs, events: own });
      sum += saved.differing;
    }
    return sum;
  }
  const [owner = ''] = ofOwners.keys();
  // The next try asks about the events once more before it comes here.
  const before = 1 + observed.from.needs.teams.size;
  const readsAt = readsEventsAt(deps, repository, Math.ceil(count / mostSharers), owner, before);
  // Who can push to the repository waits for no stranger's commits.
  if (readsAt === null || owner === '' || (await closesHole(observed, pullRequests))) return null;
  await deps.queue.send(events.map((each) => jobs.reconcilePullRequest(repository.id, each, readsAt)));
  return 0;
}

/** Whether a freeze holds one of these pull requests, and GitHub shows `success` there. */
async function closesHole(observed: Observed, pullRequests: LoadedPullRequest[]): Promise<boolean> {
  const { judged } = await judge(
    observed,
    pullRequests.filter(({ isOpen }) => isOpen),
  );
  return judged.some(
    ({ holds, pullRequest: { status, testMerge } }) =>
      holds.length > 0 && [status, testMerge?.status].some((shown) => shown?.state === 'success'),
  );
}

export const reconcileRepositoryTask = defineTask(
  jobs.reconcileRepository,
  (deps: StatusDeps, { repositoryId, at }) =>
    reconcileRepository(deps, BigInt(repositoryId), at === undefined ? null : new Date(at)),
  { takers: 32, newestToo: true },
);

/** One question reads the waiting pull requests of a repository. They wait for GitHub, so many do at once. */
export const reconcilePullRequestTask = defineTask(
  jobs.reconcilePullRequest,
  (deps: StatusDeps, { repositoryId }, all) => reconcilePullRequests(deps, BigInt(repositoryId), all),
  {
    takers: 120,
    jobs: 40,
    together: ({ repositoryId }) => repositoryId,
  },
);

/** It yields: nobody merges a closed pull request before it is opened again. */
export const reconcileClosedHeadsTask = defineTask(
  jobs.reconcileClosedHeads,
  (deps: StatusDeps, { repositoryId }) => reconcileClosedHeads(deps, BigInt(repositoryId)),
  { takers: 4, yields: true },
);
