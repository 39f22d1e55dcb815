import { z } from 'zod';
import type { Actor } from '../../auth/actor.ts';
import { type AuditEvent, type FreezeAttributes, participles } from '../../events/append-event.ts';
import type { AuditEvent as EventRow } from '../../generated/prisma/client.ts';

export type DescribedEvent = {
  /** null where the row does not say. */
  actor: Actor | null;
  /** Goes on after the actor's name: `deleted a freeze`. */
  did: string;
  /** Of a change the text before it too. */
  details: { name: string; before?: string; text: string }[];
};

/** The types of event that a repository's log can have, for a list to choose from. */
export const eventTypeNames: Partial<Record<AuditEvent['type'], string>> = {
  'scheduled_freeze.create': 'Freeze created',
  'scheduled_freeze.update': 'Freeze changed',
  'scheduled_freeze.delete': 'Freeze deleted',
  'product.enabled': 'Product enabled',
  'product.disabled': 'Product disabled',
  'freeze.bypassed': 'Merged past a freeze',
  'freeze_status.overwritten': 'Status overwritten',
};

/** An event of the audit log in words. One of a type that is not known here (a newer version wrote it) stays as it is. */
export function describeEvent(row: EventRow): DescribedEvent {
  const metadata = row.metadata as Record<string, unknown>;
  const event = { type: row.type, metadata } as unknown as AuditEvent;
  const actor = readActor(metadata[`${participles[event.type] ?? ''}_by`]);
  return { actor, ...tell(event, row.pullRequest === null ? '' : `#${row.pullRequest.toFixed()}`) };
}

const actorShape = z.object({ type: z.enum(['user', 'application']), name: z.string() });
const readActor = (value: unknown): Actor | null => {
  const actor = actorShape.safeParse(value);
  return actor.success ? (actor.data as Actor) : null;
};

function tell(event: AuditEvent, pullRequest: string): Omit<DescribedEvent, 'actor'> {
  switch (event.type) {
    case 'scheduled_freeze.create':
      return { did: 'created a freeze', details: attributes(event.metadata.scheduled_freeze_attributes) };
    case 'scheduled_freeze.update': {
      const { scheduled_freeze_attributes_before: before, scheduled_freeze_attributes_after: after } =
        event.metadata;
      return { did: 'changed a freeze', details: changes(before, after) };
    }
    case 'scheduled_freeze.delete': {
      const { reason, scheduled_freeze_attributes: freeze } = event.metadata;
      return { did: 'deleted a freeze', details: [{ name: 'Because', text: reason }, ...attributes(freeze)] };
    }
    case 'product.enabled':
      return { did: `enabled the product ${event.metadata.product}`, details: [] };
    case 'product.disabled':
      return { did: `disabled the product ${event.metadata.product}`, details: [] };
    case 'freeze.bypassed': {
      const { scheduled_freeze_attributes: freeze, shown_state, head_sha, merged_at } = event.metadata;
      return {
        did: `merged ${pullRequest} past a freeze`,
        details: [
          { name: 'Merged at', text: merged_at },
          { name: 'Head', text: head_sha.slice(0, 7) },
          { name: 'Our status then', text: shown_state ?? 'none' },
          ...attributes(freeze),
        ],
      };
    }
    case 'freeze_status.overwritten': {
      const { sha, state, description, expected_state } = event.metadata;
      return {
        did: `overwrote our status on ${sha.slice(0, 7)}`,
        details: [
          { name: 'State', before: expected_state, text: state },
          { name: 'Text', text: description },
        ],
      };
    }
    default:
      return { did: event.type, details: [{ name: 'Details', text: JSON.stringify(event.metadata) }] };
  }
}

type Field = keyof FreezeAttributes;
const fieldNames: Record<Field, string> = {
  reason: 'Reason',
  start: 'Start',
  end: 'End',
  timezone: 'Time zone',
  matching_conditions: 'Matching',
  exclude_conditions: 'Except',
};
const fields = Object.keys(fieldNames) as Field[];

const attributes = (freeze: FreezeAttributes) =>
  fields
    .filter((field) => field !== 'exclude_conditions' || freeze[field].length > 0)
    .map((field) => ({ name: fieldNames[field], text: textOf(freeze, field) }));

const changes = (before: FreezeAttributes, after: FreezeAttributes) =>
  fields
    .map((field) => ({
      name: fieldNames[field],
      before: textOf(before, field),
      text: textOf(after, field),
    }))
    .filter((change) => change.before !== change.text);

function textOf(freeze: FreezeAttributes, field: Field): string {
  const value = freeze[field];
  if (value === null) return 'none';
  if (typeof value === 'string') return value;
  if (value.length === 0) return field === 'matching_conditions' ? 'every pull request' : 'none';
  return value.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join(', ');
}
