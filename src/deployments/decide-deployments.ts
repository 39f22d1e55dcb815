import { isFreshBy, nowOf, type ClockReading, readingOf } from '../time/clock.ts';
import { publicReasonOf } from '../exemptions/exemption.ts';
import { lettingDeployments } from '../exemptions/exemption-store.ts';
import { holdsDeployments, type StoredFreeze } from '../freezes/freeze.ts';
import { phaseOf } from '../freezes/freeze-window.ts';
import { listFreezes } from '../freezes/list-freezes.ts';
import { freezesAreOn } from '../installations/product.ts';
import { readSettings } from '../settings/settings.ts';
import { answersPerService } from '../github/cache.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import type { Effect } from '../outside/effect.ts';
import { defineLane } from '../outside/work-lane.ts';
import { observe, type ObservedRepository } from '../statuses/observe.ts';
import {
  holdingComment,
  judgeDeployments,
  type Deployment,
  type DeploymentVerdict,
  environmentKey,
  isHeldDeployment,
} from './deployment.ts';
import { openDeployments, presentInDatabase, takeReviews, watch } from './deployment-store.ts';
import { type DeploymentProgress, progressOf } from './run-progress.ts';
import {
  findReview,
  openSettling,
  pageOfDeployment,
  reviewAgainAfter,
  type Reviewed,
  reviewOf,
  settle,
  type Settling,
  tellVerdict,
  type ToReview,
  whyNotReviewed,
} from './settle.ts';
import type { StatusDeps } from '../statuses/status-deps.ts';

// Decides on the deployments of a repository that wait at GitHub. Level-triggered: it works out what should be true now
// and asks GitHub for the difference, so that it does not matter what woke it, or how often.

/** How many reviews are under way at once. */
const reviewsAtOnce = 8;
/** The most milliseconds until we ask again whether the one before has begun. Events tell, but they get lost. */
const mostBetweenAsks = 30_000;
/** GitHub takes ten reports for a deployment. */
const mostReports = 10;
/** Milliseconds that a plan counts. GitHub may answer slowly, and freezes change meanwhile. */
const plannedFreshFor = 3_000;

/** What GitHub is told of the deployments of a repository that wait, in its lane. */
function reviewsIn(settling: Settling, turn: bigint): Effect<ToReview, Reviewed> {
  const { deps, repository } = settling;
  /** What is not tried again in this turn, and why. Null: GitHub was busy with it. It delays no others. */
  const left = new Map<string, unknown>();
  return {
    room: { first: reviewsAtOnce, most: reviewsAtOnce },
    async take(most) {
      const { acts, isQueued, before, plannedAt } = await plan(settling);
      const now = nowOf(deps.clock);
      const due = acts.filter(([deployment]) => !left.has(deploymentName(deployment)));
      if (due.length === 0) {
        for (const error of left.values()) if (error) throw error;
        return {
          items: [],
          then: isQueued || left.size > 0 ? lookAgainAt(before, left.size > 0, now) : null,
        };
      }
      const begun = due.slice(0, most).map(([deployment, verdict]) => {
        return { deployment, verdict, ...reviewOf(settling, { deployment, verdict }) };
      });
      const taken = await takeReviews(deps.sql, repository.id, turn, begun);
      const isFresh = () => isFreshBy(deps.clock, plannedAt, plannedFreshFor);
      const items = taken.map(({ deployment, verdict, freezeIds }) => ({
        deployment: { ...deployment, freezeIds: freezeIds ?? deployment.freezeIds },
        attempts: deployment.attempted === null ? 1 : 2,
        ...{ verdict, isFresh },
      }));
      // If none was taken, they have ended, or the lane is no longer ours.
      return { items, then: items.length > 0 ? 'more' : now };
    },
    look: (item) => observe(deps, repository, () => findReview(settling, item)),
    async act(item) {
      const reviewed = await tellVerdict(settling, item);
      if (reviewed.came === 'busy') left.set(deploymentName(item.deployment), null);
      return reviewed;
    },
    async failureOf(thrown, item) {
      const { error, ...reviewed } = await whyNotReviewed(settling, thrown, item);
      if (reviewed.kind === 'down') left.set(deploymentName(item.deployment), error);
      return reviewed;
    },
    async settle(results) {
      for (const { item, result } of results)
        if (result.came !== 'unsure')
          await settle(settling, item.deployment, typeof result.came === 'string' ? {} : result.came, turn);
    },
  };
}

/** When to look again at what waits for another one: a runner may come soon, or in hours. */
function lookAgainAt(before: Deployment | null, isBusy: boolean, now: Date): Date {
  const since = before && !isBusy ? (now.getTime() - before.decidedAt!.getTime()) / 4 : 0;
  return new Date(now.getTime() + Math.min(Math.max(since, reviewAgainAfter), mostBetweenAsks));
}

const deploymentName = ({ runId, attempt, environment }: Deployment) =>
  `${runId}/${attempt}/${environmentKey(environment)}`;

type Act = [Deployment, DeploymentVerdict];

/**
 * What to ask of GitHub now: first what became of requests whose answers did not come.
 * @property isQueued whether one waits for another one. @property before the last one that went out and has not begun yet,
 *   if one waits for that.
 */
async function plan(
  settling: Settling,
): Promise<{ acts: Act[]; isQueued: boolean; before: Deployment | null; plannedAt: ClockReading }> {
  const { deps, repository } = settling;
  const plannedAt = readingOf(deps.clock);
  const now = new Date(plannedAt.now);
  const at = await presentInDatabase(deps.sql, now);
  const all = await openDeployments(deps.db, repository.id, now);
  const freezes = freezesAreOn(repository.products) ? await listFreezes(deps.sql, repository, at) : [];
  const ongoing = freezes.filter((freeze) => phaseOf(freeze, at) === 'ongoing');
  // As on merges: beside a freeze with a public reason, an exemption's own reason is not public.
  const isHidden = freezes.some(({ publicReason }) => publicReason !== null);
  const exemptions = ongoing.length > 0 ? await lettingDeployments(deps.db, repository.id, at) : [];
  const { releaseDeployments } = await readSettings(deps.db, repository.id);
  const verdicts = judgeDeployments(
    all,
    ({ environment }) => ongoing.filter((freeze) => holdsDeployments(freeze, environment)),
    releaseDeployments,
    exemptions.map((each) => ({ ...each, reason: publicReasonOf(each, isHidden) })),
  );
  const acts: Act[] = [];
  let isQueued = false;
  /** By environment. */
  const notBegun = new Map<string, Deployment | null>();
  for (const [deployment, verdict] of verdicts) {
    if (deployment.attempted !== null) {
      acts.push([deployment, verdict]);
    } else if (verdict.kind === 'queue') {
      isQueued = true;
    } else if (verdict.kind === 'hold') {
      if (isToReport(deps, repository, deployment, verdict.freezes, now)) acts.push([deployment, verdict]);
    } else if (verdict.kind === 'approve' && releaseDeployments === 'all') {
      const key = environmentKey(deployment.environment);
      const before = notBegun.get(key) ?? (await oneBefore(settling, all, deployment));
      notBegun.set(key, before);
      if (before === null) acts.push([deployment, verdict]);
    } else acts.push([deployment, verdict]);
  }
  // What nothing ever held, or an exemption lets go, goes first, and what is only told last.
  const urgency = ([deployment, { kind }]: Act) =>
    deployment.attempted !== null
      ? -1
      : kind === 'hold'
        ? 2
        : isHeldDeployment(deployment) && kind !== 'exempt'
          ? 1
          : 0;
  const sorted = acts.toSorted((one, other) => urgency(one) - urgency(other));
  const [before = null] = [...notBegun.values()].filter((each) => each !== null).toSorted(lastDecidedFirst);
  return { acts: sorted, isQueued: isQueued || before !== null, before, plannedAt };
}

const lastDecidedFirst = (one: Deployment, other: Deployment): number =>
  other.decidedAt!.getTime() - one.decidedAt!.getTime();

/** How many we ask about. */
const mostBefore = 10;

/** Which ones have begun or ended: that does not change. */
const begun = answersPerService<DeploymentProgress>(10_000, (progress) =>
  progress === 'begun' ? Infinity : 0,
);

/**
 * One of those that went before a deployment in its environment and have neither begun nor ended: no runner has taken it,
 * or another rule holds it. Those that freezes held count, and the last one if a freeze held this one. One that no freeze
 * held waits for runners only: nobody may ever decide on the other rule.
 */
async function oneBefore(
  { deps, repository, remote }: Settling,
  all: Deployment[],
  deployment: Deployment,
): Promise<Deployment | null> {
  const earlier = all
    .filter(({ state }) => state !== 'waiting')
    .filter((each) => environmentKey(each.environment) === environmentKey(deployment.environment))
    .toSorted(lastDecidedFirst)
    .filter((each, index) => isHeldDeployment(each) || (index === 0 && isHeldDeployment(deployment)));
  for (const each of earlier.slice(0, mostBefore)) {
    const ask = () => observe(deps, repository, () => progressOf(remote, each));
    const progress = await begun(deps).get(`${repository.id} ${deploymentName(each)}`, ask);
    if (progress === 'queued' || (progress === 'waiting' && isHeldDeployment(deployment))) return each;
  }
  return null;
}

/** Once, and again only if the words have changed. */
function isToReport(
  deps: StatusDeps,
  repository: ObservedRepository,
  deployment: Deployment,
  freezes: StoredFreeze[],
  now: Date,
): boolean {
  if (deployment.reports === 0) return true;
  const words = holdingComment(freezes, pageOfDeployment(deps, repository), now);
  return words !== deployment.report && deployment.reports < mostReports;
}

export const reviewDeploymentsTask = defineLane(
  jobs.reviewDeployments,
  async (deps: StatusDeps, { repositoryId }, turn) => {
    const id = BigInt(repositoryId);
    await watch(deps.db, id, nowOf(deps.clock));
    if ((await openDeployments(deps.db, id, nowOf(deps.clock))).length === 0) return null;
    return reviewsIn(await openSettling(deps, id), turn);
  },
  { takers: 16 },
);

export const decideDeploymentsTask = defineTask(jobs.decideDeployments, (deps, { repositoryId }) =>
  deps.queue.send([jobs.reviewDeployments(BigInt(repositoryId))]),
);
