import type { AuditEvent } from './audit-event.ts';
import { type Detail, nameOfField, reasonOf } from './describe-fields.ts';

const didWithExemption = {
  'exemption.requested': 'requested an exemption for',
  'exemption.approved': 'approved the exemption for',
  'exemption.denied': 'denied an exemption for',
  'exemption.revoked': 'revoked the exemption for',
  'exemption.expired': 'ended the exemption for',
  'exemption.used': 'merged, with an exemption,',
} as const;

/** An event of an exemption, without the actor. @param pullRequest its number, as people write it. */
export function tellExemption(
  { type, metadata }: Extract<AuditEvent, { type: keyof typeof didWithExemption }>,
  pullRequest: string,
): { did: string; details: Detail[] } {
  const { exemption_attributes: exemption, was_approved, reason, ended_by } = metadata;
  const isRequest = type === 'exemption.expired' && was_approved === false;
  return {
    did: `${isRequest ? 'ended the exemption request for' : didWithExemption[type]} ${pullRequest}`,
    details: [
      ...reasonOf(exemption),
      { name: 'Freezes', text: exemption.freeze_ids?.join(', ') ?? 'all' },
      { name: 'Head', text: exemption.any_head ? 'any' : exemption.head_sha.slice(0, 7) },
      { name: nameOfField('end'), text: exemption.expires_at, isTime: true },
      ...(reason === undefined ? [] : [{ name: 'Decision reason', text: reason }]),
      ...(ended_by === undefined ? [] : [{ name: 'Ended by', text: ended_by }]),
    ],
  };
}
