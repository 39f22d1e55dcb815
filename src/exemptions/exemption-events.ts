import type { Actor } from '../events/actor.ts';
import type { Tx } from '../database/database.ts';
import { appendEvent, type AuditEvent, type EventPlace } from '../events/append-event.ts';
import type { ExemptionRecord } from './exemption-store.ts';

type Event = Extract<AuditEvent, { type: `exemption.${string}` }>;

/** Writes the audit event about an exemption, in the transaction that changes it. */
export async function tellExemption(
  tx: Tx,
  place: EventPlace,
  exemption: ExemptionRecord,
  what: Pick<Event, 'type'> & { reason?: string | null; endedBy?: string },
  by: Actor | null,
  now: Date,
): Promise<void> {
  const { type, reason, endedBy } = what;
  const metadata = {
    exemption_id: exemption.id,
    exemption_attributes: attributesOf(exemption),
    ...(typeof reason === 'string' && { reason }),
    ...(endedBy !== undefined && { ended_by: endedBy, was_approved: exemption.approvedAt !== null }),
  };
  const pullRequest = { number: exemption.pullRequest, base: exemption.baseRef };
  await appendEvent(tx, { ...place, pullRequest }, { type, metadata } as Event, by, now);
}

const attributesOf = (exemption: ExemptionRecord) => ({
  head_sha: exemption.headSha,
  any_head: exemption.anyHead,
  freeze_ids: exemption.freezeIds,
  reason: exemption.reason,
  public_reason: exemption.publicReason,
  expires_at: exemption.expiresAt.toISOString(),
  requested_by: exemption.requestedBy,
});
