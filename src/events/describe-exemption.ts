import type { AuditEvent } from './audit-event.ts';
import { type Detail, nameOfField, reasonOf } from './describe-fields.ts';

const did = {
  requested: 'requested an exemption for',
  approved: 'approved the exemption for',
  denied: 'denied an exemption for',
  revoked: 'revoked the exemption for',
  expired: 'ended the exemption for',
} as const;

type OfExemption = Extract<AuditEvent, { type: `${'' | 'deployment_'}exemption.${string}` }>;

/** An event of an exemption, without the actor. @param pullRequest its number, as people write it. */
export function tellExemption(
  { type, metadata }: OfExemption,
  pullRequest: string,
): { did: string; details: Detail[] } {
  const { exemption_attributes: exemption, was_approved, reason, ended_by } = metadata;
  const [, state] = type.split('.') as [string, keyof typeof did | 'used'];
  const isOfDeployment = 'environment' in exemption;
  const what = isOfDeployment ? `a deployment to ${exemption.environment}` : pullRequest;
  const used = `${isOfDeployment ? 'let go' : 'merged'}, with an exemption,`;
  const isRequest = state === 'expired' && was_approved === false;
  return {
    did: `${isRequest ? 'ended the exemption request for' : state === 'used' ? used : did[state]} ${what}`,
    details: [
      ...reasonOf(exemption),
      ...(isOfDeployment
        ? [
            { name: 'Commit', text: exemption.sha?.slice(0, 7) ?? 'any' },
            ...(exemption.run_id === null ? [] : [{ name: 'Run', text: String(exemption.run_id) }]),
          ]
        : [
            { name: 'Freezes', text: exemption.freeze_ids?.join(', ') ?? 'all' },
            { name: 'Head', text: exemption.any_head ? 'any' : exemption.head_sha.slice(0, 7) },
          ]),
      { name: nameOfField('end'), text: exemption.expires_at, isTime: true },
      ...(reason === undefined ? [] : [{ name: 'Decision reason', text: reason }]),
      ...(ended_by === undefined ? [] : [{ name: 'Ended by', text: ended_by }]),
    ],
  };
}
