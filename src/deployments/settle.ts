import { nowOf } from '../time/clock.ts';
import { NotNow } from '../database/queue/define-task.ts';
import { throughPrisma } from '../database/sql.ts';
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
  environmentKey,
  isHeldDeployment,
} from './deployment.ts';
import { settleDeployment, type Settlement } from './deployment-store.ts';
import { wasLetThrough } from './run-progress.ts';
import type { Item, Outcome } from '../outside/effect.ts';
import type { StatusDeps } from '../statuses/status-deps.ts';
import type { StoredFreeze } from '../freezes/freeze.ts';

// Tells GitHub what was decided about a deployment, and saves what came of it. GitHub takes one review at a time for an
// environment of a run, and the lane of the repository gives it one; an answer that never came is asked about.

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
type ToTell = Exclude<DeploymentVerdict, { kind: 'queue' }>;

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
 * A deployment of which GitHub is to be told.
 * @property attempts more than one: an earlier request may have arrived. Only that is found out, and what is to do then is
 *   worked out anew. @property isFresh whether the verdict still counts: freezes change.
 */
export type ToReview = Item & { deployment: Deployment; verdict: DeploymentVerdict; isFresh(): boolean };

/**
 * What a review came to: an end or a report; `nothing`: it did not arrive; `busy`: GitHub takes it in a moment;
 * `unsure`: it may have arrived.
 */
type Came = Settlement | 'nothing' | 'busy' | 'unsure';
export type Reviewed = Outcome & { came: Came };

/** No answer came, so it may have arrived. Its cause is the error. */
class Unanswered extends Error {}

const isDone = (came: Came): Reviewed => ({ kind: 'done', came });

/** Milliseconds until the next try if GitHub was busy, or takes no more reviews now. */
export const reviewAgainAfter = 1_000;

/** What GitHub is to be told, as the row keeps it. */
export function reviewOf(
  settling: Settling,
  { deployment, verdict }: Pick<ToReview, 'deployment' | 'verdict'>,
): { answer: Review | null; freezeIds: string[] | null } {
  if (deployment.attempted !== null || verdict.kind === 'queue') return { answer: null, freezeIds: null };
  const freezeIds = 'freezes' in verdict ? verdict.freezes.map(({ id }) => id) : null;
  return { answer: answerFor(settling, deployment, verdict).answer, freezeIds };
}

/** Whether an earlier request arrived whose answer did not come. @returns null if it did not. */
export async function findReview(
  settling: Settling,
  { deployment, verdict }: ToReview,
): Promise<Reviewed | null> {
  const { remote } = settling;
  const { runId, environment } = deployment;
  const before = deployment.attempted!;
  if (before !== 'report') return (await isPending(remote, deployment)) ? null : isDone({ state: before });
  if (verdict.kind !== 'hold') return null;
  const { comment } = answerFor(settling, deployment, verdict);
  return (await hasComment(remote, runId, environment, comment)) ? isDone({ report: comment }) : null;
}

/** Tells GitHub a verdict. @throws Unanswered; and GitHub's error if it did not arrive. */
export async function tellVerdict(settling: Settling, given: ToReview): Promise<Reviewed> {
  const { deps, repository, remote } = settling;
  const { deployment, verdict, isFresh, attempts } = given;
  if (attempts > 1 || verdict.kind === 'queue') return isDone('nothing');
  const { answer, comment } = answerFor(settling, deployment, verdict);
  const now = nowOf(deps.clock);
  if (verdict.kind === 'exempt' && !(await takeExemption(deps.db, verdict.exemption, deployment, now)))
    return isDone('busy');
  if (!(await takeReview(deps, repository.installation.id)))
    return { kind: 'limited', until: new Date(now.getTime() + reviewAgainAfter), came: 'nothing' };
  if (!isFresh()) return isDone('nothing');
  const { runId, environment } = deployment;
  const told = { ...stateOf[answer], comment };
  const taken = await review(remote, runId, environment, told).catch((error: unknown) => {
    throw classifyGitHubError(error, deps.clock.now()).kind === 'down'
      ? new Unanswered('no answer to a review', { cause: error })
      : error;
  });
  if (taken === 'race') return isDone('busy');
  // GitHub's lists may be late, its refusal is not.
  if (taken === 'not waiting')
    return { kind: 'refused', came: { state: await endWithoutUs(remote, deployment) } };
  if (answer !== 'report') return isDone({ state: answer });
  // Somebody approved our part before, and another rule still holds it.
  return isDone(taken === 'reviewed' ? { state: 'approved', isFree: true } : { report: comment });
}

/**
 * What an error of GitHub means for a review. A limit counts for the installation.
 * @returns how the lane goes on, and the error if it has to try again.
 */
export async function whyNotReviewed(
  { deps, repository }: Settling,
  thrown: unknown,
  { attempts }: ToReview,
): Promise<Reviewed & { error?: unknown }> {
  const error = thrown instanceof Unanswered ? thrown.cause : thrown;
  const came = attempts > 1 || thrown instanceof Unanswered ? 'unsure' : 'nothing';
  const failure = classifyGitHubError(error, deps.clock.now());
  if (failure.kind === 'limited' && failure.isSecondary) await slowReviews(deps, repository.installation.id);
  const seen = await observe(deps, repository, () => Promise.reject(error as Error)).catch(
    (each: unknown) => each,
  );
  return seen instanceof NotNow && seen.until
    ? { kind: 'limited', until: seen.until, came }
    : { kind: 'down', came, error: seen };
}

/** Milliseconds after a request in which GitHub may not show yet that the deployment waits. */
const appearsWithin = 20_000;

/**
 * Saves how a deployment ended that no longer waits, and of which GitHub is not told now: by somebody who went past us,
 * or because its run was cancelled or is gone.
 */
export async function settleVanished(settling: Settling, deployment: Deployment): Promise<'done' | 'again'> {
  const { deps, remote } = settling;
  if (deployment.attempted !== null) return 'again';
  const state = await endWithoutUs(remote, deployment);
  // GitHub may just not show yet that it waits.
  const mayAppear = deps.clock.now() - deployment.requestedAt.getTime() < appearsWithin;
  if (state === 'gone' && mayAppear) return 'again';
  return (await settle(settling, deployment, { state }, null)) ? 'done' : 'again';
}

/** How a deployment ended that nobody of us decided. */
async function endWithoutUs(
  remote: RepositoryClient,
  deployment: Deployment,
): Promise<'gone' | 'bypassed' | 'approved'> {
  if (!(await wasLetThrough(remote, deployment))) return 'gone';
  return isHeldDeployment(deployment) ? 'bypassed' : 'approved';
}

/** The audit event of each end of a deployment that a freeze held. */
const eventOf = {
  approved: 'deployment.released',
  rejected: 'deployment.rejected',
  superseded: 'deployment.rejected',
  bypassed: 'deployment.bypassed',
} as const;

/**
 * Saves what came of a deployment, and tells the audit log if a freeze held it.
 * @param turn of the lane that told GitHub; null: no lane did. @returns whether it was still to be saved.
 */
export async function settle(
  settling: Settling,
  deployment: Deployment,
  { isFree = !isHeldDeployment(deployment), ...settlement }: Settlement,
  turn: bigint | null,
): Promise<boolean> {
  const { deps, repository } = settling;
  const { state, report } = settlement;
  const now = nowOf(deps.clock);
  const isSaved = await deps.db.$transaction(async (tx) => {
    if (!(await settleDeployment(throughPrisma(tx), repository.id, deployment, settlement, turn, now)))
      return false;
    const place = placeOf(repository);
    const metadata = inEvent(settling, deployment);
    if (report !== undefined && deployment.reports === 0)
      await appendEvent(tx, place, { type: 'deployment.held', metadata }, ourselves, now);
    if (state === undefined) return true;
    const taken = await takenBy(tx, repository.id, deployment);
    if (taken) await endTaken(tx, place, taken, state === 'approved', now);
    if (state === 'gone' || isFree) return true;
    const exempt = taken && state === 'approved' && { deployment_exemption_id: taken.id };
    const event = { type: eventOf[state], metadata: { ...metadata, state, ...exempt } } as const;
    // GitHub does not say who went past us.
    await appendEvent(tx, place, event, state === 'bypassed' ? null : ourselves, now);
    return true;
  });
  if (isSaved && state !== undefined) {
    const { runId, environment } = deployment;
    const about = { repository: fullName(repository), run: String(runId), environment, state };
    deps.log.info(about, 'a deployment was decided');
  }
  return isSaved;
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
