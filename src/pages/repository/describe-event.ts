import { z } from 'zod';
import type { Actor } from '../../events/actor.ts';
import type { ConditionInput } from '../../conditions/ast.ts';
import { type AuditEvent, eventKinds, type FreezeInEvent } from '../../events/append-event.ts';
import type { FreezeAttributes } from '../../freezes/freeze.ts';
import type { AuditEvent as EventRow } from '../../generated/prisma/client.ts';
import { inOneLine } from '../../conditions/sentence.ts';

type DescribedEvent = {
  /** Null if the row does not say who acted. */
  actor: Actor | null;
  /** Follows the actor's name: `deleted a freeze`. */
  did: string;
  details: Detail[];
  /** The freeze that the event is about, as it was at the time. */
  freeze?: Detail[];
};

/** `before` is the former text, if the event is a change. A time is in ISO 8601, without a zone if it is a wall-clock time. */
export type Detail = { name: string; before?: string; text: string; isTime?: boolean };

/** The event types that a repository's log can have, with names to choose from. */
export const eventTypeNames: Partial<Record<AuditEvent['type'], string>> = {
  'scheduled_freeze.create': 'Freeze created',
  'scheduled_freeze.update': 'Freeze changed',
  'scheduled_freeze.delete': 'Freeze deleted',
  'product.enabled': 'Product enabled',
  'product.disabled': 'Product disabled',
  'repository_settings.update': 'Settings changed',
  'freeze.bypassed': 'Merged past a freeze',
  'freeze.leaking': 'GitHub would merge past a freeze',
  'freeze.still_on': 'Freeze still ongoing',
  'freeze.not_enforced': 'Freeze not enforced',
  'exemption.requested': 'Exemption requested',
  'exemption.approved': 'Exemption approved',
  'exemption.denied': 'Exemption denied',
  'exemption.revoked': 'Exemption revoked',
  'exemption.expired': 'Exemption ended',
  'exemption.used': 'Exemption used',
  'freeze_status.overwritten': 'Status overwritten',
  'freeze_status.refused': 'Status refused',
  'freeze_status.contested': 'Status contested',
};

/** An event of the audit log in words. An unknown type, which a newer version wrote, shows its raw details. */
export function describeEvent(row: EventRow): DescribedEvent {
  const metadata = row.metadata as Record<string, unknown>;
  const event = { type: row.type, metadata } as unknown as AuditEvent;
  const actor = readActor(metadata[`${eventKinds[event.type]?.done ?? ''}_by`]);
  return { actor, ...tell(event, row.pullRequest === null ? '' : `#${row.pullRequest.toFixed()}`) };
}

const actorShape = z.object({
  type: z.enum(['user', 'application']),
  name: z.string(),
  run: z.string().optional(),
});
const readActor = (value: unknown): Actor | null => {
  const actor = actorShape.safeParse(value);
  return actor.success ? (actor.data as Actor) : null;
};

function tell(event: AuditEvent, pullRequest: string): Omit<DescribedEvent, 'actor'> {
  switch (event.type) {
    case 'scheduled_freeze.create':
      return { did: 'created a freeze', ...about(event.metadata.scheduled_freeze_attributes) };
    case 'scheduled_freeze.update': {
      const { scheduled_freeze_attributes_before: before, scheduled_freeze_attributes_after: after } =
        event.metadata;
      const reason = before.reason === after.reason ? [{ name: fieldNames.reason, text: after.reason }] : [];
      const details = [...reason, ...changes(before, after)];
      return { did: 'changed a freeze', details, freeze: attributes(after) };
    }
    case 'scheduled_freeze.delete': {
      const { reason, scheduled_freeze_attributes: freeze } = event.metadata;
      return { did: 'deleted a freeze', ...about(freeze, [{ name: 'Deletion reason', text: reason }]) };
    }
    case 'product.enabled':
      return { did: `enabled the product ${event.metadata.product}`, details: [] };
    case 'product.disabled':
      return { did: `disabled the product ${event.metadata.product}`, details: [] };
    case 'repository_settings.update': {
      const { settings_before: before, settings_after: after } = event.metadata;
      const changed = Object.keys(after).filter((name) => `${after[name]}` !== `${before[name]}`);
      return {
        did: 'changed the settings',
        details: changed.map((name) => ({ name, before: `${before[name]}`, text: `${after[name]}` })),
      };
    }
    case 'freeze.bypassed': {
      const { scheduled_freeze_attributes: freeze, shown_state, head_sha, merged_at } = event.metadata;
      return {
        did: `merged ${pullRequest} past a freeze`,
        ...about(freeze, [
          { name: 'Merged at', text: merged_at, isTime: true },
          { name: 'Head', text: head_sha.slice(0, 7) },
          { name: 'Holdfast status', text: shown_state ?? 'none' },
        ]),
      };
    }
    case 'freeze.leaking': {
      const { scheduled_freeze_attributes: freeze, head_sha, merge_state } = event.metadata;
      return {
        did: `found that GitHub would merge ${pullRequest} past a freeze`,
        ...about(freeze, [
          { name: 'Head', text: head_sha.slice(0, 7) },
          { name: 'Merge state', text: merge_state },
        ]),
      };
    }
    case 'freeze.still_on': {
      const { scheduled_freeze_attributes: freeze, on_since } = event.metadata;
      return {
        did: 'found that a freeze without an end is still ongoing',
        ...about(freeze, [{ name: 'Ongoing since', text: on_since, isTime: true }]),
      };
    }
    case 'freeze.not_enforced': {
      const { branches, context } = event.metadata;
      return {
        did: 'created a freeze that is not enforced',
        details: [
          { name: 'Missing check', text: context },
          { name: 'Branches', text: branches.join(', ') },
        ],
      };
    }
    case 'exemption.requested':
    case 'exemption.approved':
    case 'exemption.denied':
    case 'exemption.revoked':
    case 'exemption.expired':
    case 'exemption.used':
      return tellExemption(event, pullRequest);
    case 'freeze_status.overwritten': {
      const { sha, state, description, expected_state } = event.metadata;
      return {
        did: `overwrote the Holdfast status on ${sha.slice(0, 7)}`,
        details: [
          { name: 'State', before: expected_state, text: state },
          { name: 'Description', text: description },
        ],
      };
    }
    case 'freeze_status.refused': {
      const { sha, state, description, why } = event.metadata;
      return {
        did: `could not hold ${sha.slice(0, 7)}: GitHub refused its status`,
        details: [
          { name: 'State', text: state },
          { name: 'Description', text: description },
          { name: 'Reason', text: why },
        ],
      };
    }
    case 'freeze_status.contested': {
      const { sha, state, description, expected_state, times_written } = event.metadata;
      return {
        did: `keeps overwriting the Holdfast status on ${sha.slice(0, 7)}, so it is not held`,
        details: [
          { name: 'State', before: expected_state, text: state ?? 'unknown' },
          { name: 'Description', text: description ?? 'unknown' },
          { name: 'Written', text: `${times_written} times` },
        ],
      };
    }
    default:
      return { did: event.type, details: [{ name: 'Details', text: JSON.stringify(event.metadata) }] };
  }
}

const didWithExemption = {
  'exemption.requested': 'requested an exemption for',
  'exemption.approved': 'approved the exemption for',
  'exemption.denied': 'denied an exemption for',
  'exemption.revoked': 'revoked the exemption for',
  'exemption.expired': 'ended the exemption for',
  'exemption.used': 'merged, with an exemption,',
} as const;

function tellExemption(
  { type, metadata }: Extract<AuditEvent, { type: keyof typeof didWithExemption }>,
  pullRequest: string,
): Omit<DescribedEvent, 'actor'> {
  const { exemption_attributes: exemption, was_approved, reason, ended_by } = metadata;
  const isRequest = type === 'exemption.expired' && was_approved === false;
  return {
    did: `${isRequest ? 'ended the exemption request for' : didWithExemption[type]} ${pullRequest}`,
    details: [
      { name: fieldNames.reason, text: exemption.reason },
      ...(exemption.public_reason === null
        ? []
        : [{ name: fieldNames.public_reason, text: exemption.public_reason }]),
      { name: 'Freezes', text: exemption.freeze_ids?.join(', ') ?? 'all' },
      { name: 'Head', text: exemption.any_head ? 'any' : exemption.head_sha.slice(0, 7) },
      { name: 'End', text: exemption.expires_at, isTime: true },
      ...(reason === undefined ? [] : [{ name: 'Decision reason', text: reason }]),
      ...(ended_by === undefined ? [] : [{ name: 'Ended by', text: ended_by }]),
    ],
  };
}

type Field = keyof FreezeAttributes;
const fieldNames: Record<Field, string> = {
  reason: 'Reason',
  public_reason: 'Public reason',
  start: 'Start',
  end: 'End',
  timezone: 'Time zone',
  matching_conditions: 'Matching',
  exclude_conditions: 'Except',
  holds: 'Holds',
  environments: 'Environments',
};
const fields = Object.keys(fieldNames) as Field[];
const isTime = (field: Field): boolean => field === 'start' || field === 'end';

const about = (freeze: FreezeInEvent, details: Detail[] = []) => ({
  details: [{ name: fieldNames.reason, text: freeze.reason }, ...details],
  freeze: attributes(freeze),
});

const attributes = (freeze: FreezeInEvent): Detail[] =>
  fields
    .filter((field) => freeze[field] !== undefined)
    .filter((field) => field !== 'exclude_conditions' || (freeze[field] as unknown[]).length > 0)
    .map((field) => ({ name: fieldNames[field], text: textOf(freeze, field), isTime: isTime(field) }));

const changes = (before: FreezeInEvent, after: FreezeInEvent): Detail[] =>
  fields
    .map((field) => ({
      name: fieldNames[field],
      before: textOf(before, field),
      text: textOf(after, field),
      isTime: isTime(field),
    }))
    .filter((change) => change.before !== change.text);

function textOf(freeze: FreezeInEvent, field: Field): string {
  const value = freeze[field] as string | unknown[] | null | undefined;
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'string') return value;
  if (value.length === 0) return field === 'matching_conditions' ? 'all pull requests' : 'none';
  if (field === 'holds' || field === 'environments') return value.join(', ');
  return inOneLine(value as ConditionInput[]);
}
