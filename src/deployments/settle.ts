import { nowOf } from '../time/clock.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { ourselves } from '../events/actor.ts';
import { endTaken, takeExemption } from '../exemptions/end-exemptions.ts';
import { takenBy } from '../exemptions/exemption-store.ts';
import { classifyGitHubError } from '../github/github-error.ts';
import { webUrlOf } from '../github/web-url.ts';
import { fullName } from '../installations/find-repository.ts';
import { freezePath } from '../page-paths.ts';
import { findObservable, observe, type ObservedRepository } from '../statuses/observe.ts';
import {
  type RepositoryClient,
  hasComment,
  pendingEnvironments,
  review,
  type TakenReview,
  slowReviews,
  takeReview,
} from './ask-github.ts';
import {
  approvingComment,
  exemptComment,
  holdingComment,
  rejectingComment,
  supersededComment,
  type DeploymentVerdict,
  type Review,
  type Deployment,
  type DeploymentState,
  environmentKey,
  isHeldDeployment,
} from './deployment.ts';
import { claimDeployments, decided, release } from './deployment-store.ts';
import { wasLetThrough } from './run-progress.ts';
import type { StatusDeps } from '../statuses/status-deps.ts';
import type { StoredFreeze } from '../freezes/freeze.ts';

// Tells GitHub what was decided about a deployment, and saves what came of it. GitHub takes one review at a time for an
// environment of a run, so a claim in the database goes before each; an answer that never came is asked about.

/** What the work on one repository needs. */
export type Settling = { deps: StatusDeps; repository: ObservedRepository; remote: RepositoryClient };

/** @throws NotNow if GitHub may not be asked now. */
export async function openSettling(deps: StatusDeps, repositoryId: bigint): Promise<Settling> {
  const repository = await findObservable(deps, repositoryId);
  const { id, permissions } = repository.installation;
  const client = await observe(deps, repository, () => deps.github.asInstallation(id, permissions));
  return { deps, repository, remote: { client, owner: repository.account.login, repo: repository.name } };
}

const isPending = async (remote: RepositoryClient, { runId, environment }: Deployment): Promise<boolean> =>
  (await pendingEnvironments(remote, runId)).some(
    (name) => environmentKey(name) === environmentKey(environment),
  );

export const pageOfDeployment =
  (deps: StatusDeps, repository: ObservedRepository) => (freeze: StoredFreeze) =>
    `${deps.config.publicUrl}${freezePath(repository, freeze.id)}`;

/** A verdict that GitHub should hear. */
export type ToTell = Exclude<DeploymentVerdict, { kind: 'queue' }>;

/** What we tell GitHub for a verdict, and in which words. */
function answerFor(
  { deps, repository }: Settling,
  deployment: Deployment,
  verdict: ToTell,
): { answer: Review; comment: string } {
  const page = pageOfDeployment(deps, repository);
  switch (verdict.kind) {
    case 'approve':
      return { answer: 'approved', comment: approvingComment(isHeldDeployment(deployment)) };
    case 'exempt':
      return { answer: 'approved', comment: exemptComment(verdict.exemption.reason) };
    case 'reject':
      return { answer: 'rejected', comment: rejectingComment(verdict.freezes, page) };
    case 'supersede': {
      const run = runPage({ deps, repository }, verdict.by.runId);
      return { answer: 'superseded', comment: supersededComment(verdict.by, run) };
    }
    default:
      return { answer: 'report', comment: holdingComment(verdict.freezes, page, nowOf(deps.clock)) };
  }
}

/** A report decides nothing. */
const stateOf = {
  approved: { state: 'approved' },
  rejected: { state: 'rejected' },
  superseded: { state: 'rejected' },
  report: {},
} as const;

/**
 * Tells GitHub a verdict.
 * @param isFresh whether the verdict still counts: freezes change. @returns `again` if it must be looked at again soon,
 *   `full` if GitHub takes no more reviews now.
 */
export async function actOn(
  settling: Settling,
  deployment: Deployment,
  verdict: ToTell,
  isFresh: () => boolean,
): Promise<'done' | 'again' | 'full'> {
  if (!isFresh()) return 'done';
  const { deps, repository, remote } = settling;
  const { answer, comment } = answerFor(settling, deployment, verdict);
  const freezeIds = 'freezes' in verdict ? verdict.freezes.map(({ id }) => id) : null;
  const held = await claimDeployments(
    deps.db,
    repository.id,
    deployment,
    answer,
    freezeIds,
    nowOf(deps.clock),
  );
  if (held === null) return 'again';
  const { attempted: before } = held;
  if (held.reports !== deployment.reports) {
    // Another process has told GitHub since we planned: the next round plans anew.
    await release(deps.db, repository.id, deployment, { attempted: before });
    return 'done';
  }
  let isSent = false;
  try {
    if (
      verdict.kind === 'exempt' &&
      !(await takeExemption(deps.db, verdict.exemption, held, nowOf(deps.clock)))
    ) {
      await release(deps.db, repository.id, deployment, { attempted: before });
      return 'again';
    }
    if (before !== null && (await hasArrived(settling, held, before, comment))) return 'again';
    const isFull = !(await takeReview(deps, repository.installation.id));
    if (isFull || !isFresh()) {
      await release(deps.db, repository.id, deployment, { attempted: null });
      return isFull ? 'full' : 'done';
    }
    isSent = true;
    const { runId, environment } = deployment;
    const taken = await review(remote, runId, environment, { ...stateOf[answer], comment });
    isSent = taken !== 'not waiting';
    return await settleAnswer(settling, held, answer, comment, taken);
  } catch (error) {
    const failure = classifyGitHubError(error, deps.clock.now());
    const { kind } = failure;
    if (kind === 'limited' && failure.isSecondary) await slowReviews(deps, repository.installation.id);
    // Without an answer it may have arrived. Any answer but success means that it did not.
    const attempted = !isSent ? before : kind === 'down' ? answer : null;
    try {
      return await observe(deps, repository, () => Promise.reject(error as Error));
    } finally {
      // After the pause of a limit began: another process must not repeat it before.
      await release(deps.db, repository.id, deployment, { attempted });
    }
  }
}

/** Whether an earlier request arrived whose answer did not come. Then that is saved. */
async function hasArrived(
  settling: Settling,
  deployment: Deployment,
  before: Review,
  comment: string,
): Promise<boolean> {
  const { deps, repository, remote } = settling;
  if (before === 'report') {
    const { runId, environment } = deployment;
    if (!(await hasComment(remote, runId, environment, comment))) return false;
    await saveReport(settling, deployment, comment);
    return true;
  }
  if (await isPending(remote, deployment)) return false;
  await end(settling, { ...deployment, attempted: before }, before);
  await release(deps.db, repository.id, deployment, {});
  return true;
}

async function settleAnswer(
  settling: Settling,
  deployment: Deployment,
  answer: Review,
  comment: string,
  taken: TakenReview,
): Promise<'done' | 'again'> {
  const { deps, repository } = settling;
  if (taken === 'race') {
    await release(deps.db, repository.id, deployment, { attempted: null });
    return 'again';
  }
  if (taken === 'not waiting') {
    // GitHub's lists may be late, its refusal is not.
    await settleEnded(settling, deployment);
    await release(deps.db, repository.id, deployment, {});
    return 'done';
  }
  if (answer === 'report') {
    // Somebody approved our part before, and another rule still holds it.
    if (taken === 'reviewed') await end(settling, { ...deployment, freezeIds: [] }, 'approved');
    else await saveReport(settling, deployment, comment);
  } else await end(settling, deployment, answer);
  return 'done';
}

/** Milliseconds after a request in which GitHub may not show yet that the deployment waits. */
const appearsWithin = 20_000;

/**
 * Saves how a deployment ended that no longer waits: by an answer of ours, by somebody who went past us, or because its
 * run was cancelled or is gone.
 */
export async function settleVanished(settling: Settling, deployment: Deployment): Promise<'done' | 'again'> {
  const { deps, repository } = settling;
  const current = await claimDeployments(deps.db, repository.id, deployment, null, null, nowOf(deps.clock));
  if (current === null) return 'again';
  try {
    const mayAppear = deps.clock.now() - current.requestedAt.getTime() < appearsWithin;
    return (await settleEnded(settling, current, mayAppear)) ? 'done' : 'again';
  } finally {
    await release(deps.db, repository.id, current, {});
  }
}

/** @param mayAppear whether GitHub may just not show yet that it waits. @returns whether it has ended. */
async function settleEnded(settling: Settling, deployment: Deployment, mayAppear = false): Promise<boolean> {
  const { attempted } = deployment;
  if (attempted !== null && attempted !== 'report') {
    await end(settling, deployment, attempted);
    return true;
  }
  const isThrough = await wasLetThrough(settling.remote, deployment);
  if (!isThrough && mayAppear) return false;
  await end(
    settling,
    deployment,
    !isThrough ? 'gone' : isHeldDeployment(deployment) ? 'bypassed' : 'approved',
  );
  return true;
}

async function saveReport(settling: Settling, deployment: Deployment, comment: string): Promise<void> {
  const { deps, repository } = settling;
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    const change = { reports: { increment: 1 }, report: comment, attempted: null };
    await release(tx, repository.id, deployment, change);
    if (deployment.reports > 0) return;
    const event = { type: 'deployment.held', metadata: inEvent(settling, deployment) } as const;
    await appendEvent(tx, placeOf(repository), event, ourselves, now);
  });
}

/** The audit event of each end of a deployment that a freeze held. */
const eventOf = {
  approved: 'deployment.released',
  rejected: 'deployment.rejected',
  superseded: 'deployment.rejected',
  bypassed: 'deployment.bypassed',
} as const;

/** Saves the end of a deployment, and tells the audit log if a freeze held it. */
export async function end(
  settling: Settling,
  deployment: Deployment,
  state: Exclude<DeploymentState, 'waiting'> | Exclude<Review, 'report'>,
): Promise<void> {
  const { deps, repository } = settling;
  const now = nowOf(deps.clock);
  await deps.db.$transaction(async (tx) => {
    if (!(await decided(tx, repository.id, deployment, state, now))) return;
    const taken = await takenBy(tx, repository.id, deployment);
    if (taken) await endTaken(tx, placeOf(repository), taken, state === 'approved', now);
    if (state === 'gone' || !isHeldDeployment(deployment)) return;
    const exempt = taken && state === 'approved' && { deployment_exemption_id: taken.id };
    const metadata = { ...inEvent(settling, deployment), state, ...exempt };
    const event = { type: eventOf[state], metadata } as const;
    // GitHub does not say who went past us.
    await appendEvent(tx, placeOf(repository), event, state === 'bypassed' ? null : ourselves, now);
  });
  const { runId, environment } = deployment;
  const about = { repository: fullName(repository), run: String(runId), environment, state };
  deps.log.info(about, 'a deployment was decided');
}

type RunLink = Pick<Settling, 'repository'> & { deps: Pick<Settling['deps'], 'config'> };

/** The page of a run at GitHub. */
const runPage = ({ deps, repository }: RunLink, runId: bigint): string =>
  `${webUrlOf(deps.config.githubApiUrl)}/${fullName(repository)}/actions/runs/${runId}`;

const inEvent = (
  place: RunLink,
  { runId, runNumber, attempt, environment, workflow, ref, sha, freezeIds }: Deployment,
) => ({
  run_url: runPage(place, runId),
  run_id: Number(runId),
  run_number: runNumber,
  attempt,
  environment,
  workflow,
  ref,
  sha,
  scheduled_freeze_ids: freezeIds,
});
