import { type ClockReading, readingOf } from '../time/clock.ts';
import { publicReasonOf } from '../exemptions/exemption.ts';
import { lettingDeployments } from '../exemptions/exemption-store.ts';
import { holdsDeployments, type StoredFreeze } from '../freezes/freeze.ts';
import { phaseOf } from '../freezes/freeze-window.ts';
import { listFreezes } from '../freezes/list-freezes.ts';
import { freezesAreOn } from '../installations/product.ts';
import { readSettings } from '../settings/settings.ts';
import { answersPerService } from '../github/cache.ts';
import { observe, type ObservedRepository } from '../statuses/observe.ts';
import {
  holdingComment,
  judgeDeployments,
  type Deployment,
  type DeploymentVerdict,
  environmentKey,
  isHeldDeployment,
} from './deployment.ts';
import { openDeployments, presentInDatabase } from './deployment-store.ts';
import { type DeploymentProgress, progressOf } from './run-progress.ts';
import { pageOfDeployment, type Settling } from './settle.ts';
import type { StatusDeps } from '../statuses/status-deps.ts';

// Decides on the deployments of a repository that wait at GitHub. Level-triggered: it works out what should be true now,
// and GitHub is told the difference, so that it does not matter what woke it, or how often.

/** GitHub takes ten reports for a deployment. */
const mostReports = 10;

export const deploymentName = ({ runId, attempt, environment }: Deployment) =>
  `${runId}/${attempt}/${environmentKey(environment)}`;

/** A deployment of which GitHub is to be told. */
type Act = [Deployment, DeploymentVerdict];

/**
 * What to ask of GitHub now: first what became of requests whose answers did not come.
 * @property isQueued whether one waits for another one. @property before the last one that went out and has not begun yet,
 *   if one waits for that.
 */
export async function planReviews(
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
