import type { Tx } from '../database/database.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent, type EventPlace } from '../events/append-event.ts';
import type { AuditEvent } from '../events/audit-event.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { jobs } from '../database/queue/jobs.ts';
import { attributesOfAny, type ExemptionRecord } from './exemption-store.ts';
import { conflict } from '../errors.ts';
import { hour } from '../time/units.ts';

/** Saves a new exemption. */
export async function insertExemption(tx: Tx, { pullRequest, ...exemption }: ExemptionRecord): Promise<void> {
  const { deployment, freezeIds, requestedBy, decidedBy, ...rest } = exemption;
  await tx.exemption.create({
    data: {
      ...rest,
      number: pullRequest,
      ...(deployment && { environment: deployment.environment, runId: deployment.runId }),
      freezeIds: freezeIds ?? [],
      requestedBy,
      ...(decidedBy && { decidedBy }),
    },
  });
}

/** What a change sets. */
type ExemptionChange = Partial<
  Pick<
    ExemptionRecord,
    'state' | 'decidedAt' | 'decisionReason' | 'approvedAt' | 'endedAt' | 'endedBy' | 'usedAt'
  >
> & { decidedBy?: Actor };

/**
 * Changes an exemption, with the audit event about its new state.
 * @param by null for nobody.
 * @returns false if its state changed since it was read. Then nothing is changed.
 */
export async function changeExemption(
  tx: Tx,
  place: EventPlace,
  exemption: ExemptionRecord,
  change: ExemptionChange,
  by: Actor | null,
  now: Date,
): Promise<boolean> {
  const { id, state } = exemption;
  const { count } = await tx.exemption.updateMany({ where: { id, state, endedAt: null }, data: change });
  if (count === 0) return false;
  await appendExemptionEvent(tx, place, { ...exemption, ...change }, by, now);
  return true;
}

/** The job that gives an exemption its effect, or ends that. */
export const wakeFor = (repository: FoundRepository, { pullRequest: number, deployment }: ExemptionRecord) =>
  deployment
    ? jobs.reviewDeployments(repository.id)
    : jobs.reconcilePullRequest(repository.id, {
        number,
        installationId: String(repository.installation.id),
      });

/** What an exemption is about, in the log of the service. */
export const inLog = (repository: FoundRepository, { pullRequest, deployment }: ExemptionRecord) => ({
  repository: fullName(repository),
  ...(deployment ? { environment: deployment.environment } : { pullRequest }),
});

type Event = Extract<AuditEvent, { type: `${'' | 'deployment_'}exemption.${string}` }>;

/** Writes the audit event about the state of an exemption, in the transaction that changes it. */
export async function appendExemptionEvent(
  tx: Tx,
  place: EventPlace,
  exemption: ExemptionRecord,
  by: Actor | null,
  now: Date,
): Promise<void> {
  const { state, decisionReason, endedBy, approvedAt, deployment } = exemption;
  const isDecided = state === 'approved' || state === 'denied' || state === 'revoked';
  const metadata = {
    exemption_id: exemption.id,
    exemption_attributes: attributesOf(exemption),
    ...(isDecided && decisionReason !== null && { reason: decisionReason }),
    ...(state === 'expired' && { ended_by: endedBy, was_approved: approvedAt !== null }),
  };
  const pullRequest = { number: exemption.pullRequest, base: exemption.baseRef };
  const event = { type: `${deployment ? 'deployment_' : ''}exemption.${state}`, metadata } as Event;
  await appendEvent(tx, { ...place, ...(!deployment && { pullRequest }) }, event, by, now);
}

/** The fields of the API, but for its id and its page. */
const attributesOf = (exemption: ExemptionRecord) => ({
  ...savedSubjectOf(exemption),
  ...attributesOfAny(exemption),
});

const savedSubjectOf = ({ pullRequest, headSha, anyHead, freezeIds, deployment }: ExemptionRecord) =>
  deployment
    ? {
        environment: deployment.environment,
        sha: deployment.sha,
        run_id: deployment.runId === null ? null : Number(deployment.runId),
      }
    : { pull_request: pullRequest, head_sha: headSha, any_head: anyHead, freeze_ids: freezeIds };

// Limits, because every observation of a repository reads all exemptions that are not over.

/** How many open requests one person or key may have in a repository. */
const mostRequests = 20;
/** How many requests one person or key may make in an hour. They count even if they are over, because their rows stay. */
const mostAnHour = 60;
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
