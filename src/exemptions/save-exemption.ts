import type { Tx } from '../database/database.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent, type EventPlace } from '../events/append-event.ts';
import type { AuditEvent } from '../events/audit-event.ts';
import type { ExemptionRecord } from './exemption-store.ts';

/** Saves a new exemption. */
export async function insertExemption(tx: Tx, { pullRequest, ...exemption }: ExemptionRecord): Promise<void> {
  const { freezeIds, requestedBy, decidedBy, ...rest } = exemption;
  await tx.exemption.create({
    data: {
      ...rest,
      number: pullRequest,
      freezeIds: freezeIds ?? [],
      requestedBy,
      ...(decidedBy && { decidedBy }),
    },
  });
}

/** What a change sets. */
type Change = Partial<
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
  change: Change,
  by: Actor | null,
  now: Date,
): Promise<boolean> {
  const { id, state } = exemption;
  const { count } = await tx.exemption.updateMany({ where: { id, state, endedAt: null }, data: change });
  if (count === 0) return false;
  await appendExemptionEvent(tx, place, { ...exemption, ...change }, by, now);
  return true;
}

type Event = Extract<AuditEvent, { type: `exemption.${string}` }>;

/** Writes the audit event about the state of an exemption, in the transaction that changes it. */
export async function appendExemptionEvent(
  tx: Tx,
  place: EventPlace,
  exemption: ExemptionRecord,
  by: Actor | null,
  now: Date,
): Promise<void> {
  const { state, decisionReason, endedBy, approvedAt } = exemption;
  const isDecided = state === 'approved' || state === 'denied' || state === 'revoked';
  const metadata = {
    exemption_id: exemption.id,
    exemption_attributes: attributesOf(exemption),
    ...(isDecided && decisionReason !== null && { reason: decisionReason }),
    ...(state === 'expired' && { ended_by: endedBy, was_approved: approvedAt !== null }),
  };
  const pullRequest = { number: exemption.pullRequest, base: exemption.baseRef };
  const event = { type: `exemption.${state}`, metadata } as Event;
  await appendEvent(tx, { ...place, pullRequest }, event, by, now);
}

/** The fields of the API, but for its id and its page. */
const attributesOf = (exemption: ExemptionRecord) => ({
  pull_request: exemption.pullRequest,
  head_sha: exemption.headSha,
  any_head: exemption.anyHead,
  freeze_ids: exemption.freezeIds,
  reason: exemption.reason,
  public_reason: exemption.publicReason,
  state: exemption.state,
  requested_by: exemption.requestedBy,
  requested_at: exemption.requestedAt.toISOString(),
  decided_by: exemption.decidedBy,
  decided_at: exemption.decidedAt?.toISOString() ?? null,
  decision_reason: exemption.decisionReason,
  expires_at: exemption.expiresAt.toISOString(),
  used_at: exemption.usedAt?.toISOString() ?? null,
});
