import { toInstant } from '../time/local-time.ts';
import type { AuditEvent, FreezeInEvent } from './audit-event.ts';

/** What people are told. Each comes from an audit event. The names are a contract with the receivers of webhooks. */
export const noticeTypes = [
  'freeze.scheduled',
  'freeze.updated',
  'freeze.deleted',
  'freeze.restored',
  'freeze.starting_soon',
  'freeze.ending_soon',
  'freeze.started',
  'freeze.ended',
  'freeze.bypassed',
  'freeze.leaking',
  'freeze.not_enforced',
  'exemption.requested',
  'exemption.approved',
  'exemption.denied',
  'exemption.revoked',
  'exemption.expired',
  'exemption.used',
  'deployment_exemption.requested',
  'deployment_exemption.approved',
  'deployment_exemption.denied',
  'deployment_exemption.revoked',
  'deployment_exemption.expired',
  'deployment_exemption.used',
  'deployment.held',
  'deployment.released',
  'deployment.rejected',
  'deployment.bypassed',
  'ruleset.orphaned',
  'ruleset.repaired',
  'webhook.disabled',
] as const;
export type NoticeType = (typeof noticeTypes)[number];

/**
 * What people are told of an event; null for nothing.
 * @param at when it was recorded. A freeze that begins or ends by the change itself is told as that alone.
 */
export function noticeTypeOf({ type, metadata }: AuditEvent, at: Date): NoticeType | null {
  switch (type) {
    case 'scheduled_freeze.create':
      return hasBegun(metadata.scheduled_freeze_attributes, at) ? 'freeze.started' : 'freeze.scheduled';
    case 'scheduled_freeze.update': {
      const { scheduled_freeze_attributes_before: before, scheduled_freeze_attributes_after: after } =
        metadata;
      if (hasEnded(after, at)) return 'freeze.ended';
      return !hasBegun(before, at) && hasBegun(after, at) ? 'freeze.started' : 'freeze.updated';
    }
    case 'scheduled_freeze.delete':
      return 'freeze.deleted';
    case 'scheduled_freeze.restore':
      return 'freeze.restored';
    default:
      return noticeTypes.find((notice) => notice === type) ?? null;
  }
}

/** Texts that say when something begins or ends, by the names of the API. */
type Window = { start: string; end: string | null; timezone: string };

function hasBegun(freeze: FreezeInEvent, at: Date): boolean {
  const { start, timezone } = freeze as unknown as Window;
  return toInstant(start, timezone, 'start') <= at;
}

function hasEnded(freeze: FreezeInEvent, at: Date): boolean {
  const { end, timezone } = freeze as unknown as Window;
  return end !== null && toInstant(end, timezone, 'end') <= at;
}
