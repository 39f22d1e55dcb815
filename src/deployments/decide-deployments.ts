import pLimit from 'p-limit';
import { isFreshBy, nowOf, type ClockReading, readingOf } from '../time/clock.ts';
import { publicReasonOf } from '../exemptions/exemption.ts';
import { lettingDeployments } from '../exemptions/exemption-store.ts';
import { holdsDeployments, type StoredFreeze } from '../freezes/freeze.ts';
import { phaseOf } from '../freezes/freeze-window.ts';
import { listFreezes } from '../freezes/list-freezes.ts';
import { freezesAreOn } from '../installations/product.ts';
import { readSettings } from '../settings/settings.ts';
import { answersPerService } from '../github/cache.ts';
import { defineTask, NotNow, presentOf } from '../database/queue/define-task.ts';
import { inSteps, jobs } from '../database/queue/jobs.ts';
import { observe, type ObservedRepository } from '../statuses/observe.ts';
import {
  holdingComment,
  judgeDeployments,
  type Deployment,
  environmentKey,
  isHeldDeployment,
} from './deployment.ts';
import { openDeployments, watch } from './deployment-store.ts';
import { type DeploymentProgress, progressOf } from './run-progress.ts';
import { actOn, openSettling, pageOfDeployment, type Settling, type ToTell } from './settle.ts';
import type { StatusDeps } from '../statuses/status-deps.ts';

// Decides on the deployments of a repository that wait at GitHub. Level-triggered: it works out what should be true now
// and asks GitHub for the difference, so that it does not matter what woke it, or how often.

/** Requests at once. */
const decisionsAtOnce = 8;
/** Milliseconds until the next try if GitHub was busy with a deployment, or another one must go first. */
const decideAgainAfter = 1_000;
/** The most milliseconds until we ask again whether the one before has begun. Events tell, but they get lost. */
const mostBetweenAsks = 30_000;
/** GitHub takes ten reports for a deployment. */
const mostReports = 10;
/** Each round releases what the round before made room for. */
const mostRounds = 50;
/** Milliseconds that a plan counts. GitHub may answer slowly, and freezes change meanwhile. */
const plannedFreshFor = 3_000;

/**
 * Decides on every deployment of a repository that waits.
 * @param notBefore the boundary of a freeze that woke us; our clock may be behind.
 * @param only the run to decide on: many requests at once must not do the same work.
 * Sends a job for those that must be looked at again soon.
 * @throws NotNow if GitHub may not be asked now; and GitHub's errors: the worker tries again.
 */
export async function decideDeployments(
  deps: StatusDeps,
  repositoryId: bigint,
  notBefore: Date | null,
  only: bigint | null = null,
): Promise<void> {
  await watch(deps.db, repositoryId, nowOf(deps.clock));
  if ((await openDeployments(deps.db, repositoryId, nowOf(deps.clock))).length === 0) return;
  const settling = await openSettling(deps, repositoryId);
  /** One that fails is tried once, and does not delay the others. */
  const failures = new Map<string, unknown>();
  let isOver = false;
  let before: Deployment | null = null;
  for (let round = 0; round < mostRounds && !isOver && !deps.stopping.aborted; round++) {
    const { acts, isQueued, plannedAt, ...turn } = await plan(settling, notBefore);
    before = turn.before;
    const left = acts.filter(
      ([deployment]) =>
        (only ?? deployment.runId) === deployment.runId && !failures.has(deploymentName(deployment)),
    );
    if (left.length === 0 && failures.size > 0) throw [...failures.values()][0];
    if (left.length === 0 && !isQueued) return;
    if (left.length === 0) break;
    const isFresh = () => isFreshBy(deps.clock, plannedAt, plannedFreshFor);
    const limit = pLimit(decisionsAtOnce);
    let isFull = false;
    const tell = async ([deployment, verdict]: Act) => {
      if (isFull) return;
      try {
        const outcome = await actOn(settling, deployment, verdict, isFresh);
        isFull ||= outcome === 'full';
        isOver ||= outcome !== 'done';
      } catch (error) {
        isFull ||= error instanceof NotNow;
        failures.set(deploymentName(deployment), error);
      }
    };
    await Promise.all(left.map((each) => limit(tell, each)));
    const pause = [...failures.values()].find((error) => error instanceof NotNow);
    if (pause) throw pause;
  }
  const now = nowOf(deps.clock);
  // A runner may come soon, or in hours.
  const since = before && !isOver ? (now.getTime() - before.decidedAt!.getTime()) / 4 : 0;
  const pause = Math.min(Math.max(since - decideAgainAfter, 0), mostBetweenAsks);
  const at = inSteps(new Date(now.getTime() + pause), decideAgainAfter);
  await deps.queue.send([jobs.decideDeployments(repositoryId, at)]);
}

const deploymentName = ({ runId, attempt, environment }: Deployment) =>
  `${runId}/${attempt}/${environmentKey(environment)}`;

type Act = [Deployment, ToTell];

/**
 * What to ask of GitHub now.
 * @property isQueued whether one waits for another one. @property before the last one that went out and has not begun yet,
 *   if one waits for that.
 */
async function plan(
  settling: Settling,
  notBefore: Date | null,
): Promise<{ acts: Act[]; isQueued: boolean; before: Deployment | null; plannedAt: ClockReading }> {
  const { deps, repository } = settling;
  const plannedAt = readingOf(deps.clock);
  const now = new Date(plannedAt.now);
  const at = presentOf(now, notBefore);
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
    if (verdict.kind === 'queue') {
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
    kind === 'hold' ? 2 : isHeldDeployment(deployment) && kind !== 'exempt' ? 1 : 0;
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

export const decideDeploymentsTask = defineTask(
  jobs.decideDeployments,
  (deps: StatusDeps, { repositoryId, at }) =>
    decideDeployments(deps, BigInt(repositoryId), at === undefined ? null : new Date(at)),
);
