import type { AuditEvent } from './audit-event.ts';
import type { Detail } from './describe-fields.ts';

const didWithDeployment = {
  'deployment.held': 'held a deployment',
  'deployment.released': 'released a deployment',
  'deployment.rejected': 'rejected a deployment',
  'deployment.bypassed': 'deployed past a freeze',
} as const;

/** An event of a deployment that a freeze holds, without the actor. */
export function tellDeployment({
  type,
  metadata,
}: Extract<AuditEvent, { type: keyof typeof didWithDeployment }>): { did: string; details: Detail[] } {
  const { environment, workflow, run_number, attempt, ref, sha, scheduled_freeze_ids, state } = metadata;
  const isExempt = metadata.deployment_exemption_id !== undefined;
  return {
    did: `${didWithDeployment[type]} to ${environment}`,
    details: [
      { name: 'Run', text: `${workflow} ${run_number}${attempt > 1 ? `, attempt ${attempt}` : ''}` },
      { name: 'Commit', text: `${sha.slice(0, 7)} of ${ref}` },
      { name: 'Freezes', text: scheduled_freeze_ids.join(', ') },
      ...(state === 'superseded' ? [{ name: 'Because', text: 'a newer run went out' }] : []),
      ...(isExempt ? [{ name: 'Because', text: 'it has an exemption' }] : []),
    ],
  };
}
