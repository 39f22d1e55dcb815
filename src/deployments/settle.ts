import { nowOf } from '../time/clock.ts';
import { throughPrisma } from '../database/sql.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { ourselves } from '../events/actor.ts';
import { endTaken } from '../exemptions/end-exemptions.ts';
import { takenBy } from '../exemptions/exemption-store.ts';
import { webUrlOf } from '../github/web-url.ts';
import { fullName } from '../installations/find-repository.ts';
import { freezePath } from '../page-paths.ts';
import { findObservable, observe, type ObservedRepository } from '../statuses/observe.ts';
import type { RepositoryClient } from './ask-github.ts';
import { type Deployment, isHeldDeployment } from './deployment.ts';
import { settleDeployment, type Settlement } from './deployment-store.ts';
import { wasLetThrough } from './run-progress.ts';
import type { StatusDeps } from '../statuses/status-deps.ts';
import type { StoredFreeze } from '../freezes/freeze.ts';

// Saves what came of a deployment: an end, a report, or that GitHub was told nothing.

/** What the work on one repository needs. */
export type Settling = { deps: StatusDeps; repository: ObservedRepository; remote: RepositoryClient };

/** @throws NotNow if GitHub may not be asked now. */
export async function openSettling(deps: StatusDeps, repositoryId: bigint): Promise<Settling> {
  const repository = await findObservable(deps, repositoryId);
  const { id, permissions } = repository.installation;
  const client = await observe(deps, repository, () => deps.github.asInstallation(id, permissions));
  return { deps, repository, remote: { client, owner: repository.account.login, repo: repository.name } };
}

export const pageOfDeployment =
  (deps: StatusDeps, repository: ObservedRepository) => (freeze: StoredFreeze) =>
    `${deps.config.publicUrl}${freezePath(repository, freeze.id)}`;

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
  return (await saveSettlement(settling, deployment, { state }, null)) ? 'done' : 'again';
}

/** How a deployment ended that nobody of us decided. */
export async function endWithoutUs(
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
export async function saveSettlement(
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
export const runPage = ({ deps, repository }: RunLink, runId: bigint): string =>
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
