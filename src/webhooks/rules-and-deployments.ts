import { jobs } from '../database/queue/jobs.ts';
import type { Wake } from './accept-event.ts';
import type { Own, Payloads } from './handled-events.ts';

// What events about rules, and about deployments that wait for rules, make us check again.

/** GitHub asks whether a run may deploy to an environment. */
export function requestedDeployment(
  {
    repository: place,
    environment,
    installation,
    deployment,
    deployment_callback_url: url,
  }: Payloads['deployment_protection_rule'],
  own: Own,
): Wake[] {
  const runId = runOfCallback(url, place.full_name, own);
  if (runId === null) return [];
  const installationId = installation ? String(installation.id) : null;
  const told = { environment, requestedAt: deployment?.created_at ?? undefined, installationId };
  return [{ to: 'jobs', jobs: [jobs.lookAtRun(BigInt(place.id), runId, told)] }];
}

/** The id of the run in the address where we answer. The address is rebuilt and compared, and never followed. */
function runOfCallback(url: string, fullName: string, { githubApiUrl }: Own): string | null {
  const runId = /\/actions\/runs\/(\d{1,15})\/deployment_protection_rule$/.exec(url)?.[1];
  const own = `${githubApiUrl}/repos/${fullName}/actions/runs/${runId}/deployment_protection_rule`;
  return runId !== undefined && url.toLowerCase() === own.toLowerCase() ? runId : null;
}

/** A deployment that was let through, began or ended: perhaps one that waits for us, or that another one waits for. */
export function deploymentOfRun({
  repository: place,
  deployment: { environment },
  deployment_status: status,
  workflow_run: run,
}: Payloads['deployment_status']): Wake[] {
  if (!run?.id || status?.state === 'waiting') return [];
  const hasBegun = status?.state !== 'queued';
  const about = { repositoryId: BigInt(place.id), runId: String(run.id), environment: environment ?? null };
  return [{ to: 'deployments', ...about, hasBegun }];
}

/** What branches require may have changed: in a repository, or by a ruleset of an organization in many. */
export function changedRules({ repository, organization }: Payloads['repository_ruleset']): Wake[] {
  if (repository) return [{ to: 'jobs', jobs: [jobs.noteRules({ repositoryId: BigInt(repository.id) })] }];
  if (!organization) return [];
  return [{ to: 'jobs', jobs: [jobs.noteRules({ accountId: BigInt(organization.id) })] }];
}
