import type { Actor } from '../../events/actor.ts';
import type { Tx } from '../../database/database.ts';
import { conflict } from '../../errors.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import type { ExemptionRecord } from './exemption-store.ts';

// Limits, because every observation of a repository reads all exemptions that are not over.

/** How many open requests one person or key may have in a repository. */
const mostRequests = 20;
/** How many requests one person or key may make in an hour. They count even if they are over, because their rows stay. */
const mostAnHour = 60;
const hour = 3_600_000;
/** How many approved exemptions one pull request, or one environment's commit or run, may have at once. */
const mostApproved = 20;

/** @throws Refusal conflict. */
export async function assertRequestLimit(
  tx: Tx,
  repository: FoundRepository,
  actor: Actor,
  now: Date,
): Promise<void> {
  const since = new Date(now.getTime() - hour);
  const [row] = await tx.$queryRaw<{ open: number; made: number }[]>`
    SELECT count(*) FILTER (WHERE state = 'requested' AND ended_at IS NULL)::int AS open,
      count(*) FILTER (WHERE requested_at > ${since})::int AS made
    FROM exemptions WHERE repository_id = ${repository.id} AND (ended_at IS NULL OR ended_at > ${since})
      AND requested_by->>'type' = ${actor.type} AND requested_by->>'id' = ${String(actor.id)}`;
  const { open, made } = row!;
  const name = fullName(repository);
  if (made >= mostAnHour)
    throw conflict(
      `${actor.name} requested ${mostAnHour} exemptions in ${name} within an hour, the most there can be. Wait an hour, or ask an admin of the repository for the exemption.`,
    );
  if (open < mostRequests) return;
  throw conflict(
    `${actor.name} has ${mostRequests} open requests for exemptions in ${name}, the most there can be. Revoke one, or have one decided: GET /v1/repos/${name}/exemptions?state=requested and deployment_exemptions?state=requested list them.`,
  );
}

/** @throws Refusal conflict. */
export async function assertApprovalLimit(
  tx: Tx,
  repository: FoundRepository,
  { pullRequest, deployment, headSha }: ExemptionRecord,
  now: Date,
): Promise<void> {
  const { environment, sha, runId } = deployment ?? {};
  const isSame = deployment ? { environment, headSha, ...(sha === null && { runId }) } : {};
  const about = { repositoryId: repository.id, number: pullRequest, ...isSame };
  const isApplied = { state: 'approved', endedAt: null, expiresAt: { gt: now } } as const;
  if ((await tx.exemption.count({ where: { ...about, ...isApplied } })) < mostApproved) return;
  const name = fullName(repository);
  const [what, list] = deployment
    ? [`${name}, ${environment}`, 'deployment_exemptions?state=approved']
    : [`${name}#${pullRequest}`, `exemptions?state=approved&pull_request=${pullRequest}`];
  throw conflict(
    `${what} has ${mostApproved} approved exemptions that are not over, the most there can be. Revoke one: GET /v1/repos/${name}/${list} lists them.`,
  );
}
